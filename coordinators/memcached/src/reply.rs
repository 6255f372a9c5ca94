//! What is said in common, and the longest key.

/// The longest key.
pub(crate) const KEY_MAX: usize = 250;

/// What is said of a line that makes no sense.
pub(crate) const BAD_LINE: &str = "CLIENT_ERROR bad command line format";

/// A line of the reply, unless the client wants none.
pub(crate) fn reply(text: &str, quiet: bool) -> Vec<u8> {
    match quiet {
        true => Vec::new(),
        false => [text.as_bytes(), b"\r\n"].concat(),
    }
}
