pub(crate) const KEY_MAX: usize = 250;

pub(crate) const BAD_LINE: &str = "CLIENT_ERROR bad command line format";

pub(crate) fn reply(text: &str, quiet: bool) -> Vec<u8> {
    match quiet {
        true => Vec::new(),
        false => [text.as_bytes(), b"\r\n"].concat(),
    }
}
