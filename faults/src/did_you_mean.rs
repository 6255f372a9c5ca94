//! What was probably meant by a name that nothing has.

/// ` (did you mean 'pause'?)`, if one of the valid names is near enough to be a slip of the
/// fingers; else nothing. Of two that are equally near, the first in the alphabet.
pub fn did_you_mean<'n>(name: &str, valid: impl IntoIterator<Item = &'n str>) -> String {
    let near = valid.into_iter().map(|valid| (strsim::levenshtein(name, valid), valid)).min();
    match near {
        Some((edits, valid)) if edits <= 1 + valid.len() / 4 => {
            format!(" (did you mean '{valid}'?)")
        }
        _ => String::new(),
    }
}
