//! Access control lists, whose only identity is `world:anyone`.

use crate::code::Refusal;
use crate::jute::{Read, Reader};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Permission {
    Read = 1,
    Write = 2,
    Create = 4,
    Delete = 8,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Acl {
    pub(crate) permissions: i32,
    pub(crate) scheme: String,
    pub(crate) id: String,
}

impl Acl {
    pub(crate) fn world(permissions: i32) -> Acl {
        Acl { permissions, scheme: "world".to_owned(), id: "anyone".to_owned() }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Read<Option<Acl>> {
        let (permissions, scheme, id) = (reader.int()?, reader.string()?, reader.string()?);
        Ok(scheme.zip(id).map(|(scheme, id)| Acl { permissions, scheme, id }))
    }
}

pub(crate) fn check(acl: &[Acl], permission: Permission) -> Result<(), Refusal> {
    let grants = |entry: &Acl| entry.permissions & permission as i32 != 0;
    if acl.is_empty() || acl.iter().any(grants) { Ok(()) } else { Err(Refusal::NoAuth) }
}

pub(crate) fn fix(wanted: Option<&Vec<Option<Acl>>>) -> Result<Vec<Acl>, Refusal> {
    let mut unique: Vec<Acl> = Vec::new();
    for entry in wanted.into_iter().flatten() {
        let entry = entry.as_ref().ok_or(Refusal::InvalidAcl)?;
        if (entry.scheme.as_str(), entry.id.as_str()) != ("world", "anyone") {
            return Err(Refusal::InvalidAcl);
        }
        if !unique.contains(entry) {
            unique.push(entry.clone());
        }
    }
    if unique.is_empty() { Err(Refusal::InvalidAcl) } else { Ok(unique) }
}
