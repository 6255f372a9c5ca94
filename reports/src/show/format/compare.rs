//! The output formats of a comparison.

use super::exporters::markdown_comparison;
use super::{html, text};
use crate::show::view::View;
use crate::summary::sweep::Comparison;

pub static VIEWS: &[View<Comparison>] = &[
    View::new("text", text::comparison::text),
    View::JSON,
    View::new("markdown", markdown_comparison::page),
    View::new("html", html::comparison::html),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn every_view_names_both_sides_and_the_test() {
        let of = |client: &str| {
            let mut sweep = samples::sweep(0, 90);
            sweep.cells.retain(|cell| cell.client == client);
            sweep
        };
        let (old, new) = (of("single-node"), of("redlock"));
        let comparison = Comparison::of(("old", &old), ("new", &new), samples::tool()).unwrap();
        for view in VIEWS {
            let written = view.write(&comparison).unwrap();
            for word in ["old", "new", "30"] {
                assert!(written.contains(word), "{}: {written}", view.name);
            }
        }
        insta::assert_snapshot!(VIEWS[0].write(&comparison).unwrap());
    }
}
