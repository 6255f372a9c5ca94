use bytes::Bytes;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DiskImage {
    pub snapshot: Option<Bytes>,
    pub append_only: Bytes,
    /// Overrides the server's configuration.
    pub config: Option<Bytes>,
}
