/// Returns `None` if the quoting is invalid (`sdssplitargs` in sds.c).
pub(crate) fn split_words(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
    let mut words = Vec::new();
    let mut rest = line;
    loop {
        let blanks = rest.iter().take_while(|byte| is_space(**byte)).count();
        rest = &rest[blanks..];
        if rest.is_empty() {
            return Some(words);
        }
        let (word, after) = read_word(rest)?;
        words.push(word);
        rest = after;
    }
}

/// C's `isspace` also accepts the vertical tab.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

fn read_word(mut rest: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut word = Vec::new();
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b'"' => return quoted(word, after, b'"'),
            b'\'' => return quoted(word, after, b'\''),
            byte if is_space(byte) => break,
            byte => word.push(byte),
        }
        rest = after;
    }
    Some((word, rest))
}

fn quoted(mut word: Vec<u8>, mut rest: &[u8], quote: u8) -> Option<(Vec<u8>, &[u8])> {
    loop {
        let (&byte, after) = rest.split_first()?;
        if byte == quote {
            let closed = after.first().is_none_or(|next| is_space(*next));
            return closed.then_some((word, after));
        }
        let (byte, after) = match (quote, byte, after) {
            (b'"', b'\\', [b'x', high, low, after @ ..])
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                (hex_digit(*high) * 16 + hex_digit(*low), after)
            }
            (b'"', b'\\', [escaped, after @ ..]) => (unescaped(*escaped), after),
            (b'\'', b'\\', [b'\'', after @ ..]) => (b'\'', after),
            (_, byte, after) => (byte, after),
        };
        word.push(byte);
        rest = after;
    }
}

fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        digit => (digit | 0x20) - b'a' + 10,
    }
}

fn unescaped(letter: u8) -> u8 {
    match letter {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'a' => 7,
        letter => letter,
    }
}
