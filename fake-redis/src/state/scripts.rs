use crate::state::command_info::Flags;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use sha1::{Digest, Sha1};

/// Initial state of Redis's rand.c.
pub(crate) const INITIAL_RANDOM_STATE: u64 = 0x1234_ABCD_330E;

pub(crate) type Sha = [u8; 40];

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Permissions {
    pub(crate) read_only: bool,
    pub(crate) allow_oom: bool,
    pub(crate) allow_stale: bool,
}

impl Permissions {
    /// Replaces EVAL's flags with those that the script declares (`scriptFlagsToCmdFlags`).
    pub(crate) fn flags(self, command: Flags) -> Flags {
        let mut flags =
            command - (Flags::STALE | Flags::DENYOOM | Flags::WRITE | Flags::MAY_REPLICATE);
        flags.set(Flags::DENYOOM, !self.allow_oom && !self.read_only);
        flags.set(Flags::WRITE, !self.read_only);
        flags.set(Flags::STALE, self.allow_stale);
        flags
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Settings {
    /// `true` encodes an array with too many holes as an object; `false` rejects such an array.
    pub(crate) sparse_convert: bool,
    /// Maximum ratio of an array's length to the number of its elements; 0 disables the check.
    pub(crate) sparse_ratio: i32,
    /// Length up to which an array never has too many holes.
    pub(crate) sparse_safe: i32,
    pub(crate) encode_depth_max: i32,
    pub(crate) decode_depth_max: i32,
    pub(crate) invalid_out: Invalid,
    pub(crate) takes_invalid: bool,
    pub(crate) precision: i32,
    pub(crate) keep_buffer: bool,
}

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

#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) body: Box<[u8]>,
    pub(crate) declared: Option<Permissions>,
}

#[derive(Clone, Debug)]
pub(crate) struct ScriptCache {
    scripts: IndexMap<Sha, Script, FxBuildHasher>,
    random_state: u64,
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
    pub(crate) fn len(&self) -> usize {
        self.scripts.len()
    }

    pub(crate) fn get(&self, sha: &[u8]) -> Option<(Sha, &Script)> {
        let mut sha: Sha = sha.try_into().ok()?;
        sha.make_ascii_lowercase();
        self.scripts.get(&sha).map(|script| (sha, script))
    }

    pub(crate) fn knows(&self, sha: &Sha) -> bool {
        self.scripts.contains_key(sha)
    }

    pub(crate) fn learn(&mut self, sha: Sha, script: Script) {
        self.scripts.insert(sha, script);
    }

    pub(crate) fn body(&self, sha: &Sha) -> &[u8] {
        self.scripts.get(sha).map_or_else(Default::default, |script| &*script.body)
    }

    pub(crate) fn left(&self) -> (u64, Settings) {
        (self.random_state, self.json)
    }

    pub(crate) fn leave(&mut self, random_state: u64, json: Settings) {
        (self.random_state, self.json) = (random_state, json);
    }

    pub(crate) fn clear(&mut self) {
        self.scripts.clear();
        self.json = Settings::default();
    }
}

pub(crate) fn sha_of(text: &[u8]) -> Sha {
    let mut digits = [0; 40];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(Sha1::digest(text)) {
        pair[0] = b"0123456789abcdef"[usize::from(byte >> 4)];
        pair[1] = b"0123456789abcdef"[usize::from(byte & 15)];
    }
    digits
}
