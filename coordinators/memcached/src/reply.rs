pub(crate) const KEY_MAX: usize = 250;

pub(crate) const BAD_LINE: &str = "CLIENT_ERROR bad command line format";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reply {
    Sent,
    /// The command ends with `noreply`.
    Omitted,
}

impl Reply {
    pub(crate) fn text(self, text: &str) -> Vec<u8> {
        match self {
            Reply::Sent => [text.as_bytes(), b"\r\n"].concat(),
            Reply::Omitted => Vec::new(),
        }
    }
}
