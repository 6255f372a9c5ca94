//! SVG elements that stand at a time.
//!
//! Each element carries its times in `data-a` and `data-b` (true microseconds), so that a script
//! can move it when the window changes.

use fencepost_faults::Node;
use maud::Render;
use std::fmt::{Display, Write};

/// The look of every picture, alone and in pages.
pub(crate) const STYLE: &str = include_str!("picture.css");

/// What a window of time is drawn on.
pub(crate) struct Canvas {
    /// The elements so far.
    pub(crate) out: String,
    /// The left edge of the window, in true microseconds.
    pub(crate) from: u64,
    /// Its right edge; beyond the left one.
    pub(crate) to: u64,
    /// Where the window begins, in pixels.
    pub(crate) left: f64,
    /// Where it ends, in pixels.
    pub(crate) right: f64,
    /// What is drawn at all.
    pub(crate) extent: Extent,
    /// Whose lane is being drawn on, so that a script can hide it.
    pub(crate) lane: Option<Node>,
}

/// How much of a run is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Extent {
    /// All of it: a script can move the window.
    Run,
    /// What the window shows.
    Window,
}

/// A span of time on a canvas, and what of its height it takes.
#[derive(Clone, Copy)]
pub(crate) struct Area {
    /// When it begins.
    pub(crate) from: u64,
    /// When it ends.
    pub(crate) to: u64,
    /// Its upper edge, in pixels.
    pub(crate) y: i32,
    /// Its height, in pixels.
    pub(crate) height: i32,
}

impl Canvas {
    /// Where a time stands, in pixels; not beyond a window's width outside the window, so that no
    /// viewer meets huge numbers.
    pub(crate) fn x(&self, at: u64) -> f64 {
        let width = self.right - self.left;
        let span = self.to.saturating_sub(self.from).max(1) as f64;
        let place = (at as f64 - self.from as f64) / span * width;
        self.left + place.clamp(-width, 2.0 * width)
    }

    /// Whether something of this span is drawn.
    fn shows(&self, from: u64, to: u64) -> bool {
        self.extent == Extent::Run || (from <= self.to && to >= self.from)
    }

    /// The attribute that names the lane.
    fn lane(&self) -> String {
        self.lane.map_or(String::new(), |node| format!(" data-node=\"{node}\""))
    }

    /// Adds markup as it is.
    pub(crate) fn raw(&mut self, markup: impl Display) {
        let _ = write!(self.out, "{markup}");
    }

    /// A rectangle with a tooltip. It is never thinner than a pixel and a half: what happened is
    /// seen.
    pub(crate) fn bar(&mut self, area: Area, class: &str, title: &str) {
        if !self.shows(area.from, area.to) {
            return;
        }
        let (x, end) = (self.x(area.from), self.x(area.to));
        let width = (end - x).max(1.5);
        let Area { from, to, y, height } = area;
        let lane = self.lane();
        self.raw(format_args!(
            "<rect{lane} class=\"{class}\" data-a=\"{from}\" data-b=\"{to}\" x=\"{x:.1}\" \
             y=\"{y}\" width=\"{width:.1}\" height=\"{height}\"><title>{}</title></rect>",
            escaped(title)
        ));
    }

    /// Words inside a span: the first of the wordings that fits, from the longest to the shortest;
    /// none if none does.
    pub(crate) fn words(&mut self, area: Area, class: &str, wordings: &[&str]) {
        let Area { from, to, y, .. } = area;
        if !self.shows(from, to) {
            return;
        }
        let (x, end) = (self.x(from).max(self.left), self.x(to).min(self.right));
        let fitting = wordings.iter().find(|text| end - x >= width_of(text) + 12.0);
        let display = if fitting.is_some() { "" } else { " display=\"none\"" };
        let lane = self.lane();
        self.raw(format_args!(
            "<text{lane} class=\"{class}\" data-a=\"{from}\" data-b=\"{to}\" data-words=\"{}\" \
             x=\"{:.1}\" y=\"{y}\"{display}>{}</text>",
            escaped(&wordings.join("\n")).replace('\n', "&#10;"),
            x + 9.0,
            escaped(fitting.unwrap_or(&""))
        ));
    }

    /// A shape at one instant. `attributes` go onto the group as they are.
    pub(crate) fn mark(&mut self, at: u64, y: i32, attributes: &str, shape: &str) {
        if !self.shows(at, at) {
            return;
        }
        let x = self.x(at);
        self.raw(format_args!(
            "<g data-a=\"{at}\" data-y=\"{y}\" transform=\"translate({x:.1} {y})\" \
             {attributes}>{shape}</g>"
        ));
    }

    /// A slanted line from one instant and height to another.
    pub(crate) fn slant(
        &mut self,
        from: (u64, i32),
        to: (u64, i32),
        attributes: &str,
        title: &str,
    ) {
        if !self.shows(from.0, to.0) {
            return;
        }
        let (x1, x2) = (self.x(from.0), self.x(to.0));
        self.raw(format_args!(
            "<line data-a=\"{}\" data-b=\"{}\" x1=\"{x1:.1}\" y1=\"{}\" x2=\"{x2:.1}\" y2=\"{}\" \
             {attributes}><title>{}</title></line>",
            from.0,
            to.0,
            from.1,
            to.1,
            escaped(title)
        ));
    }

    /// A line through points.
    pub(crate) fn line(&mut self, points: &[(u64, i32)], class: &str) {
        let data: Vec<String> = points.iter().map(|(at, y)| format!("{at},{y}")).collect();
        let drawn: Vec<String> =
            points.iter().map(|(at, y)| format!("{:.1},{y}", self.x(*at))).collect();
        let lane = self.lane();
        self.raw(format_args!(
            "<polyline{lane} class=\"{class}\" data-points=\"{}\" points=\"{}\"/>",
            data.join(" "),
            drawn.join(" ")
        ));
    }
}

/// About how many pixels a text of 11 pixels takes.
pub(crate) fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * 6.2
}

/// Text that can stand in an element or in an attribute between double quotes.
pub(crate) fn escaped(text: &str) -> String {
    let is_hidden = |letter: char| letter.is_control() && letter != '\n';
    text.replace(is_hidden, "\u{fffd}").as_str().render().into_string()
}
