pub type Matcher = Box<dyn Fn(&[u8]) -> bool>;

/// Loses the next matching command or its reply, and closes the connection.
pub struct Trap {
    pub id: u32,
    /// Index of the server that receives the command; `None` for any server.
    pub server: Option<usize>,
    pub matches: Matcher,
    pub lost_message: LostMessage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LostMessage {
    /// The server does not execute the command.
    Request,
    /// The server executes the command.
    Reply,
}

impl Trap {
    pub(super) fn triggers(&self, server: usize, bytes: &[u8]) -> bool {
        self.server.is_none_or(|of| of == server) && (self.matches)(bytes)
    }
}
