use luna_core::frontend::parse;
use luna_core::version::LuaVersion;
use sha1::{Digest, Sha1};

pub(super) const CHUNK: &str = "?lua";

#[derive(PartialEq, Eq, Debug)]
pub(super) struct Source {
    pub(super) file: String,
    pub(super) text: String,
    pub(super) digest: [u8; 20],
}

pub(super) const OUT_OF_INSTRUCTIONS: &str = "instruction budget exceeded";
pub(super) const OUT_OF_WAITS: &str = "too many short waits";

const WORDINGS: &[(&str, &str)] = &[
    (
        OUT_OF_INSTRUCTIONS,
        "200,000 instructions without a wait: expected a loop or a recursion that ends or sleeps",
    ),
    (
        OUT_OF_WAITS,
        "100,000 waits of less than 1 ms in a row: expected a loop that ends or sleeps for longer, \
         like sleep(10)",
    ),
    ("memory cap exceeded", "the script uses more than 16 MB: expected at most 16 MB"),
];

impl Source {
    pub(super) fn new(file: &str, text: &str) -> Source {
        let text = without_first_line(text.strip_prefix('\u{feff}').unwrap_or(text));
        let digest = Sha1::digest(text.as_bytes()).into();
        Source { file: file.to_owned(), text: text.to_owned(), digest }
    }

    pub(super) fn describe(&self, raw: &str) -> String {
        let (line, message) = parted(raw);
        let message = message.replace(&format!("{CHUNK}:"), &format!("{}:", self.file));
        let wording = WORDINGS.iter().find(|(lua, _)| message.contains(lua));
        let wording = wording.map_or(message.as_str(), |(_, wording)| wording);
        let wording = wording.lines().next().unwrap_or_default();
        match line {
            Some(line) => {
                format!("{}:{line}:{}: {wording}", self.file, self.column(line, &message))
            }
            None => format!("{}: {wording}", self.file),
        }
    }

    pub(super) fn describe_line(&self, line: u32, problem: &str) -> String {
        match line {
            0 => self.describe(problem),
            line => self.describe(&format!("{CHUNK}:{line}: {problem}")),
        }
    }

    pub(super) fn describe_at(&self, line: u32, start: usize, message: &str) -> String {
        let line_start = self.text[..start].rfind('\n').map_or(0, |end| end + 1);
        let column = self.text[line_start..start].chars().count() + 1;
        format!("{}:{line}:{column}: {message}", self.file)
    }

    fn column(&self, line: usize, message: &str) -> usize {
        let text = self.text.lines().nth(line - 1).unwrap_or_default();
        let count = |bytes: usize| text[..bytes].chars().count() + 1;
        if message.contains("near <eof>") {
            return count(text.len());
        }
        let quoted = |rest: &'_ str| rest.rsplit_once('\'').map(|(name, _)| name.to_owned());
        let found = match message.rsplit_once("near '").and_then(|(_, rest)| quoted(rest)) {
            Some(token) => self.find_refused(line, text, &token),
            None => {
                let name = message.split('\'').nth(1);
                name.and_then(|name| find_use(text, name, message))
            }
        };
        count(found.unwrap_or_else(|| text.len() - text.trim_start().len()))
    }

    fn find_refused(&self, line: usize, text: &str, token: &str) -> Option<usize> {
        let start: usize = self.text.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let refuses = |at: usize| {
            let until = self.text.get(..start + at + token.len()).unwrap_or_default();
            let refused = parse(until.as_bytes(), LuaVersion::Lua54).err();
            refused.is_some_and(|error| error.msg_str().ends_with(&format!("near '{token}'")))
        };
        text.match_indices(token).map(|(at, _)| at).find(|at| refuses(*at))
    }
}

/// Removes a first line that begins with `#!`. Keeps its newline, so that line numbers match.
fn without_first_line(text: &str) -> &str {
    match text.starts_with("#!") {
        true => text.find('\n').map_or("", |end| &text[end..]),
        false => text,
    }
}

/// If `raw` has no line number, adds the line of the innermost script function in the traceback.
pub(super) fn placed(raw: String, traceback: &str) -> String {
    if parted(&raw).0.is_some() {
        return raw;
    }
    let of_prelude = raw.strip_prefix("prelude:").and_then(|rest| rest.split_once(": "));
    let raw = of_prelude.map_or(raw.as_str(), |(_, message)| message);
    let line_of = |level: &str| -> Option<usize> {
        let place = level.trim_start().strip_prefix(CHUNK)?.strip_prefix(':')?;
        place.split_once(':')?.0.parse().ok()
    };
    let line = traceback.lines().find_map(line_of);
    line.map_or_else(|| raw.to_owned(), |line| format!("{CHUNK}:{line}: {raw}"))
}

fn parted(raw: &str) -> (Option<usize>, &str) {
    let parts = raw.strip_prefix(CHUNK).and_then(|rest| rest.strip_prefix(':'));
    let parts = parts.and_then(|rest| rest.split_once(": "));
    match parts.and_then(|(line, message)| Some((line.parse().ok()?, message))) {
        Some((line, message)) if line > 0 => (Some(line), message),
        _ => (None, raw),
    }
}

fn find_use(line: &str, word: &str, message: &str) -> Option<usize> {
    let used: &[char] = match message {
        call if call.starts_with("attempt to call") => &['('],
        index if index.starts_with("attempt to index") => &['.', ':', '['],
        _ => &[],
    };
    let is_used = |at: &usize| line[at + word.len()..].trim_start().starts_with(used);
    find_words(line, word).find(is_used).or_else(|| find_words(line, word).next())
}

fn find_words<'l>(line: &'l str, word: &'l str) -> impl Iterator<Item = usize> + 'l {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_whole = move |at: usize| {
        !line[..at].ends_with(is_letter) && !line[at + word.len()..].starts_with(is_letter)
    };
    let places = line.match_indices(word).map(|(at, _)| at);
    places.filter(move |at| is_whole(*at) || !word.starts_with(is_letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_without_a_line_has_that_of_the_innermost_function_of_the_script() {
        let traceback = "stack traceback:\n\t[C]: in function 'error'\n\tprelude:7: in field \
                         'pcall'\n\t?lua:12: in function 'acquire'\n\t?lua:30: in main chunk";
        let at = |raw: &str| placed(raw.to_owned(), traceback);
        assert_eq!(at("instruction budget exceeded"), "?lua:12: instruction budget exceeded");
        assert_eq!(at("prelude:9: bad luck"), "?lua:12: bad luck");
        assert_eq!(at("?lua:3: bad luck"), "?lua:3: bad luck");
        assert_eq!(placed("bad luck".to_owned(), ""), "bad luck");
    }

    #[test]
    fn an_error_is_told_with_file_line_and_column() {
        let source =
            Source::new("lock.lua", "local x\n  local y = x.foo\nredis.cal()\nif é then\n");
        for (raw, told) in [
            ("?lua:2: attempt to index a nil value (local 'x')", "lock.lua:2:13: attempt to index"),
            ("?lua:3: attempt to call a nil value (field 'cal')", "lock.lua:3:7: attempt to call"),
            ("?lua:2: bad luck", "lock.lua:2:3: bad luck"),
            ("?lua:4: 'end' expected near <eof>", "lock.lua:4:10: 'end' expected"),
            ("?lua:99: bad luck", "lock.lua:99:1: bad luck"),
            ("two\nlines", "lock.lua: two"),
            ("?lua:1: memory cap exceeded", "lock.lua:1:1: the script uses more than 16 MB"),
        ] {
            let wording = source.describe(raw);
            assert!(wording.starts_with(told) && !wording.contains('\n'), "{wording}");
        }
    }
}
