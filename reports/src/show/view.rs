//! The ways to write one kind of document. A document other than a run or a sweep has a table of
//! them, `VIEWS`, beside its type; a new way is a file and a line there.

use crate::record::visible::{visible_in, visible_json};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A way to write a document of one type.
pub struct View<T: 'static> {
    /// What `--format` takes.
    pub name: &'static str,
    write: fn(&T) -> String,
    /// Whether what is written has escapes of its own for whatever a name may hold.
    escapes: bool,
}

impl<T: Clone + Serialize + DeserializeOwned> View<T> {
    /// The document as its JSON format.
    pub const JSON: View<T> = View { name: "json", write: json, escapes: true };

    /// A way that shows names as they are, and so is given visible ones only.
    pub const fn new(name: &'static str, write: fn(&T) -> String) -> View<T> {
        View { name, write, escapes: false }
    }

    /// The document, written this way. No name in it can begin a line or reach a terminal as an
    /// escape sequence.
    pub fn write(&self, document: &T) -> serde_json::Result<String> {
        Ok(if self.escapes {
            (self.write)(document)
        } else {
            (self.write)(&*visible_in(document)?)
        })
    }
}

/// Indented, ended by a line feed; what JSON does not escape by itself is.
fn json<T: Serialize>(document: &T) -> String {
    let text = serde_json::to_string_pretty(document).unwrap_or_default();
    format!("{}\n", visible_json(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEWS: &[View<String>] = &[View::new("text", |text| format!("{text}\n")), View::JSON];

    #[test]
    fn a_hostile_name_cannot_begin_a_line_or_move_the_cursor() {
        for view in VIEWS {
            let written = view.write(&"a\nb\u{1b}[2J".to_owned()).unwrap();
            assert_eq!(written.matches('\n').count(), 1, "{}: {written:?}", view.name);
            assert!(!written.contains('\u{1b}'), "{}: {written:?}", view.name);
        }
    }
}
