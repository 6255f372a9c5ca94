use super::markdown_cell::cell;
use crate::show::format::text::comparison::{
    anomaly, interval, name, number, reading, setting, violated,
};
use crate::summary::sweep::{Anomaly, Comparison, Pair};

pub(crate) fn page(comparison: &Comparison) -> String {
    let (a, b) = (&comparison.a, &comparison.b);
    format!(
        "# {} against {}\n\nA: {}, seeds {}. B: {}, seeds {}.\n\n{}",
        cell(&a.name),
        cell(&b.name),
        cell(&a.name),
        a.seeds,
        cell(&b.name),
        b.seeds,
        markdown(comparison)
    )
}

pub(crate) fn markdown(comparison: &Comparison) -> String {
    let mut text = "| cell | A violated | 95 % | B violated | 95 % | p | difference | only in A | \
                    only in B |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for pair in &comparison.pairs {
        text.push_str(&row(pair));
    }
    for (letter, cells) in [("A", &comparison.only_a), ("B", &comparison.only_b)] {
        if !cells.is_empty() {
            text.push_str(&format!("\nOnly in {letter}: {}\n", cell(&cells.join(", "))));
        }
    }
    if !comparison.settings.is_empty() {
        let settings: Vec<String> = comparison.settings.iter().map(setting).collect();
        text.push_str(&format!("\nSettings differ: {}\n", cell(&settings.join("; "))));
    }
    format!("{text}\n{}\n", reading(comparison))
}

fn row(pair: &Pair) -> String {
    let list = |only: &[Anomaly]| only.iter().map(anomaly).collect::<Vec<_>>().join(", ");
    let cells = [
        cell(&name(pair)),
        violated(&pair.a),
        interval(&pair.a),
        violated(&pair.b),
        interval(&pair.b),
        number(pair.p),
        pair.difference.words().to_owned(),
        list(&pair.only_a),
        list(&pair.only_b),
    ];
    format!("| {} |\n", cells.join(" | "))
}
