//! Quotes strings as JSON. Like Go, also escapes `<`, `>` and `&`.

pub(crate) fn quote(text: &str) -> String {
    let plain = serde_json::to_string(text).unwrap_or_default();
    let plain = plain.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    plain.replace("\\b", "\\u0008").replace("\\f", "\\u000c")
}
