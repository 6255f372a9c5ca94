pub(crate) fn packet(number: u8, body: &[u8]) -> Vec<u8> {
    let length = body.len() as u32;
    [&length.to_le_bytes()[..3], &[number], body].concat()
}

pub(crate) fn query(sql: &str) -> Vec<u8> {
    packet(0, &[b"\x03", sql.as_bytes()].concat())
}

pub(crate) const CONNECT_WITH_DB: u32 = 1 << 3;
pub(crate) const PROTOCOL_41: u32 = 1 << 9;
pub(crate) const SECURE_CONNECTION: u32 = 1 << 15;
pub(crate) const PLUGIN_AUTH: u32 = 1 << 19;
pub(crate) const PLAIN: u32 = 1 | PROTOCOL_41 | 1 << 13 | SECURE_CONNECTION | PLUGIN_AUTH;

pub(crate) fn login(capabilities: u32, charset: u8, rest: &[u8]) -> Vec<u8> {
    let mut body = capabilities.to_le_bytes().to_vec();
    body.extend([0, 0, 0, 1, charset]);
    body.extend([0; 23]);
    body.extend(rest);
    packet(1, &body)
}

pub(crate) fn root() -> Vec<u8> {
    login(PLAIN, 45, b"root\0\0mysql_native_password\0")
}

pub(crate) fn split(bytes: &[u8]) -> Vec<(u8, &[u8])> {
    let (mut rest, mut packets) = (bytes, Vec::new());
    while let [a, b, c, number, after @ ..] = rest {
        let length = usize::from(*a) | usize::from(*b) << 8 | usize::from(*c) << 16;
        let Some(body) = after.get(..length) else { break };
        packets.push((*number, body));
        rest = &after[length..];
    }
    packets
}

pub(crate) fn is_whole(bytes: &[u8]) -> bool {
    let mut ends = 0;
    let mut is_whole = false;
    let has_more = |status: &[u8]| status.first().is_some_and(|low| low & 8 != 0);
    for (_, body) in split(bytes) {
        is_whole = match (body.first(), ends) {
            (Some(0xff), _) => {
                ends = 0;
                true
            }
            (Some(0), 0) => !has_more(&body[3..]),
            (Some(0xfe), 0) if body.len() == 5 => !has_more(&body[3..]),
            (_, 0) => {
                ends = 2;
                false
            }
            (Some(0xfe), _) if body.len() == 5 => {
                ends -= 1;
                ends == 0 && !has_more(&body[3..])
            }
            _ => false,
        };
    }
    is_whole
}

pub(crate) fn shown(bytes: &[u8]) -> String {
    let ask = b"\xfemysql_native_password\0";
    let mut shown = bytes.to_vec();
    if let Some(at) = shown.windows(ask.len()).position(|window| window == ask) {
        let start = at + ask.len();
        let end = shown.len().min(start + 20);
        shown[start..end].fill(b'*');
    }
    shown.escape_ascii().to_string()
}

pub(crate) fn is_refused(bytes: &[u8]) -> bool {
    split(bytes).iter().any(|(_, body)| body.starts_with(b"\xff\xd3\x04#42000"))
}

pub(crate) fn is_misread(bytes: &[u8]) -> bool {
    split(bytes).first().is_some_and(|(_, body)| body.starts_with(b"\xff\x28\x04#42000"))
}
