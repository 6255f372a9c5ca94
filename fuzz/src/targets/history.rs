//! Reads arbitrary text as a history. Validating and judging it must not panic.

use crate::targets::typed;
use fencepost_reports::documents::read::{line_of_event, read_history};
use fencepost_reports::{judge, validate};

pub(super) fn run(input: &[u8]) {
    typed(input, check_input);
}

fn check_input(text: &str) {
    let Ok(history) = read_history(text) else { return };
    match validate(&history) {
        Ok(()) => drop(judge(&history)),
        Err(error) => {
            let _ = error.position().and_then(|position| line_of_event(text, position));
            assert!(!error.to_string().is_empty());
        }
    }
}
