use super::text::{fired, size};
use super::{Certificate, LeftOut, Runs, Slice, StatedBounds};
use crate::show::format::html::page::{heads, page};
use maud::{Markup, html};

pub(super) fn html(certificate: &Certificate) -> String {
    let json = serde_json::to_string(certificate).unwrap_or_default();
    let bounds = &certificate.bounds;
    let title = format!("fencepost: {} under {}, certified", bounds.client, bounds.fault);
    page(&title, &body(certificate), &json)
}

fn body(certificate: &Certificate) -> Markup {
    let (tool, bounds) = (&certificate.tool, &certificate.bounds);
    html! {
        header.top {
            p.muted { (tool.name) " " (tool.version) " · certificate" }
            h1 { (bounds.client) " under " (bounds.fault) ", " (size(bounds)) }
            p.lead { (certificate.claim) }
            p { (certificate.not_covered) }
        }
        main {
            (runs(&certificate.runs, &certificate.left_out))
            (conditions(bounds))
            (slices(certificate))
        }
        footer {
            p { "The certificate is in this page as JSON, in the element " code { "#report" } "." }
        }
    }
}

pub(super) fn conditions(bounds: &StatedBounds) -> Markup {
    html! {
        h2 { "Conditions" }
        ul { @for condition in &bounds.conditions { li { (condition) } } }
    }
}

pub(super) fn runs(runs: &Runs, out: &LeftOut) -> Markup {
    let [none, one, two] = runs.by_faults;
    let delays = runs.by_delays.map(|[_, one, two]| {
        [("with one delayed message", one), ("with two delayed messages", two)]
    });
    let same_order = out
        .same_order_plans
        .map(|plans| ("not extended: another plan has the same order of messages", plans));
    let counts = [
        ("runs", runs.all),
        ("without a fault", none),
        ("with one fault", one),
        ("with two faults", two),
        ("valid", runs.valid),
        ("unknown", runs.unknown),
        ("violated", runs.violated),
        (fired(runs), runs.fired),
        ("at least two processes acquired the lock", runs.contended),
        ("left out: equivalent start times", out.gap_places),
        ("left out: plans whose last fault has no effect", out.idle_plans),
        ("left out: impossible plans", out.colliding_plans),
    ];
    let counts = counts.into_iter().chain(delays.into_iter().flatten()).chain(same_order);
    html! {
        table {
            caption { "Plans that were run, and plans that were left out" }
            tbody {
                @for (name, count) in counts { tr { th scope="row" { (name) } td { (count) } } }
            }
        }
    }
}

fn slices(certificate: &Certificate) -> Markup {
    html! {
        h2 { "Parts" }
        p { "Digest of all: " code { (certificate.digest) } }
        div.scroll tabindex="0" role="group" aria-label="Slices of the work" {
            table {
                (heads(&["faults", "delays", "units", "runs", "digest"]))
                tbody { @for slice in &certificate.slices { (row(slice)) } }
            }
        }
    }
}

fn row(slice: &Slice) -> Markup {
    html! {
        tr {
            td { (slice.faults) }
            td { (slice.delays) }
            td { (slice.from) ".." (slice.to) }
            td { (slice.runs) }
            td { code { (slice.digest) } }
        }
    }
}
