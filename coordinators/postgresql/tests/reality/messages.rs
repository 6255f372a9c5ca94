pub(crate) fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() + 4) as u32;
    [&[kind][..], &length.to_be_bytes(), body].concat()
}

pub(crate) fn query(sql: &str) -> Vec<u8> {
    message(b'Q', &[sql.as_bytes(), b"\0"].concat())
}

pub(crate) fn startup() -> Vec<u8> {
    let body = b"\0\x03\0\0user\0postgres\0database\0postgres\0\0";
    [&((body.len() + 4) as u32).to_be_bytes()[..], body].concat()
}

pub(crate) fn split(bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let (mut rest, mut messages) = (bytes, Vec::new());
    while rest.len() >= 5 {
        let length = u32::from_be_bytes([rest[1], rest[2], rest[3], rest[4]]) as usize;
        if rest.len() < length + 1 {
            break;
        }
        messages.push((rest[0], rest[5..=length].to_vec()));
        rest = &rest[length + 1..];
    }
    messages
}

pub(crate) fn is_whole(bytes: &[u8]) -> bool {
    split(bytes).last().is_some_and(|(kind, _)| *kind == b'Z')
}

pub(crate) fn shown(bytes: &[u8]) -> String {
    let messages = split(bytes);
    let length: usize = messages.iter().map(|(_, body)| body.len() + 5).sum();
    let rest = String::from_utf8_lossy(&bytes[length..]).into_owned();
    let whole = messages.iter().map(|(kind, body)| one(*kind, body));
    whole.chain([rest]).collect::<Vec<_>>().join("\n")
}

fn one(kind: u8, body: &[u8]) -> String {
    let text = match kind {
        b'E' | b'N' => error(body),
        b'T' => columns(body),
        b'K' => String::new(),
        b'S' => parameter(body),
        _ => String::from_utf8_lossy(body).into_owned(),
    };
    format!("{} {text:?}", kind as char)
}

fn parameter(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body).into_owned();
    match text.strip_prefix("server_version\0").and_then(|version| version.split_once('.')) {
        Some((major, _)) => format!("server_version\0{major}"),
        None => text,
    }
}

fn error(body: &[u8]) -> String {
    let fields: Vec<String> = body
        .split(|byte| *byte == 0)
        .map(|field| String::from_utf8_lossy(field).into_owned())
        .filter(|field| !field.is_empty() && !field.starts_with(['F', 'L', 'R', 'W']))
        .collect();
    let is_deadlock = fields.iter().any(|field| field == "C40P01");
    let kept = fields.into_iter().filter(|field| !is_deadlock || !field.starts_with('D'));
    without_pivot(&kept.collect::<Vec<_>>().join(" "))
}

fn without_pivot(text: &str) -> String {
    match text.split_once("out to pivot ") {
        Some((before, after)) => {
            format!(
                "{before}out to pivot{}",
                after.trim_start_matches(|c: char| c.is_ascii_digit())
            )
        }
        None => text.to_owned(),
    }
}

fn columns(body: &[u8]) -> String {
    let mut shown = Vec::new();
    let mut rest = &body[2..];
    while let Some(end) = rest.iter().position(|byte| *byte == 0) {
        let name = String::from_utf8_lossy(&rest[..end]).into_owned();
        let fixed = &rest[end + 1..end + 19];
        let has_table = fixed[..4] != [0; 4];
        shown.push(format!("{name} {has_table} {:?}", &fixed[4..]));
        rest = &rest[end + 19..];
    }
    shown.join(", ")
}
