use crate::error::{Outcome, SqlError};

pub(crate) fn utf8(bytes: &[u8]) -> Outcome<&str> {
    let wrong = |at: usize| {
        let length = match bytes[at] {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            _ => 1,
        };
        let shown: Vec<String> =
            bytes[at..].iter().take(length).map(|byte| format!("0x{byte:02x}")).collect();
        let message = format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" "));
        SqlError::new("22021", message)
    };
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        return Err(wrong(at));
    }
    std::str::from_utf8(bytes).map_err(|error| wrong(error.valid_up_to()))
}
