use super::token::Token;

pub(super) struct Parser<'t> {
    pub(super) text: &'t [u8],
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) clause: &'static str,
}
