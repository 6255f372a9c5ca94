//! Places SVG elements at points in virtual time, with attributes by which a script can move them.

use fencepost_faults::Node;
use maud::Render;
use std::fmt::{Display, Write};

pub(crate) const STYLE: &str = include_str!("picture.css");

pub(crate) struct Canvas {
    pub(crate) out: String,
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Left edge in pixels.
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) extent: Extent,
    pub(crate) lane: Option<Node>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Extent {
    /// The picture contains the whole run, and a script can move the visible window.
    Run,
    Window,
}

#[derive(Clone, Copy)]
pub(crate) struct Area {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Upper edge in pixels, or the baseline of text.
    pub(crate) y: i32,
    pub(crate) height: i32,
}

impl Canvas {
    pub(crate) fn x(&self, at: u64) -> f64 {
        let width = self.right - self.left;
        let span = self.to.saturating_sub(self.from).max(1) as f64;
        let place = (at as f64 - self.from as f64) / span * width;
        self.left + place.clamp(-width, 2.0 * width)
    }

    fn shows(&self, from: u64, to: u64) -> bool {
        self.extent == Extent::Run || (from <= self.to && to >= self.from)
    }

    fn lane(&self) -> String {
        self.lane.map_or(String::new(), |node| format!(" data-node=\"{node}\""))
    }

    pub(crate) fn raw(&mut self, markup: impl Display) {
        let _ = write!(self.out, "{markup}");
    }

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

pub(crate) fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * 6.2
}

pub(crate) fn escaped(text: &str) -> String {
    let is_hidden = |letter: char| letter.is_control() && letter != '\n';
    text.replace(is_hidden, "\u{fffd}").as_str().render().into_string()
}
