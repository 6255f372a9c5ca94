//! The scripts that a server knows, and what they have left behind for the next.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use sha1::{Digest, Sha1};

/// What rand.c of Redis starts with in every process.
pub(crate) const INITIAL_RANDOM_STATE: u64 = 0x1234_ABCD_330E;

/// The SHA-1 of a script, in lower-case hexadecimal digits.
pub(crate) type Sha = [u8; 40];

/// What a script's header (`#!lua flags=...`) and the command that runs it allow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Permissions {
    /// No command may write: EVAL_RO, or the flag `no-writes`.
    pub(crate) read_only: bool,
    /// Commands that need memory may run although memory is full.
    pub(crate) allow_oom: bool,
    /// Commands may run on a replica that lost its primary.
    pub(crate) allow_stale: bool,
}

/// How cjson reads and writes; a server keeps it from one script to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Settings {
    /// Arrays with too many holes become objects; else they are an error.
    pub(crate) sparse_convert: bool,
    /// An array has too many holes if it is longer than this many times its elements; 0 is never.
    pub(crate) sparse_ratio: i32,
    /// An array no longer than this never has too many holes.
    pub(crate) sparse_safe: i32,
    pub(crate) encode_depth_max: i32,
    pub(crate) decode_depth_max: i32,
    /// How infinities and NaN are written.
    pub(crate) invalid_out: Invalid,
    /// Whether infinities, NaN and hexadecimal numbers are read.
    pub(crate) takes_invalid: bool,
    /// Significant digits of numbers.
    pub(crate) precision: i32,
    /// Without a meaning here.
    pub(crate) keep_buffer: bool,
}

/// How numbers that JSON does not know are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Invalid {
    Refuse,
    Write,
    Null,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            sparse_convert: false,
            sparse_ratio: 2,
            sparse_safe: 10,
            encode_depth_max: 1_000,
            decode_depth_max: 1_000,
            invalid_out: Invalid::Refuse,
            takes_invalid: true,
            precision: 14,
            keep_buffer: true,
        }
    }
}

/// A script that a server knows.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// Its text, without the `#!` line.
    pub(crate) body: Box<[u8]>,
    /// What its `#!` line says; `None` if there is no such line.
    pub(crate) declared: Option<Permissions>,
}

/// The scripts that a server knows by their SHA-1; empty after a restart.
#[derive(Clone, Debug)]
pub(crate) struct ScriptCache {
    scripts: IndexMap<Sha, Script, FxBuildHasher>,
    /// Where `math.random` is.
    random_state: u64,
    /// What scripts have set of cjson.
    json: Settings,
}

impl Default for ScriptCache {
    fn default() -> Self {
        ScriptCache {
            scripts: IndexMap::default(),
            random_state: INITIAL_RANDOM_STATE,
            json: Settings::default(),
        }
    }
}

impl ScriptCache {
    /// How many scripts are known.
    pub(crate) fn len(&self) -> usize {
        self.scripts.len()
    }

    /// The script with this SHA-1, in any case.
    pub(crate) fn get(&self, sha: &[u8]) -> Option<(Sha, &Script)> {
        let mut sha: Sha = sha.try_into().ok()?;
        sha.make_ascii_lowercase();
        self.scripts.get(&sha).map(|script| (sha, script))
    }

    /// Whether a script is known.
    pub(crate) fn knows(&self, sha: &Sha) -> bool {
        self.scripts.contains_key(sha)
    }

    /// Makes a script known that compiles.
    pub(crate) fn learn(&mut self, sha: Sha, script: Script) {
        self.scripts.insert(sha, script);
    }

    /// The text of a script; nothing if it is not known any more.
    pub(crate) fn body(&self, sha: &Sha) -> &[u8] {
        self.scripts.get(sha).map_or_else(Default::default, |script| &*script.body)
    }

    /// What the last script left to the next one: where `math.random` is, and what was set of
    /// cjson.
    pub(crate) fn left(&self) -> (u64, Settings) {
        (self.random_state, self.json)
    }

    /// A script has ended, and left this to the next one.
    pub(crate) fn leave(&mut self, random_state: u64, json: Settings) {
        (self.random_state, self.json) = (random_state, json);
    }

    /// Forgets all scripts, and with Lua's state what they set in it.
    pub(crate) fn clear(&mut self) {
        self.scripts.clear();
        self.json = Settings::default();
    }
}

/// The SHA-1 of a text.
pub(crate) fn sha_of(text: &[u8]) -> Sha {
    let mut digits = [0; 40];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(Sha1::digest(text)) {
        pair[0] = b"0123456789abcdef"[usize::from(byte >> 4)];
        pair[1] = b"0123456789abcdef"[usize::from(byte & 15)];
    }
    digits
}
