use crate::documents::read::read_matrix;
use crate::documents::{certificate, matrix};

pub(super) fn document(path: &str, text: &str) -> Option<String> {
    if !path.ends_with(".json") {
        return None;
    }
    let matrix = read_matrix(text).ok().and_then(|matrix| matrix::HTML.write(&matrix).ok());
    matrix.or_else(|| certificate::HTML.write(&certificate::read(text).ok()?).ok())
}
