//! Any text as a history: it is refused, or judged.

#![no_main]

use fencepost_reports::documents::read::{line_of_event, read_history};
use fencepost_reports::{judge, validate};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(history) = read_history(text) else { return };
    match validate(&history) {
        Ok(()) => drop(judge(&history)),
        Err(error) => {
            let _ = error.position().and_then(|position| line_of_event(text, position));
            assert!(!error.to_string().is_empty());
        }
    }
});
