use crate::record::visible::{visible_in, visible_json};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::io::{self, Write};

/// Writes documents of one type in one format.
pub struct View<T: Clone + 'static> {
    /// The value for `--format`.
    pub name: &'static str,
    writer: Writer<T>,
    /// Escapes the strings of a document. `None` if the writer escapes them itself.
    sanitise: Option<Sanitise<T>>,
}

type Sanitise<T> = fn(&T) -> serde_json::Result<Cow<'_, T>>;

enum Writer<T: 'static> {
    Text(fn(&T) -> String),
    Lines(fn(Page, &T, &mut dyn Write) -> io::Result<()>),
}

impl<T> Clone for Writer<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Writer<T> {}

impl<T: Clone> Clone for View<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Clone> Copy for View<T> {}

impl<T: Clone + Serialize + DeserializeOwned> View<T> {
    pub const JSON: View<T> = View { name: "json", writer: Writer::Text(json), sanitise: None };

    /// Creates a view that escapes the strings of a document before it calls `write`.
    pub const fn new(name: &'static str, write: fn(&T) -> String) -> View<T> {
        View { name, writer: Writer::Text(write), sanitise: Some(visible_in) }
    }

    pub(crate) const fn written(
        name: &'static str,
        write: fn(Page, &T, &mut dyn Write) -> io::Result<()>,
    ) -> View<T> {
        View { name, writer: Writer::Lines(write), sanitise: Some(visible_in) }
    }

    pub(crate) const fn escaping(
        name: &'static str,
        write: fn(Page, &T, &mut dyn Write) -> io::Result<()>,
    ) -> View<T> {
        View { name, writer: Writer::Lines(write), sanitise: None }
    }
}

impl<T: Clone> View<T> {
    pub fn write(&self, document: &T) -> io::Result<String> {
        let mut text = Vec::new();
        self.write_in(Page::default(), document, &mut text)?;
        String::from_utf8(text).map_err(io::Error::other)
    }

    pub fn write_in(&self, page: Page, document: &T, out: &mut dyn Write) -> io::Result<()> {
        let shown =
            self.sanitise.map_or(Ok(Cow::Borrowed(document)), |visible| visible(document))?;
        match self.writer {
            Writer::Text(write) => out.write_all(write(&shown).as_bytes()),
            Writer::Lines(write) => write(page, &shown, out),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    /// Width in columns.
    pub width: usize,
    pub detail: Detail,
}

impl Page {
    pub const WIDTHS: std::ops::RangeInclusive<usize> = 60..=100;

    pub fn of_width(columns: usize, detail: Detail) -> Page {
        let (min, max) = (*Page::WIDTHS.start(), *Page::WIDTHS.end());
        Page { width: columns.clamp(min, max), detail }
    }
}

impl Default for Page {
    fn default() -> Page {
        Page { width: *Page::WIDTHS.end(), detail: Detail::Brief }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// The first screen, with the verdicts and a story for each cause.
    Brief,
    Full,
}
fn json<T: Serialize>(document: &T) -> String {
    let text = serde_json::to_string_pretty(document).unwrap_or_default();
    format!("{}\n", visible_json(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEWS: &[View<String>] = &[View::new("text", |text| format!("{text}\n")), View::JSON];

    #[test]
    fn what_is_written_in_pieces_is_given_the_page_and_visible_names() {
        let hostile = "a\nb".to_owned();
        let echo =
            |page: Page, text: &String, out: &mut dyn Write| write!(out, "{} {text}", page.width);
        let written = |view: View<String>, page: Page| {
            let mut out = Vec::new();
            view.write_in(page, &hostile, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let page = Page::of_width(72, Detail::Full);
        assert_eq!(written(View::written("lines", echo), page), "72 a\\nb");
        assert_eq!(written(View::escaping("own", echo), page), "72 a\nb", "it escapes by itself");
        assert_eq!(View::written("lines", echo).write(&hostile).unwrap(), "100 a\\nb");
    }

    #[test]
    fn a_page_is_as_wide_as_the_terminal_within_bounds() {
        let width = |columns| Page::of_width(columns, Detail::Brief).width;
        assert_eq!([40, 60, 72, 100, 300].map(width), [60, 60, 72, 100, 100]);
        assert_eq!(Page::default().width, 100);
    }

    #[test]
    fn a_hostile_name_cannot_begin_a_line_or_move_the_cursor() {
        for view in VIEWS {
            let written = view.write(&"a\nb\u{1b}[2J".to_owned()).unwrap();
            assert_eq!(written.matches('\n').count(), 1, "{}: {written:?}", view.name);
            assert!(!written.contains('\u{1b}'), "{}: {written:?}", view.name);
        }
    }
}
