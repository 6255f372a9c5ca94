use bytes::Bytes;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DiskImage {
    pub snapshot: Option<Bytes>,
    pub append_only: Bytes,
    /// Contents of the configuration file, which override the server's initial configuration.
    pub config: Option<Bytes>,
}
