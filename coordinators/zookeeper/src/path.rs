//! Node paths. The root, which clients call `/`, is the empty path inside the tree.

use crate::code::Refusal;

pub(crate) fn validate(path: &str) -> Result<(), Refusal> {
    if path == "/" {
        return Ok(());
    }
    let names = path.strip_prefix('/').ok_or(Refusal::BadArguments)?;
    let is_valid = names.split('/').all(|name| !matches!(name, "" | "." | ".."))
        && names.chars().all(is_allowed);
    if is_valid { Ok(()) } else { Err(Refusal::BadArguments) }
}

fn is_allowed(character: char) -> bool {
    !matches!(u32::from(character), 0..=0x1f | 0x7f..=0x9f | 0xd800..=0xf8ff | 0xfff0..)
}

pub(crate) fn split(path: &str) -> Result<(&str, &str), Refusal> {
    path.rsplit_once('/').filter(|_| !path.contains('\0')).ok_or(Refusal::BadArguments)
}

pub(crate) fn split_deletable(path: &str) -> Result<(&str, &str), Refusal> {
    if matches!(path, "/" | "/zookeeper" | "/zookeeper/quota" | "/zookeeper/config") {
        return Err(Refusal::BadArguments);
    }
    split(path)
}

pub(crate) fn key(path: &str) -> &str {
    if path == "/" { "" } else { path }
}

pub(crate) fn shown(key: &str) -> &str {
    if key.is_empty() { "/" } else { key }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_validated() {
        for good in ["/", "/a", "/a/b", "/...", "/a..", "/.a", "/ä/漢"] {
            assert_eq!(validate(good), Ok(()), "{good:?}");
        }
        let bad = ["", "a", "//", "/a/", "/a//b", "/.", "/a/..", "/../a", "/\0", "/\u{7f}"];
        for bad in bad.into_iter().chain(["/\u{fffd}", "/\u{1f600}", "/\u{e000}"]) {
            assert_eq!(validate(bad), Err(Refusal::BadArguments), "{bad:?}");
        }
    }
}
