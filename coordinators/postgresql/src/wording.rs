use fencepost_machine::wording::Speaker;

pub fn wording(speaker: Speaker, bytes: &[u8]) -> String {
    let mut words = Vec::new();
    let mut rest = bytes;
    if speaker == Speaker::Client && bytes.first() == Some(&0) {
        return "startup".to_owned();
    }
    while let Some((kind, after)) = rest.split_first() {
        let Some(length) = after.first_chunk::<4>() else { break };
        let length = u32::from_be_bytes(*length) as usize;
        let Some(body) = after.get(4..length.max(4)) else { break };
        rest = &after[length.max(4)..];
        words.extend(message(speaker, *kind, body));
    }
    words.join(" | ")
}

fn message(speaker: Speaker, kind: u8, body: &[u8]) -> Option<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned();
    match (speaker, kind) {
        (Speaker::Client, b'Q') => Some(text(body)),
        (Speaker::Client, b'P') => body.split(|byte| *byte == 0).nth(1).map(text),
        (Speaker::Client, b'X') => Some("terminate".to_owned()),
        (Speaker::Server, b'C') => Some(text(body)),
        (Speaker::Server, b'D') => Some(row(body)),
        (Speaker::Server, b'E' | b'N') => {
            let fields = body.split(|byte| *byte == 0);
            let of = |kind: u8| {
                let mut found = fields.clone().filter(|field| field.first() == Some(&kind));
                found.next().map(|field| text(&field[1..])).unwrap_or_default()
            };
            Some(format!("{} {}: {}", of(b'S'), of(b'C'), of(b'M')))
        }
        (Speaker::Server, b'R') => Some("welcome".to_owned()),
        _ => None,
    }
}

fn row(body: &[u8]) -> String {
    let mut values = Vec::new();
    let mut rest = body.get(2..).unwrap_or(&[]);
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = i32::from_be_bytes(*length);
        let Ok(length) = usize::try_from(length) else {
            values.push("NULL".to_owned());
            rest = after;
            continue;
        };
        let Some(value) = after.get(..length) else { break };
        values.push(String::from_utf8_lossy(value).into_owned());
        rest = &after[length..];
    }
    format!("({})", values.join(", "))
}
