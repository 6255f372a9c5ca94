use bytes::Bytes;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DiskImage {
    pub snapshot: Option<Bytes>,
    pub append_only: Bytes,
    /// Contents of the file that [`crate::Output::DiskConfig`] replaces.
    pub config: Option<Bytes>,
}
