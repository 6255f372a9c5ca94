//! The gateway's JSON for single values: base64 bytes, quoted 64-bit numbers, and null.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::de::{Deserialize, Deserializer, Error};

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Written<T> {
    Plain(T),
    Quoted(String),
}

pub(super) fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Bytes, D::Error> {
    match Option::<Written<Vec<u8>>>::deserialize(from)? {
        None => Ok(Bytes::new()),
        Some(Written::Plain(bytes)) => Ok(bytes.into()),
        Some(Written::Quoted(text)) => {
            STANDARD.decode(text).map(Bytes::from).map_err(D::Error::custom)
        }
    }
}

pub(super) fn int<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    match Option::<Written<i64>>::deserialize(from)? {
        None => Ok(0),
        Some(Written::Plain(number)) => Ok(number),
        Some(Written::Quoted(text)) => text.parse().map_err(D::Error::custom),
    }
}

pub(super) fn nullable<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::<T>::deserialize(from).map(Option::unwrap_or_default)
}

pub(super) mod choice {
    use super::Written;
    use serde::de::{Deserialize, Deserializer, Error};

    fn read<'de, D: Deserializer<'de>>(from: D, members: &[&str]) -> Result<i32, D::Error> {
        match Option::<Written<i32>>::deserialize(from)? {
            None => Ok(0),
            Some(Written::Plain(number)) => Ok(number),
            Some(Written::Quoted(name)) => {
                let found = (0..).zip(members).find(|(_, member)| **member == name);
                let unknown = || format!("unknown value \"{name}\": one of {}", members.join(", "));
                found.map(|(number, _)| number).ok_or_else(|| D::Error::custom(unknown()))
            }
        }
    }

    pub(in crate::request) fn sort_order<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<i32, D::Error> {
        read(from, &["NONE", "ASCEND", "DESCEND"])
    }

    pub(in crate::request) fn sort_target<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<i32, D::Error> {
        read(from, &["KEY", "VERSION", "CREATE", "MOD", "VALUE"])
    }

    pub(in crate::request) fn result<'de, D: Deserializer<'de>>(from: D) -> Result<i32, D::Error> {
        read(from, &["EQUAL", "GREATER", "LESS", "NOT_EQUAL"])
    }

    pub(in crate::request) fn target<'de, D: Deserializer<'de>>(from: D) -> Result<i32, D::Error> {
        read(from, &["VERSION", "CREATE", "MOD", "VALUE", "LEASE"])
    }
}
