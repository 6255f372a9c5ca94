//! The table of locks. A new lock is one file and one line here. Must never know how any of them works.

use crate::lock::Definition;
use crate::{fencing, redlock, single_node};

/// All locks, in the order in which they are listed for people.
pub static CLIENTS: &[Definition] = &[single_node::DEFINITION, redlock::DEFINITION, fencing::DEFINITION];

/// A mistake, and the client in which it is mended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Twin {
    /// The client that makes it.
    pub flawed: &'static str,
    /// The same client without it. It may still make others.
    pub mended: &'static str,
    /// What is mended, in a few words.
    pub mistake: &'static str,
}

/// All twins.
pub static TWINS: &[Twin] = &[];

/// The lock with that name.
pub fn find(name: &str) -> Option<&'static Definition> {
    CLIENTS.iter().find(|definition| definition.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lock_is_found_under_its_own_name_only() {
        for definition in CLIENTS {
            assert!(std::ptr::eq(find(definition.name).unwrap(), definition), "{} is listed twice", definition.name);
        }
        assert!(find("no-such-lock").is_none());
    }

    #[test]
    fn twins_are_two_locks_of_the_table() {
        for twin in TWINS {
            assert!(
                find(twin.flawed).is_some() && find(twin.mended).is_some() && twin.flawed != twin.mended,
                "{twin:?}"
            );
        }
    }
}
