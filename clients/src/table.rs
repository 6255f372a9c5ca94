//! The table of locks. A new lock is one file and one line here. Must never know how any of them works.

use crate::lock::Definition;
use crate::{fencing, redlock, single_node};

/// All locks, in the order in which they are listed for people.
pub static CLIENTS: &[Definition] = &[single_node::DEFINITION, redlock::DEFINITION, fencing::DEFINITION];

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
}
