//! Base64 as Go reads it: line ends are skipped, padding is needed, and an error says where.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

fn digit(byte: u8) -> Option<u32> {
    Some(u32::from(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

fn illegal(at: usize) -> String {
    format!("illegal base64 data at input byte {at}")
}

/// The bytes, or what is wrong in Go's words.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, String> {
    let input = text.as_bytes();
    let skip_lines = |mut at: usize| {
        while matches!(input.get(at), Some(b'\r' | b'\n')) {
            at += 1;
        }
        at
    };
    let (mut bytes, mut at) = (Vec::with_capacity(input.len() / 4 * 3), 0);
    loop {
        let (mut group, mut count) = (0_u32, 0);
        while count < 4 {
            at = skip_lines(at);
            let Some(byte) = input.get(at).copied() else {
                return if count == 0 { Ok(bytes) } else { Err(illegal(at - count)) };
            };
            at += 1;
            if let Some(digit) = digit(byte) {
                group = group << 6 | digit;
                count += 1;
                continue;
            }
            if byte != b'=' || count < 2 {
                return Err(illegal(at - 1));
            }
            if count == 2 {
                at = skip_lines(at);
                match input.get(at) {
                    None => return Err(illegal(input.len())),
                    Some(b'=') => at += 1,
                    Some(_) => return Err(illegal(at - 1)),
                }
            }
            at = skip_lines(at);
            if at < input.len() {
                return Err(illegal(at));
            }
            let padded = group << (6 * (4 - count));
            bytes.extend_from_slice(&padded.to_be_bytes()[1..count]);
            return Ok(bytes);
        }
        bytes.extend_from_slice(&group.to_be_bytes()[1..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded_and_errors_say_where() {
        for bytes in [&b""[..], b"a", b"ab", b"abc", b"abcd"] {
            assert_eq!(decode(&encode(bytes)), Ok(bytes.to_vec()));
        }
        assert_eq!(decode("YW\r\nI=\n"), Ok(b"ab".to_vec()));
        let wrong =
            [("%%%", 0), ("YQ", 0), ("YQ=", 3), ("YQ==Y", 4), ("YWJjY", 4), ("YQ\u{80}", 2)];
        for (text, at) in wrong {
            assert_eq!(decode(text), Err(illegal(at)), "{text}");
        }
    }
}
