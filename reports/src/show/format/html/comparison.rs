use super::page::{heads, page};
use crate::show::format::text::comparison::{
    anomaly, interval, name, number, reading, setting, violated,
};
use crate::summary::sweep::{Anomaly, Comparison, Difference, Pair};
use maud::{Markup, html};

pub(crate) fn html(comparison: &Comparison) -> String {
    let json = serde_json::to_string(comparison).unwrap_or_default();
    let (a, b, tool) = (&comparison.a, &comparison.b, &comparison.tool);
    let title = format!("fencepost: {} against {}", a.name, b.name);
    let body = html! {
        header.top {
            p.muted { (tool.name) " " (tool.version) " · comparison" }
            h1 { (a.name) " against " (b.name) }
            @for (letter, side) in [("A", a), ("B", b)] {
                p {
                    (letter) ": " (side.name) ", seeds " (maud::display(&side.seeds))
                    @if !side.complete { ", incomplete: not all seeds were run" }
                }
            }
        }
        main { (section(comparison)) }
        footer {
            p { "The comparison is in this page as JSON, in the element " code { "#report" } "." }
        }
    };
    page(&title, &body, &json)
}

pub(crate) fn section(comparison: &Comparison) -> Markup {
    let names = [
        "cell", "A violated", "95 %", "B violated", "95 %", "p", "difference", "only in A",
        "only in B",
    ];
    html! {
        section.cell {
            div.scroll tabindex="0" role="group" aria-label="Comparison" {
                table {
                    caption { "A: " (comparison.a.name) ". B: " (comparison.b.name) "." }
                    (heads(&names))
                    tbody { @for pair in &comparison.pairs { (row(pair)) } }
                }
            }
            @for (letter, cells) in [("A", &comparison.only_a), ("B", &comparison.only_b)] {
                @if !cells.is_empty() { p { "Only in " (letter) ": " (cells.join(", ")) } }
            }
            @if !comparison.settings.is_empty() {
                p { "Settings differ:" }
                ul { @for one in &comparison.settings { li { (setting(one)) } } }
            }
            p.muted { (reading(comparison)) }
        }
    }
}

fn row(pair: &Pair) -> Markup {
    let list = |only: &[Anomaly]| only.iter().map(anomaly).collect::<Vec<_>>().join(", ");
    html! {
        tr {
            td { (name(pair)) }
            td { (violated(&pair.a)) }
            td { (interval(&pair.a)) }
            td { (violated(&pair.b)) }
            td { (interval(&pair.b)) }
            td { @if pair.difference != Difference::NotExercised { (number(pair.p)) } }
            td { (pair.difference.words()) }
            td { (list(&pair.only_a)) }
            td { (list(&pair.only_b)) }
        }
    }
}
