pub(super) fn words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in text.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => word.get_or_insert_default().push(letter),
            None if letter == '\'' || letter == '"' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_the_words_that_a_shell_would_see() {
        let list = |text| words(text).map(|words| words.join("|"));
        assert_eq!(list("python3 'my worker.py' -x \"\""), Some("python3|my worker.py|-x|".into()));
        assert_eq!(list("  a   b "), Some("a|b".into()));
        assert_eq!(list("a 'b"), None);
    }
}
