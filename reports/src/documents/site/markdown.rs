//! Renders Markdown as the body of a page, with anchors like those of GitHub.

use super::Entry;
use super::path::{between, file_in_site, folder_in_site, resolved};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{Markup, PreEscaped};
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Page {
    pub(super) out: String,
    pub(super) title: String,
    pub(super) body: Markup,
    pub(super) headings: BTreeSet<String>,
    pub(super) links: Vec<Link>,
    pub(super) sections: Vec<Section>,
}

pub(super) struct Link {
    pub(super) path: Option<String>,
    pub(super) heading: String,
    pub(super) written: String,
}

pub(super) struct Section {
    pub(super) heading: String,
    pub(super) anchor: String,
    pub(super) text: String,
}

type Repository<'r> = &'r dyn Fn(&str) -> Option<Entry>;

impl Page {
    pub(super) fn of(path: &str, body: Markup) -> Page {
        let body = maud::html! { h1 { (path) } (body) };
        Page {
            out: file_in_site(path),
            title: path.to_owned(),
            body,
            headings: BTreeSet::new(),
            links: Vec::new(),
            sections: Vec::new(),
        }
    }
}

impl Link {
    pub(super) fn to(path: String) -> Link {
        Link { path: Some(path.clone()), heading: String::new(), written: path }
    }

    /// Returns the link's path in the site. Files that are not rendered keep their paths.
    pub(super) fn in_site(&self, repository: Repository<'_>) -> String {
        let path = self.path.as_deref().unwrap_or_default();
        match repository(path) {
            Some(Entry::Folder(names)) if names.iter().any(|name| name == "README.md") => {
                file_in_site(&format!("{path}/README.md"))
            }
            Some(Entry::Folder(_)) => folder_in_site(path),
            Some(Entry::File(bytes)) if std::str::from_utf8(&bytes).is_err() => path.to_owned(),
            _ => file_in_site(path),
        }
    }
}

pub(super) fn markdown(path: &str, text: &str, repository: Repository<'_>) -> Page {
    let mut writer = Writer::new(path, repository);
    let events = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    let events: Vec<Event<'_>> = events.collect();
    let mut at = 0;
    while at < events.len() {
        at += writer.event(&events[at..]);
    }
    let mut body = String::new();
    pulldown_cmark::html::push_html(&mut body, writer.out.into_iter());
    let title = writer.sections.iter().find(|section| !section.anchor.is_empty());
    Page {
        out: file_in_site(path),
        title: title.map_or(path.to_owned(), |section| section.heading.clone()),
        body: PreEscaped(body),
        headings: writer.headings.into_keys().collect(),
        links: writer.links,
        sections: writer.sections,
    }
}

struct Writer<'t, 'r> {
    path: &'r str,
    repository: Repository<'r>,
    out: Vec<Event<'t>>,
    headings: BTreeMap<String, u32>,
    links: Vec<Link>,
    sections: Vec<Section>,
    /// `true` inside a code block, whose text the search index omits.
    is_in_code: bool,
}

impl<'t, 'r> Writer<'t, 'r> {
    fn new(path: &'r str, repository: Repository<'r>) -> Writer<'t, 'r> {
        let top = Section { heading: String::new(), anchor: String::new(), text: String::new() };
        Writer {
            path,
            repository,
            out: Vec::new(),
            headings: BTreeMap::new(),
            links: Vec::new(),
            sections: vec![top],
            is_in_code: false,
        }
    }

    fn event(&mut self, events: &[Event<'t>]) -> usize {
        match &events[0] {
            Event::Start(Tag::Heading { .. }) => return self.heading(events),
            Event::Start(Tag::CodeBlock(_)) => {
                self.is_in_code = true;
                self.html("<pre tabindex=\"0\"><code>".to_owned());
            }
            Event::End(TagEnd::CodeBlock) => {
                self.is_in_code = false;
                self.html("</code></pre>\n".to_owned());
            }
            Event::Start(Tag::Table(_)) => {
                let around =
                    "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">";
                self.html(around.to_owned());
                self.out.push(events[0].clone());
            }
            Event::End(TagEnd::Table) => {
                self.out.push(events[0].clone());
                self.html("</div>\n".to_owned());
            }
            // A screen reader would announce an empty header cell, so make it a data cell.
            Event::Start(Tag::TableCell)
                if events.get(1) == Some(&Event::End(TagEnd::TableCell)) =>
            {
                self.html("<td></td>".to_owned());
                return 2;
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let (link_type, title, id) = (*link_type, title.clone(), id.clone());
                let dest_url = self.link(dest_url);
                self.out.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
            }
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                let (link_type, title, id) = (*link_type, title.clone(), id.clone());
                let dest_url = self.picture(dest_url);
                self.out.push(Event::Start(Tag::Image { link_type, dest_url, title, id }));
            }
            Event::Html(text) | Event::InlineHtml(text) => self.out.push(Event::Text(text.clone())),
            other => {
                self.found(other);
                self.out.push(other.clone());
            }
        }
        1
    }

    fn html(&mut self, html: String) {
        self.out.push(Event::Html(html.into()));
    }

    fn found(&mut self, event: &Event<'_>) {
        let Some(section) = self.sections.last_mut() else { return };
        match event {
            Event::Text(text) | Event::Code(text) if !self.is_in_code => {
                section.text.push_str(text);
            }
            Event::SoftBreak
            | Event::HardBreak
            | Event::End(TagEnd::Paragraph | TagEnd::TableCell | TagEnd::Item) => {
                section.text.push(' ');
            }
            _ => {}
        }
    }

    fn heading(&mut self, events: &[Event<'t>]) -> usize {
        let is_end = |event: &Event<'_>| matches!(event, Event::End(TagEnd::Heading(_)));
        let length = events.iter().position(is_end).unwrap_or(events.len() - 1) + 1;
        let mut words = String::new();
        for event in &events[1..length] {
            if let Event::Text(text) | Event::Code(text) = event {
                words.push_str(text);
            }
        }
        let anchor = self.anchor(&words);
        if let Event::Start(Tag::Heading { level, classes, attrs, .. }) = &events[0] {
            let (id, classes, attrs) =
                (Some(anchor.clone().into()), classes.clone(), attrs.clone());
            self.out.push(Event::Start(Tag::Heading { level: *level, id, classes, attrs }));
        }
        self.sections.push(Section { heading: words, anchor, text: String::new() });
        let mut at = 1;
        while at < length {
            at += self.event(&events[at..length]);
        }
        if let Some(section) = self.sections.last_mut() {
            section.text.clear();
        }
        length
    }

    fn anchor(&mut self, words: &str) -> String {
        let letters = words.trim().to_lowercase();
        let kept =
            letters.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        let slug: String = kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect();
        let before = self.headings.get(&slug).copied();
        self.headings.insert(slug.clone(), before.map_or(0, |count| count + 1));
        let Some(before) = before else { return slug };
        let numbered = format!("{slug}-{}", before + 1);
        self.headings.insert(numbered.clone(), 0);
        numbered
    }

    fn link(&mut self, written: &CowStr<'t>) -> CowStr<'t> {
        if is_elsewhere(written) {
            return written.clone();
        }
        let (file, heading) = written.split_once('#').unwrap_or((written, ""));
        let path = match file {
            "" => Some(self.path.to_owned()),
            file => resolved(self.path, file),
        };
        let link = Link { path, heading: heading.to_owned(), written: written.to_string() };
        let mut href = between(&file_in_site(self.path), &link.in_site(self.repository));
        if !heading.is_empty() {
            href += &format!("#{heading}");
        }
        self.links.push(link);
        href.into()
    }

    fn picture(&mut self, written: &CowStr<'t>) -> CowStr<'t> {
        let path = resolved(self.path, written);
        let bytes = path.as_deref().and_then(|path| match (self.repository)(path)? {
            Entry::File(bytes) => Some(bytes),
            Entry::Folder(_) => None,
        });
        let kind = if written.ends_with(".svg") { "svg+xml" } else { "png" };
        let Some(bytes) = bytes else {
            let path = None;
            self.links.push(Link { path, heading: String::new(), written: written.to_string() });
            return written.clone();
        };
        format!("data:image/{kind};base64,{}", BASE64_STANDARD.encode(bytes)).into()
    }
}

fn is_elsewhere(link: &str) -> bool {
    ["https://", "http://", "mailto:"].iter().any(|scheme| link.starts_with(scheme))
}
