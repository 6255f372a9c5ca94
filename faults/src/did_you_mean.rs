/// Returns a hint such as ` (did you mean 'pause'?)`, or an empty string without a similar name.
pub fn did_you_mean<'n>(name: &str, valid: impl IntoIterator<Item = &'n str>) -> String {
    let near = valid.into_iter().map(|valid| (strsim::levenshtein(name, valid), valid)).min();
    match near {
        Some((edits, valid)) if edits <= 1 + valid.len() / 4 => {
            format!(" (did you mean '{valid}'?)")
        }
        _ => String::new(),
    }
}
