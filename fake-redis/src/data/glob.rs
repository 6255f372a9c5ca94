/// Maximum recursion depth in Redis since 6.2.16 and 7.2.6 (`stringmatchlen_impl` in util.c).
const STARS_MAX: usize = 1_000;

/// Matches `*`, `?`, `[a-z]`, `[^a]`, and `\` before any byte (`stringmatchlen` in util.c).
/// Backtracks only to the last `*`, so the time grows at most with the product of both lengths.
pub(crate) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut position) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    let mut stars = 0;
    loop {
        if pattern.get(at) == Some(&b'*') {
            let is_new = at == 0 || pattern[at - 1] != b'*';
            stars += usize::from(is_new && at + 1 < pattern.len());
            if stars > STARS_MAX {
                return false;
            }
            retry = Some((at + 1, position));
            at += 1;
            continue;
        }
        if at == pattern.len() && position == text.len() {
            return true;
        }
        let step = text.get(position).and_then(|byte| match_one(&pattern[at..], *byte));
        match (step, retry) {
            (Some(length), _) => {
                at += length;
                position += 1;
            }
            (None, Some((after_star, from))) if from < text.len() => {
                retry = Some((after_star, from + 1));
                at = after_star;
                position = from + 1;
            }
            _ => return false,
        }
    }
}

fn match_one(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [] => None,
        [b'?', ..] => Some(1),
        [b'[', class @ ..] => match_class(class, byte).map(|length| length + 1),
        [b'\\', literal, ..] => (*literal == byte).then_some(2),
        [literal, ..] => (*literal == byte).then_some(1),
    }
}

fn match_class(class: &[u8], byte: u8) -> Option<usize> {
    let negated = class.first() == Some(&b'^');
    let mut at = usize::from(negated);
    let mut found = false;
    loop {
        match class[at..] {
            [] => break,
            [b']', ..] => {
                at += 1;
                break;
            }
            [b'\\', literal, ..] => {
                found |= literal == byte;
                at += 2;
            }
            [low, b'-', high, ..] => {
                found |= (low.min(high)..=low.max(high)).contains(&byte);
                at += 3;
            }
            [literal, ..] => {
                found |= literal == byte;
                at += 1;
            }
        }
    }
    (found != negated).then_some(at)
}
