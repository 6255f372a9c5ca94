use std::fmt::Display;

/// Joins parts for a sentence: `client-1, client-2 and client-3`.
pub fn listed<T: Display>(parts: impl IntoIterator<Item = T>, conjunction: &str) -> String {
    let parts: Vec<String> = parts.into_iter().map(|part| part.to_string()).collect();
    match parts.split_last() {
        Some((last, others)) if !others.is_empty() => {
            format!("{} {conjunction} {last}", others.join(", "))
        }
        _ => parts.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_several_parts_follows_the_conjunction() {
        assert_eq!(listed([""; 0], "or"), "");
        assert_eq!(listed(["a"], "or"), "a");
        assert_eq!(listed(["a", "b"], "or"), "a or b");
        assert_eq!(listed(["a", "b", "c"], "and"), "a, b and c");
    }
}
