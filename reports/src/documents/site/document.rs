//! Published documents that are shown as the pages that `--format html` makes of them.

use crate::documents::read::read_matrix;
use crate::documents::{certificate, matrix};
use crate::show::view::View;

/// The page of a matrix or a certificate; `None` for any other file.
pub(super) fn document(path: &str, text: &str) -> Option<String> {
    if !path.ends_with(".json") {
        return None;
    }
    let matrix = read_matrix(text).ok().and_then(|matrix| page(matrix::VIEWS, &matrix));
    matrix.or_else(|| page(certificate::VIEWS, &certificate::read(text).ok()?))
}

fn page<T>(views: &[View<T>], document: &T) -> Option<String>
where
    T: Clone + serde::Serialize + serde::de::DeserializeOwned,
{
    views.iter().find(|view| view.name == "html")?.write(document).ok()
}
