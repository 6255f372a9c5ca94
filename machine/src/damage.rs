#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskFile {
    Snapshot,
    AppendOnly,
    Config,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Response {
    /// The server starts without the damaged end of the file.
    Repaired,
    /// The server does not start, and leaves every file unchanged.
    Refused,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damage {
    pub file: DiskFile,
    /// Kind and place of the damage, as a lowercase sentence fragment.
    pub what: String,
    pub response: Response,
}
