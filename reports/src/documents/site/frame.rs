//! Renders the frame of each page: a menu, and links to the start page and the search.

use super::path::between;
use super::{SCHEMAS, SEARCH};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("site.css");

const NAVIGATION: &[(&str, &[(&str, &str)])] = &[
    (
        "Use it",
        &[
            ("Start here", "index.html"),
            ("Reading a report", "docs/reading-a-report.html"),
            ("Glossary", "docs/glossary.html"),
            ("How it works", "docs/how-it-works.html"),
            ("Sweeps in CI", "docs/sweeps.html"),
            ("Options of a project", "docs/project-file.html"),
            ("Findings over months", "docs/findings.html"),
            ("Your own lock", "docs/add-your-lock.html"),
            ("A lock in Lua", "docs/lock-in-lua.html"),
            ("Your own program", "docs/own-programs.html"),
            ("Real servers", "docs/real-servers.html"),
            ("Simulated and real servers", "docs/reality.html"),
            ("A Redis that a test controls", "docs/commanded-redis.html"),
            ("Redis in your own simulation", "docs/turmoil.html"),
            ("Every plan within bounds", "docs/explore.html"),
            ("How faults are aimed", "docs/search.html"),
        ],
    ),
    (
        "What it found",
        &[
            ("Rates of the three locks", "docs/what-it-finds.html"),
            ("Gallery", "docs/gallery/index.html"),
            ("Matrix", "docs/matrix.html"),
            ("Matrix, every figure", "docs/data/matrix.json.html"),
            ("Availability", "docs/availability.html"),
            ("Protocols", "docs/protocols.html"),
            ("Which lock", "docs/which-lock.html"),
            ("Spring Integration", "docs/spring-integration.html"),
            ("Claims of the sources", "docs/sources.html"),
            ("Anomalies", "docs/anomalies.html"),
            ("Boundaries", "docs/boundaries.html"),
            ("Certificates", "docs/certificates.html"),
            ("Known bugs", "docs/known-bugs.html"),
            ("Smallest plans", "docs/minimal-plans.html"),
            ("Load", "docs/load.html"),
        ],
    ),
    (
        "Trust and limits",
        &[
            ("Fidelity", "docs/fidelity.html"),
            ("Mutants", "docs/mutants.html"),
            ("Reliability", "docs/reliability.html"),
            ("Speed", "docs/speed.html"),
            ("Security", "SECURITY.html"),
        ],
    ),
    (
        "Work on it",
        &[
            ("Schemas", SCHEMAS),
            ("Architecture", "ARCHITECTURE.html"),
            ("Contributing", "CONTRIBUTING.html"),
            ("Changes", "CHANGELOG.html"),
        ],
    ),
];

pub(super) fn framed(out: &str, title: &str, body: &Markup) -> Vec<u8> {
    page(out, title, body, "", &html! {})
}

/// Renders a page with the site's frame. `scripts` is the `script-src` directive of the page's
/// content security policy; an empty string forbids scripts.
pub(super) fn page(
    out: &str,
    title: &str,
    body: &Markup,
    scripts: &str,
    after: &Markup,
) -> Vec<u8> {
    let policy = format!(
        "default-src 'none'; {scripts}style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
         form-action 'none'"
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="icon" href="data:,";
                title { (title) " · fencepost" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    a.home href=(between(out, "index.html")) { "fencepost" }
                    a href=(between(out, SEARCH)) { "Search" }
                    a.to-pages href="#pages" { "All pages" }
                }
                main { (body) }
                (navigation(out))
                (after)
            }
        }
    };
    (page.into_string() + "\n").into_bytes()
}

fn navigation(out: &str) -> Markup {
    html! {
        nav id="pages" aria-label="Pages" {
            @for (group, pages) in NAVIGATION {
                p { (group) }
                ul {
                    @for (name, page) in *pages {
                        li {
                            a
                                href=(between(out, page))
                                aria-current=[(*page == out).then_some("page")]
                            {
                                (name)
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
pub(super) fn leads_to() -> impl Iterator<Item = &'static str> {
    NAVIGATION.iter().flat_map(|(_, pages)| pages.iter().map(|(_, page)| *page))
}
