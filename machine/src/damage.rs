#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskFile {
    Snapshot,
    AppendOnly,
    Config,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Response {
    /// The server drops the damaged end of the file and starts.
    Repaired,
    /// The server does not start, and leaves every file unchanged.
    Refused,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damage {
    pub file: DiskFile,
    /// Description of the damage or repair, as a lowercase sentence fragment.
    pub what: String,
    pub response: Response,
}
