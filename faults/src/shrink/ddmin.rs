//! ddmin (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE
//! 2002), except that it tests the empty list first.

/// Returns a part of `items` that fails, but passes if any single item is removed. `fails` must
/// return `true` for the whole list.
pub(super) fn ddmin<T: Clone>(mut items: Vec<T>, mut fails: impl FnMut(&[T]) -> bool) -> Vec<T> {
    if items.is_empty() || fails(&[]) {
        return Vec::new();
    }
    let mut parts = 2;
    while items.len() >= 2 {
        parts = parts.min(items.len());
        if let Some((smaller, next_parts)) = reduce(&items, parts, &mut fails) {
            (items, parts) = (smaller, next_parts);
        } else if parts == items.len() {
            break;
        } else {
            parts *= 2;
        }
    }
    items
}

fn reduce<T: Clone>(
    items: &[T],
    parts: usize,
    fails: &mut impl FnMut(&[T]) -> bool,
) -> Option<(Vec<T>, usize)> {
    let size = items.len().div_ceil(parts);
    if let Some(part) = items.chunks(size).find(|part| fails(part)) {
        return Some((part.to_vec(), 2));
    }
    (0..items.len()).step_by(size).find_map(|start| {
        let rest = [&items[..start], &items[(start + size).min(items.len())..]].concat();
        fails(&rest).then_some((rest, (parts - 1).max(2)))
    })
}
