//! Renders the search page. It searches the other pages in the browser, without a server.

use super::frame;
use super::markdown::Page;
use crate::record::visible::visible_json;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{PreEscaped, html};
use serde::Serialize;
use sha2::{Digest, Sha256};

const SCRIPT: &str = include_str!("search.js");

#[derive(Serialize)]
struct Found<'p> {
    page: &'p str,
    heading: &'p str,
    href: String,
    text: &'p str,
}

pub(super) fn page(out: &str, pages: &[&Page]) -> Vec<u8> {
    let sections = pages.iter().flat_map(|page| {
        page.sections.iter().map(|section| Found {
            page: &page.title,
            heading: &section.heading,
            href: match &*section.anchor {
                "" => page.out.clone(),
                anchor => format!("{}#{anchor}", page.out),
            },
            text: section.text.trim(),
        })
    });
    let index: Vec<Found<'_>> =
        sections.filter(|one| !(one.heading.is_empty() && one.text.is_empty())).collect();
    let json = serde_json::to_string(&index).unwrap_or_default();
    let json = visible_json(&json).replace('<', "\\u003c");
    let hash = BASE64_STANDARD.encode(Sha256::digest(SCRIPT));
    let body = html! {
        h1 { "Search" }
        p {
            label for="words" { "Search for pages with all these words" }
            input id="words" type="search" autocomplete="off";
        }
        p id="count" role="status" { "Searching needs JavaScript." }
        ol id="found" {}
    };
    let after = html! {
        script type="application/json" id="index" { (PreEscaped(json)) }
        script { (PreEscaped(SCRIPT)) }
    };
    frame::page(out, "Search", &body, &format!("script-src 'sha256-{hash}'; "), &after)
}
