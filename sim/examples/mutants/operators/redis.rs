mod changes;
mod keeping;
mod line;
mod servers;
mod taking;

pub(crate) use keeping::KEEPING;
pub(crate) use servers::SERVERS;
pub(crate) use taking::TAKING;
