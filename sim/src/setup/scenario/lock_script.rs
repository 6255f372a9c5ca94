use super::program::no_lock;
use fencepost_clients::lua::{InvalidScript, Script};
use fencepost_clients::{Definition, Deployment};
use fencepost_reports::{History, What};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Mutex;

/// A lock written in Lua. A report contains the text of the script, so a replay does not need the
/// file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
#[schemars(with = "Written")]
pub struct LockScript {
    /// Name of the lock in reports.
    pub name: String,
    pub script: Script,
}

/// A lock written in Lua. A report contains the text of the script, so a replay does not need the
/// file.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Written {
    /// Name of the lock in reports.
    name: String,
    /// Path from which the text was read. A replay does not read the file.
    file: String,
    /// Text of the script.
    text: String,
}

impl TryFrom<Written> for LockScript {
    type Error = InvalidScript;

    fn try_from(written: Written) -> Result<LockScript, InvalidScript> {
        let script = Script::read(&written.file, &written.text)?;
        Ok(LockScript { name: written.name, script })
    }
}

impl From<LockScript> for Written {
    fn from(lock: LockScript) -> Written {
        let (file, text) = (lock.script.file().to_owned(), lock.script.text().to_owned());
        Written { name: lock.name, file, text }
    }
}

type Traits = (Deployment, bool, bool);

impl LockScript {
    pub fn flags(&self) -> String {
        let own = serde_json::to_value(self).ok();
        own.as_ref().and_then(fencepost_reports::record::programs::lock_flags).unwrap_or_default()
    }

    /// Returns the first error in the script itself that a call reported, with its file and line.
    pub fn own_error<'h>(&self, history: &'h History) -> Option<&'h str> {
        history.events.iter().find_map(|event| match &event.what {
            What::Info { reason, .. } if self.script.is_own_error(reason) => Some(&**reason),
            _ => None,
        })
    }

    /// Leaks one definition for each name and set of traits.
    pub fn definition(&self) -> &'static Definition {
        static KNOWN: Mutex<Vec<&'static Definition>> = Mutex::new(Vec::new());
        let traits = |one: &Definition| -> Traits { (one.deployment, one.has_tokens, one.is_fair) };
        let script = &self.script;
        let own = (script.deployment(), script.has_tokens(), script.is_fair());
        let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(found) = known.iter().find(|it| it.name == self.name && traits(it) == own) {
            return found;
        }
        let definition: &'static Definition = Box::leak(Box::new(Definition {
            name: self.name.clone().leak(),
            about: "your own lock, written in Lua",
            deployment: own.0,
            has_tokens: own.1,
            is_fair: own.2,
            models: script.models().map(|models| &*models.to_owned().leak()),
            build: no_lock,
        }));
        known.push(definition);
        definition
    }
}
