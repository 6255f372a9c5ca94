use fencepost_machine::wording::{Speaker, lines};

pub(crate) fn chubby(speaker: Speaker, bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let short = text.lines().map(|line| line.split_once(" {").map_or(line, |(head, _)| head));
    lines(speaker, short.collect::<Vec<_>>().join("\n").as_bytes())
}
