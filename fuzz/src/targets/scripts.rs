//! Runs a script. A later script on a new server must not see its effects.

use crate::bench::Bench;
use crate::programs::program;
use crate::targets::Corpus;
use arbitrary::Unstructured;
use fake_redis::{DiskImage, NodeConfig};

const LOOK: &[u8] =
    b"local seen = {} for name, library in pairs(_G) do if type(library) == 'table' \
    then local count = 0 for key in pairs(library) do count = count + 1 end \
    seen[#seen + 1] = name .. count end end table.sort(seen) \
    return table.concat(seen, ' ') .. #KEYS .. #ARGV .. tostring({}) .. collectgarbage('count')";

pub(super) fn run(input: &[u8]) -> Corpus {
    let (script, probe) = match input.strip_prefix(b"#") {
        Some(text) => (text.to_vec(), false),
        None => (program(&mut Unstructured::new(input)).into_bytes(), true),
    };
    let mut server = Bench::server(NodeConfig::default(), DiskImage::default());
    let before = server.ask(&[b"EVAL", LOOK, b"0"]);
    let answer = server.ask(&[b"EVAL", &script, b"2", b"k1", b"k2", b"a1"]);
    assert!(!answer.is_empty());
    assert!(answer.ends_with(b"\r\n"));
    let mut server = Bench::server(NodeConfig::default(), DiskImage::default());
    assert_eq!(server.ask(&[b"EVAL", LOOK, b"0"]), before);
    if probe && answer.starts_with(b"-ERR Error compiling") { Corpus::Reject } else { Corpus::Keep }
}
