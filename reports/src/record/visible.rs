//! Escapes control characters and invisible characters in untrusted text.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;

/// Escapes hidden characters, for example as `\n` or `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_hidden(letter) {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

/// Escapes the text like [`visible`], without its trailing white space. If the result has more than
/// `characters_max` characters, a note replaces the middle.
pub fn one_line(text: &str, characters_max: usize) -> String {
    let text = visible(text.trim_end());
    let count = text.chars().count();
    if count <= characters_max {
        return text.into_owned();
    }
    // Keep the end of the message, which often names the valid values.
    let tail = characters_max / 4;
    let head: String = text.chars().take(characters_max - tail).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{head} [{} characters left out] {end}", count - characters_max)
}

pub fn visible_in<T: Clone + Serialize + DeserializeOwned>(
    document: &T,
) -> serde_json::Result<Cow<'_, T>> {
    let value = serde_json::to_value(document)?;
    if !is_hiding(&value) {
        return Ok(Cow::Borrowed(document));
    }
    serde_json::from_value(shown(value)).map(Cow::Owned)
}

/// Escapes hidden characters that `serde_json` leaves unescaped, such as direction marks.
pub fn visible_json(text: &str) -> Cow<'_, str> {
    let is_left_out = |letter: char| letter > '~' && is_hidden(letter);
    if !text.contains(is_left_out) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_left_out(letter) {
            let mut units = [0; 2];
            let units = letter.encode_utf16(&mut units).iter();
            shown.extend(units.map(|unit| format!("\\u{unit:04x}")));
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

fn is_hiding(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(is_hidden),
        Value::Array(items) => items.iter().any(is_hiding),
        Value::Object(members) => {
            members.iter().any(|(key, member)| key.contains(is_hidden) || is_hiding(member))
        }
        _ => false,
    }
}

fn shown(value: Value) -> Value {
    match value {
        Value::String(text) => visible(&text).into(),
        Value::Array(items) => items.into_iter().map(shown).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(key, member)| (visible(&key).into_owned(), shown(member)))
            .collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_a_cursor_or_turns_text_is_written_out() {
        assert_eq!(visible("a\x1b[2Jb\r\nc\u{202e}d"), "a\\u{1b}[2Jb\\r\\nc\\u{202e}d");
        assert_eq!(visible("redlock × pause \\n ★"), "redlock × pause \\n ★");
    }

    #[test]
    fn a_line_is_bounded_and_says_what_it_leaves_out() {
        assert_eq!(one_line(" one\ntwo\n", 20), " one\\ntwo");
        let long = one_line(&format!("begin{}end", "x".repeat(70_000)), 100);
        assert!(long.starts_with("begin") && long.ends_with("end"), "{long}");
        assert!(long.contains("[69908 characters left out]") && long.len() < 140, "{long}");
    }

    #[test]
    fn json_that_was_made_visible_is_the_same_value() {
        let value = serde_json::json!({ "a\u{202e}": "é\u{7f}\u{e0041}\u{feff}\n" });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let shown = visible_json(&text);
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
        assert!(shown.contains("é\\u007f\\udb40\\udc41\\ufeff\\n"), "{shown}");
    }

    #[test]
    fn keys_and_values_of_a_document_are_made_visible() {
        let document = serde_json::json!({ "a\n": ["\x1b", 1], "b": "c" });
        let shown = visible_in(&document).unwrap().into_owned();
        assert_eq!(shown, serde_json::json!({ "a\\n": ["\\u{1b}", 1], "b": "c" }));
    }
}
