//! Draws SVG pictures: a run as a space-time diagram, a sweep as a heat map, and numbers as a plot.

pub(crate) mod axis;
pub(crate) mod canvas;
pub(crate) mod glyphs;
pub(crate) mod heat_map;
pub(crate) mod messages;
pub(crate) mod plot;
pub(crate) mod space_time;
pub(crate) mod svg;
