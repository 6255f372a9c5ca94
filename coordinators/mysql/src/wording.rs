use fencepost_machine::wording::Speaker;

pub fn wording(speaker: Speaker, bytes: &[u8]) -> String {
    let mut words = Vec::new();
    let mut rest = bytes;
    let mut columns: Option<usize> = None;
    let mut is_row = false;
    while let Some(header) = rest.get(..4) {
        let length =
            usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16;
        let number = header[3];
        let Some(body) = rest.get(4..4 + length) else { break };
        rest = &rest[4 + length..];
        if speaker == Speaker::Client {
            words.extend(describe_request(number, body));
            continue;
        }
        match (body.first(), columns) {
            (Some(0xff), _) => {
                words.push(error(body));
                (columns, is_row) = (None, false);
            }
            (Some(0xfe), Some(_)) if body.len() == 5 => {
                (columns, is_row) = if is_row { (None, false) } else { (columns, true) };
            }
            (_, Some(count)) if is_row => words.push(row(body, count)),
            (_, Some(_)) => {}
            (Some(0), None) => words.push("OK".to_owned()),
            (Some(10), None) if number == 0 => words.push("greeting".to_owned()),
            (Some(count), None) => columns = Some(usize::from(*count)),
            (None, None) => {}
        }
    }
    words.join(" | ")
}

fn describe_request(number: u8, body: &[u8]) -> Option<String> {
    if number > 0 {
        return Some("login".to_owned());
    }
    let (command, rest) = body.split_first()?;
    Some(match command {
        1 => "quit".to_owned(),
        2 => format!("USE {}", String::from_utf8_lossy(rest)),
        3 => String::from_utf8_lossy(rest).into_owned(),
        14 => "ping".to_owned(),
        other => format!("command {other}"),
    })
}

fn error(body: &[u8]) -> String {
    let code =
        u16::from_le_bytes([body.get(1).copied().unwrap_or(0), body.get(2).copied().unwrap_or(0)]);
    let message = body.get(3..).unwrap_or(&[]);
    let message =
        if message.first() == Some(&b'#') { &message[6.min(message.len())..] } else { message };
    format!("ERROR {code}: {}", String::from_utf8_lossy(message))
}

fn row(body: &[u8], count: usize) -> String {
    let mut values = Vec::new();
    let mut rest = body;
    while values.len() < count {
        let Some((first, after)) = rest.split_first() else { break };
        if *first == 0xfb {
            values.push("NULL".to_owned());
            rest = after;
            continue;
        }
        let (length, after) = match (*first, after) {
            (0xfc, [low, high, after @ ..]) => (usize::from(*low) | usize::from(*high) << 8, after),
            (0..=250, after) => (usize::from(*first), after),
            _ => break,
        };
        let Some(value) = after.get(..length) else { break };
        values.push(String::from_utf8_lossy(value).into_owned());
        rest = &after[length..];
    }
    format!("({})", values.join(", "))
}
