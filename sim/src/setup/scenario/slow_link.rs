use fencepost_faults::{Node, as_text};
use std::fmt;
use std::str::FromStr;

/// A link between two machines, in both directions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlowLink([Node; 2]);

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("slow-link '{0}': expected the names of two machines, like client-1/redis-1")]
pub struct InvalidSlowLink(pub String);

impl SlowLink {
    pub const fn new(a: Node, b: Node) -> SlowLink {
        SlowLink([a, b])
    }

    pub const fn nodes(self) -> [Node; 2] {
        self.0
    }
}

impl fmt::Display for SlowLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0[0], self.0[1])
    }
}

impl FromStr for SlowLink {
    type Err = InvalidSlowLink;

    fn from_str(text: &str) -> Result<SlowLink, InvalidSlowLink> {
        let invalid = || InvalidSlowLink(text.to_owned());
        let (a, b) = text.split_once('/').ok_or_else(invalid)?;
        let ends: [Node; 2] =
            [a.parse().map_err(|_| invalid())?, b.parse().map_err(|_| invalid())?];
        let are_machines = ends.iter().all(|node| node.machine() == *node) && ends[0] != ends[1];
        if are_machines { Ok(SlowLink(ends)) } else { Err(invalid()) }
    }
}

as_text!(SlowLink, "Two machines separated by a slash, like client-1/redis-1.");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_reads_as_it_is_written() {
        for text in ["client-1/redis-1", "storage/client-2"] {
            assert_eq!(text.parse::<SlowLink>().map(|link| link.to_string()), Ok(text.to_owned()));
        }
        for text in ["client-1", "client-1/client-1", "client-1.2/redis-1", "client-0/redis-1"] {
            assert_eq!(text.parse::<SlowLink>(), Err(InvalidSlowLink(text.to_owned())));
        }
    }
}
