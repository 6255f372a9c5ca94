//! Access control lists: `world:anyone`, and digests of a user's name and password.

use crate::code::Refusal;
use crate::jute::{Read, Reader, Writer};
use base64::Engine;
use sha1::{Digest, Sha1};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Permission {
    Read = 1,
    Write = 2,
    Create = 4,
    Delete = 8,
    Admin = 16,
}

#[derive(Clone, PartialEq, Eq, Debug)]
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

    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.int(self.permissions).string(&self.scheme).string(&self.id);
    }

    fn grants(&self, permission: i32, identities: &[String]) -> bool {
        self.permissions & permission != 0
            && (self.scheme == "world" || identities.contains(&self.id))
    }
}

/// Returns the identity that the `digest` scheme derives from `name:password`.
pub(crate) fn identity(credentials: &[u8]) -> String {
    let text = String::from_utf8_lossy(credentials);
    let name = text.split(':').next().unwrap_or_default();
    let digest = base64::engine::general_purpose::STANDARD.encode(Sha1::digest(text.as_bytes()));
    format!("{name}:{digest}")
}

pub(crate) fn check(acl: &[Acl], permissions: i32, identities: &[String]) -> Result<(), Refusal> {
    let is_permitted =
        acl.is_empty() || acl.iter().any(|entry| entry.grants(permissions, identities));
    if is_permitted { Ok(()) } else { Err(Refusal::NoAuth) }
}

pub(crate) fn fix(
    wanted: Option<&Vec<Option<Acl>>>,
    identities: &[String],
) -> Result<Vec<Acl>, Refusal> {
    let mut fixed: Vec<Acl> = Vec::new();
    for entry in wanted.into_iter().flatten() {
        let entry = entry.as_ref().ok_or(Refusal::InvalidAcl)?;
        match (entry.scheme.as_str(), entry.id.as_str()) {
            ("world", "anyone") => fixed.push(entry.clone()),
            ("digest", id) if id.split(':').count() == 2 => fixed.push(entry.clone()),
            ("auth", _) if !identities.is_empty() => fixed.extend(identities.iter().map(|id| {
                Acl { permissions: entry.permissions, scheme: "digest".into(), id: id.clone() }
            })),
            _ => return Err(Refusal::InvalidAcl),
        }
    }
    if fixed.is_empty() {
        return Err(Refusal::InvalidAcl);
    }
    let mut unique: Vec<Acl> = Vec::with_capacity(fixed.len());
    for entry in fixed {
        if !unique.contains(&entry) {
            unique.push(entry);
        }
    }
    Ok(unique)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_known_by_the_digest_of_name_and_password() {
        assert_eq!(identity(b"super:test"), "super:D/InIHSb7yEEbrWz8b9l71RjZJU=");
    }

    #[test]
    fn only_whom_an_entry_names_is_permitted() {
        let user = identity(b"super:test");
        let acl = [Acl { permissions: 31, scheme: "digest".to_owned(), id: user.clone() }];
        assert_eq!(check(&acl, 1, &[]), Err(Refusal::NoAuth));
        assert_eq!(check(&acl, 1, &[user]), Ok(()));
        assert_eq!(check(&[Acl::world(1)], Permission::Write as i32, &[]), Err(Refusal::NoAuth));
    }
}
