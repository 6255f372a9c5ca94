//! A cache of recently used commands, because most clients use few commands.

use super::Command;

const RECENT_MAX: usize = 16;

#[derive(Clone, Debug, Default)]
pub(crate) struct Recent([Option<&'static Command>; RECENT_MAX]);

impl Recent {
    pub(crate) fn find(&self, name: &[u8]) -> Option<&'static Command> {
        self.0[place(name)].filter(|command| is_in_any_case(command.name.as_bytes(), name))
    }

    pub(crate) fn note(&mut self, command: &'static Command) {
        if command.subcommands.is_empty() && command.name.len() == command.full_name.len() {
            self.0[place(command.name.as_bytes())] = Some(command);
        }
    }
}

#[inline(always)]
fn is_in_any_case(lower: &[u8], name: &[u8]) -> bool {
    let mut pairs = lower.iter().zip(name);
    lower.len() == name.len() && pairs.all(|(lower, byte)| *lower == byte.to_ascii_lowercase())
}

fn place(name: &[u8]) -> usize {
    let first = name.first().copied().unwrap_or_default().to_ascii_lowercase();
    (name.len() * 5 + usize::from(first)) % RECENT_MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands;

    #[test]
    fn every_command_is_found_by_its_own_name_and_no_other() {
        for command in commands::table().all() {
            let mut recent = Recent::default();
            recent.note(command);
            let found = recent.find(command.name.to_uppercase().as_bytes());
            assert_eq!(found, command.subcommands.is_empty().then_some(command), "{command:?}");
            let others = commands::table().all().filter(|other| *other != command);
            assert!(
                others.into_iter().all(|other| recent.find(other.name.as_bytes()).is_none()),
                "{command:?}"
            );
        }
    }
}
