//! Checksums of JSON documents, to detect damage in a document that still parses. [`checksum`]
//! ignores whitespace, the order of keys, and members named `checksum`. [`Uncovered::Measured`]
//! also excludes members named `measured`.

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

pub const FIELD: &str = "checksum";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protection {
    Sound,
    Absent,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Uncovered {
    Nothing,
    /// Members named `measured`, because measurements differ between machines.
    Measured,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Damaged;

pub fn checksum(document: &Value, uncovered: Uncovered) -> String {
    let mut hasher = Sha256::new();
    feed(&mut hasher, document, uncovered);
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn verify(document: &Value, uncovered: Uncovered) -> Result<Protection, Damaged> {
    match document.get(FIELD) {
        None => Ok(Protection::Absent),
        Some(stated) if stated.as_str() == Some(&checksum(document, uncovered)) => {
            Ok(Protection::Sound)
        }
        Some(_) => Err(Damaged),
    }
}

/// Feeds the value to the hash. Writes `1.0` as `1`, so that both have the same hash.
fn feed(hasher: &mut Sha256, value: &Value, uncovered: Uncovered) {
    match value {
        Value::Object(members) => {
            let sorted: BTreeMap<&String, &Value> =
                members.iter().filter(|(key, _)| is_covered(key, uncovered)).collect();
            hasher.update(b"{");
            for (key, member) in sorted {
                hasher.update(Value::from(key.as_str()).to_string());
                hasher.update(b":");
                feed(hasher, member, uncovered);
                hasher.update(b",");
            }
            hasher.update(b"}");
        }
        Value::Array(items) => {
            hasher.update(b"[");
            for item in items {
                feed(hasher, item, uncovered);
                hasher.update(b",");
            }
            hasher.update(b"]");
        }
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => hasher.update(float.to_string()),
            _ => hasher.update(number.to_string()),
        },
        other => hasher.update(other.to_string()),
    }
}

fn is_covered(key: &str, uncovered: Uncovered) -> bool {
    key != FIELD && (uncovered == Uncovered::Nothing || key != "measured")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sealed(mut document: Value, uncovered: Uncovered) -> Value {
        document[FIELD] = checksum(&document, uncovered).into();
        document
    }

    #[test]
    fn neither_blanks_nor_the_order_of_keys_matter() {
        let one = json!({ "a": [1, 2.0, "x"], "b": { "c": null, "d": true } });
        let other: Value =
            serde_json::from_str(r#"{ "b": {"d":true, "c":null}, "a": [1, 2, "x"] }"#).unwrap();
        assert_eq!(checksum(&one, Uncovered::Nothing), checksum(&other, Uncovered::Nothing));
    }

    #[test]
    fn any_flipped_bit_that_is_still_json_is_found_or_harmless() {
        let whole = sealed(json!({ "runs": 41, "ids": ["a1", "b2"], "rate": 0.25 }), {
            Uncovered::Nothing
        });
        let text = whole.to_string();
        let mut found = 0;
        for bit in 0..text.len() * 8 {
            let mut bytes = text.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let Ok(read) = serde_json::from_slice::<Value>(&bytes) else { continue };
            match verify(&read, Uncovered::Nothing) {
                Err(Damaged) => found += 1,
                Ok(Protection::Sound) => assert_eq!(read, whole, "bit {bit}"),
                Ok(Protection::Absent) => {
                    assert_eq!(read["runs"], whole["runs"], "only its own name was hit");
                }
            }
        }
        assert!(found > 100, "{found}");
    }

    #[test]
    fn what_machines_measure_is_left_out_if_so_asked() {
        let fast = json!({ "runs": 1, "cells": [{ "measured": { "cpu_us": 1.0 } }] });
        let slow = json!({ "runs": 1, "cells": [{ "measured": { "cpu_us": 9.0 } }] });
        assert_eq!(checksum(&fast, Uncovered::Measured), checksum(&slow, Uncovered::Measured));
        assert_ne!(checksum(&fast, Uncovered::Nothing), checksum(&slow, Uncovered::Nothing));
    }

    #[test]
    fn members_cannot_be_mistaken_for_each_other() {
        let sums: std::collections::BTreeSet<String> = [
            json!({ "a": "b" }),
            json!({ "a\":\"b": "" }),
            json!({ "a": ["b"] }),
            json!([{ "a": "b" }]),
            json!({ "a": 1 }),
            json!({ "a": "1" }),
            json!({}),
        ]
        .iter()
        .map(|value| checksum(value, Uncovered::Nothing))
        .collect();
        assert_eq!(sums.len(), 7);
    }
}
