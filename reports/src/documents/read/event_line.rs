/// Returns the line, counted from 1, on which the event at `position`, counted from 0, begins.
pub fn line_of_event(text: &str, position: usize) -> Option<usize> {
    let (mut line, mut depth, mut begins) = (1_usize, 0_u32, 0_usize);
    let (mut in_string, mut escaped, mut in_events, mut passed) = (false, false, false, 0_usize);
    let mut last_string = "";
    for (offset, byte) in text.bytes().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => (in_string, last_string) = (false, &text[begins..offset]),
                _ => {}
            }
            continue;
        }
        match byte {
            b'\n' => line += 1,
            b'"' => (in_string, begins) = (true, offset + 1),
            b'{' | b'[' => {
                in_events |= byte == b'[' && depth == 1 && last_string == "events";
                if in_events && byte == b'{' && depth == 2 {
                    if passed == position {
                        return Some(line);
                    }
                    passed += 1;
                }
                depth += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if in_events && depth == 1 {
                    return None;
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{\n \"header\": {\"events\": \"[{\\\"\"},\n \"events\": [\n  {\"a\": \
     [{}]},\n  {\n   \"b\": \"}]\"},\n  {}\n ]\n}";

    #[test]
    fn lines_are_counted_over_strings_and_nested_values() {
        assert_eq!(
            [0, 1, 2, 3].map(|position| line_of_event(TEXT, position)),
            [Some(4), Some(5), Some(7), None]
        );
    }
}
