//! Joins an option and its negative value, because clap would take the value for an option.

use std::ffi::OsString;

pub(super) fn joined(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    for argument in arguments {
        match all.last_mut() {
            Some(option) if is_negative(&argument) && is_open_option(option) => {
                option.push("=");
                option.push(&argument);
            }
            _ => all.push(argument),
        }
    }
    all
}

fn is_negative(argument: &OsString) -> bool {
    let bytes = argument.as_encoded_bytes();
    bytes.first() == Some(&b'-') && bytes.get(1).is_some_and(u8::is_ascii_digit)
}

fn is_open_option(argument: &OsString) -> bool {
    let bytes = argument.as_encoded_bytes();
    bytes.len() > 2 && bytes.starts_with(b"--") && !bytes.contains(&b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_negative_value_is_joined_with_its_option() {
        let line = |text: &str| {
            let all = joined(text.split(' ').map(OsString::from));
            all.join(&OsString::from(" ")).into_string().unwrap()
        };
        assert_eq!(line("test --seed -1"), "test --seed=-1");
        assert_eq!(line("test --ttl -5s --quiet"), "test --ttl=-5s --quiet");
        assert_eq!(line("test --seed=1 -2 -- -3"), "test --seed=1 -2 -- -3");
        assert_eq!(line("test --seed 1 -v"), "test --seed 1 -v");
    }
}
