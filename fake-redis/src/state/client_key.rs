#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ClientKey(pub(crate) usize);

impl ClientKey {
    pub(crate) const SCRIPT: ClientKey = ClientKey(0);
    pub(crate) const PRIMARY: ClientKey = ClientKey(1);
    pub(crate) const DISK: ClientKey = ClientKey(2);
    pub(crate) const OPERATOR: ClientKey = ClientKey(3);
}
