//! The parts that all pages share, such as the style and the script.

use crate::record::visible::visible_json;
use crate::show::format::drawing::canvas::Extent;
use base64::prelude::{BASE64_STANDARD, Engine};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

const SCRIPT: &str = include_str!("page.js");
const STYLE: &str = include_str!("page.css");

#[derive(Clone, Copy)]
pub(crate) struct PageContent {
    pub(crate) messages_max: usize,
    pub(crate) extent: Extent,
    pub(crate) histories: bool,
}

pub(crate) fn page(title: &str, body: &Markup, json: &str) -> String {
    // In a script element, only `<` can begin markup.
    let json = visible_json(json).replace('<', "\\u003c");
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(crate::show::format::drawing::canvas::STYLE)) (PreEscaped(STYLE)) }
            }
            body {
                (body)
                script type="application/json" id="report" { (PreEscaped(json)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string() + "\n"
}

pub(crate) fn heads(names: &[&str]) -> Markup {
    html! {
        thead {
            tr {
                @for name in names {
                    @if name.is_empty() { td {} } @else { th scope="col" { (name) } }
                }
            }
        }
    }
}

/// Returns a content security policy that blocks injected scripts, in case a name is not escaped.
fn policy() -> String {
    let script = BASE64_STANDARD.encode(Sha256::digest(SCRIPT));
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'unsafe-inline'; img-src \
         data:; base-uri 'none'; form-action 'none'"
    )
}
