pub(crate) fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '|' | '*' | '`' | '_' | '[' | ']' | '#' | '\\' => cell.extend(['\\', letter]),
            '<' => cell.push_str("&lt;"),
            '&' => cell.push_str("&amp;"),
            '\n' | '\r' => cell.push(' '),
            other => cell.push(other),
        }
    }
    cell
}
