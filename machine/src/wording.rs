//! Formats messages as text for diagrams of runs ([`Wording`]).

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Speaker {
    Client,
    Server,
}

pub type Wording = fn(Speaker, &[u8]) -> String;

/// Formats a message of a line protocol. Separates lines with ` | `.
pub fn lines(_: Speaker, bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" | ")
}

/// Formats a message like [`lines`], without the JSON at the ends of its lines.
pub fn lines_without_json(speaker: Speaker, bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let short = text.lines().map(|line| line.split_once(" {").map_or(line, |(head, _)| head));
    lines(speaker, short.collect::<Vec<_>>().join("\n").as_bytes())
}

/// Formats RESP messages, such as `SET lock a41f NX PX 10000`. Separates messages with ` | `.
pub fn resp(_: Speaker, bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split("\r\n").filter(|line| !line.is_empty());
    let mut words: Vec<String> = Vec::new();
    let mut left = 0_u64;
    while let Some(line) = lines.next() {
        let (head, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
        let number: i64 = rest.parse().unwrap_or(-1);
        let word = match head {
            "*" | "%" | "~" | ">" => {
                left = u64::try_from(number).unwrap_or(0) * if head == "%" { 2 } else { 1 };
                if words.is_empty() || left == 0 { continue } else { "|".to_owned() }
            }
            "$" | "=" if number < 0 => "(nil)".to_owned(),
            "$" | "=" => lines.next().unwrap_or_default().to_owned(),
            "_" => "(nil)".to_owned(),
            "+" | "-" | ":" | "," | "#" | "(" => rest.to_owned(),
            _ => line.to_owned(),
        };
        words.push(if left == 0 && !words.is_empty() { format!("| {word}") } else { word.clone() });
        left = if word == "|" { left } else { left.saturating_sub(1) };
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bytes: &[u8]) -> String {
        resp(Speaker::Client, bytes)
    }

    #[test]
    fn commands_and_replies_are_read_as_people_write_them() {
        assert_eq!(words(b"*3\r\n$3\r\nSET\r\n$4\r\nlock\r\n$1\r\na\r\n"), "SET lock a");
        assert_eq!(words(b"+OK\r\n"), "OK");
        assert_eq!(words(b":1\r\n"), "1");
        assert_eq!(words(b"$-1\r\n"), "(nil)");
        assert_eq!(words(b"-STALE token 3\r\n"), "STALE token 3");
    }

    #[test]
    fn several_commands_in_one_message_are_parted() {
        assert_eq!(words(b"*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nINFO\r\n"), "PING | INFO");
        assert_eq!(words(b"+OK\r\n:2\r\n"), "OK | 2");
    }

    #[test]
    fn lines_are_separated() {
        let said = lines(Speaker::Client, b"add lock 0 10 1\r\na\r\n");
        assert_eq!(said, "add lock 0 10 1 | a");
    }
}
