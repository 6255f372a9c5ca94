#![no_main]

use fencepost_fuzz::targets::{Corpus, TARGETS, Target};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        panic!("FUZZ_TARGET is '{name}': expected one of {}", names.join(", "))
    })
});

fuzz_target!(|input: &[u8]| -> libfuzzer_sys::Corpus {
    match TARGET.run(input) {
        Corpus::Keep => libfuzzer_sys::Corpus::Keep,
        Corpus::Reject => libfuzzer_sys::Corpus::Reject,
    }
});
