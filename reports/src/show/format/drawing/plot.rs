use super::canvas::{STYLE, escaped, width_of};

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 880.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 366.0;
const TICKS: f64 = 6.0;

pub(crate) struct Plot {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) span: Span,
    pub(crate) series: Vec<Series>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) bands: Vec<Band>,
}

#[derive(Clone, Copy)]
pub(crate) enum Span {
    Shares,
    /// A logarithmic axis that starts at 1. Values below 1 are drawn at the bottom.
    Decades,
}

pub(crate) struct Axis {
    pub(crate) name: String,
    pub(crate) show: fn(f64) -> String,
}

pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<Point>,
    pub(crate) is_joined: bool,
}

pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) between: Option<(f64, f64)>,
}

pub(crate) struct Mark {
    pub(crate) x: f64,
    pub(crate) words: String,
}

pub(crate) struct Band {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) words: String,
}

impl Plot {
    pub(crate) fn svg(&self) -> String {
        let scale = self.scale();
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" role=\"img\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} \
             {HEIGHT}\"><title>{0}</title><style>{1}</style><rect class=\"paper\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\"/><text class=\"title\" x=\"8\" \
             y=\"24\">{0}</text><text class=\"subtitle\" x=\"8\" y=\"44\">{2}</text>\n",
            escaped(&self.title),
            escaped(STYLE),
            escaped(&self.subtitle)
        );
        for band in &self.bands {
            svg.push_str(&background(&scale, band));
        }
        self.axes(&scale, &mut svg);
        for (row, mark) in self.marks.iter().enumerate() {
            svg.push_str(&upright(&scale, mark, row));
        }
        for (number, series) in self.series.iter().enumerate() {
            svg.push_str(&line(&scale, series, number + 1));
        }
        svg.push_str(&self.legend());
        svg.push_str("</svg>\n");
        svg
    }

    fn scale(&self) -> Scale {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let across = points().map(|point| point.x).chain(self.marks.iter().map(|mark| mark.x));
        let across = across.chain(self.bands.iter().flat_map(|band| [band.from, band.to]));
        let (from, to) =
            across.fold((f64::MAX, f64::MIN), |(least, most), x| (least.min(x), most.max(x)));
        let highest = points().map(|point| point.y).fold(0.0, f64::max);
        let (from, to) = if from > to { (0.0, 1.0) } else { (from, to) };
        let to = if to > from { to } else { from + 1.0 };
        Scale { from, to, span: self.span, decades: highest.max(1.0).log10().max(0.1) * 1.02 }
    }

    fn axes(&self, scale: &Scale, svg: &mut String) {
        svg.push_str("<g class=\"axis\">");
        for x in ticks(scale.from, scale.to) {
            let (at, words) = (scale.x(x), escaped(&(self.x.show)(x)));
            svg.push_str(&format!(
                "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{BOTTOM}\"/>"
            ));
            svg.push_str(&format!("<text x=\"{at:.1}\" y=\"{}\">{words}</text>", BOTTOM + 16.0));
        }
        for y in scale.ticks() {
            let at_most = if matches!(self.span, Span::Decades) && y == 1.0 { "≤ " } else { "" };
            let (at, words) = (scale.y(y), format!("{at_most}{}", escaped(&(self.y.show)(y))));
            svg.push_str(&format!(
                "<line x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>"
            ));
            svg.push_str(&format!(
                "<text x=\"{}\" y=\"{:.1}\">{words}</text>",
                LEFT / 2.0,
                at + 4.0
            ));
        }
        let (middle, below) = ((LEFT + RIGHT) / 2.0, BOTTOM + 38.0);
        svg.push_str(&format!(
            "<text x=\"{middle}\" y=\"{below}\">{}</text>",
            escaped(&self.x.name)
        ));
        svg.push_str(&format!(
            "<text x=\"{}\" y=\"{}\">{}</text></g>\n",
            LEFT / 2.0,
            TOP - 10.0,
            escaped(&self.y.name)
        ));
    }

    fn legend(&self) -> String {
        let mut x = LEFT;
        let names = self.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty());
        let mut legend = String::new();
        for (number, series) in names {
            let class = number % 8 + 1;
            legend.push_str(&format!(
                "<g class=\"c{class}\"><rect x=\"{x:.1}\" y=\"{}\" width=\"14\" height=\"4\" \
                 fill=\"var(--own)\"/><text x=\"{:.1}\" y=\"{}\">{}</text></g>",
                HEIGHT - 12.0,
                x + 18.0,
                HEIGHT - 6.0,
                escaped(&series.name)
            ));
            x += width_of(&series.name) + 40.0;
        }
        legend
    }
}

struct Scale {
    from: f64,
    to: f64,
    span: Span,
    decades: f64,
}

impl Scale {
    fn x(&self, value: f64) -> f64 {
        LEFT + (value - self.from) / (self.to - self.from) * (RIGHT - LEFT)
    }

    fn y(&self, value: f64) -> f64 {
        let height = match self.span {
            Span::Shares => value,
            Span::Decades => value.max(1.0).log10() / self.decades,
        };
        BOTTOM - height.clamp(0.0, 1.0) * (BOTTOM - TOP)
    }

    fn ticks(&self) -> Vec<f64> {
        match self.span {
            Span::Shares => ticks(0.0, 1.0),
            Span::Decades => (0..=self.decades as i32).map(|power| 10_f64.powi(power)).collect(),
        }
    }
}

fn upright(scale: &Scale, mark: &Mark, row: usize) -> String {
    let (x, y) = (scale.x(mark.x), TOP - 6.0 - row as f64 * 12.0);
    let anchor = if x > (LEFT + RIGHT) / 2.0 { "end" } else { "start" };
    format!(
        "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{y}\" y2=\"{BOTTOM}\" stroke=\"var(--bad)\" \
         stroke-width=\"1.5\" stroke-dasharray=\"{}\"/><text class=\"name\" x=\"{x:.1}\" y=\"{}\" \
         text-anchor=\"{anchor}\"> {} </text>\n",
        if row == 0 { "6 3" } else { "2 3" },
        y,
        escaped(&mark.words)
    )
}

fn background(scale: &Scale, band: &Band) -> String {
    let (from, to) = (scale.x(band.from), scale.x(band.to));
    format!(
        "<rect x=\"{from:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{}\" \
         fill=\"var(--fault)\" fill-opacity=\".14\"><title>{}</title></rect>\n",
        (to - from).max(2.0),
        BOTTOM - TOP,
        escaped(&band.words)
    )
}

fn line(scale: &Scale, series: &Series, number: usize) -> String {
    let class = (number - 1) % 8 + 1;
    let mut svg = format!("<g class=\"c{class}\">");
    if series.is_joined {
        let points: Vec<String> = series
            .points
            .iter()
            .map(|point| format!("{:.1},{:.1}", scale.x(point.x), scale.y(point.y)))
            .collect();
        svg.push_str(&format!(
            "<polyline fill=\"none\" stroke=\"var(--own)\" stroke-width=\"2\" points=\"{}\"/>",
            points.join(" ")
        ));
    }
    for point in &series.points {
        let (x, y) = (scale.x(point.x), scale.y(point.y));
        if let Some((low, high)) = point.between {
            let (low, high) = (scale.y(low), scale.y(high));
            svg.push_str(&format!(
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{low:.1}\" \
             y2=\"{high:.1}\" stroke=\"var(--own)\" stroke-opacity=\".5\" stroke-width=\"3\"/>"
            ));
        }
        svg.push_str(&format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\" fill=\"var(--own)\"/>"
        ));
    }
    svg.push_str("</g>\n");
    svg
}

fn ticks(from: f64, to: f64) -> Vec<f64> {
    let least = (to - from) / TICKS;
    let mut power = 1e-6;
    while power * 10.0 <= least {
        power *= 10.0;
    }
    let step = [1.0, 2.0, 5.0].map(|factor| factor * power).into_iter().find(|step| *step >= least);
    let step = step.unwrap_or(power * 10.0);
    let (first, last) = ((from / step).ceil() as i64, (to / step).floor() as i64);
    (first..=last).map(|number| number as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::format::text::layout::percent;

    fn plot(points: &[(f64, f64)]) -> String {
        let points =
            points.iter().map(|(x, y)| Point { x: *x, y: *y, between: Some((0.0, 1.0)) }).collect();
        Plot {
            title: "a < b".to_owned(),
            subtitle: String::new(),
            x: Axis { name: "x".to_owned(), show: |value| format!("{value}") },
            y: Axis { name: "y".to_owned(), show: percent },
            span: Span::Shares,
            series: vec![Series { name: "one".to_owned(), points, is_joined: true }],
            marks: vec![Mark { x: 5.0, words: "bound".to_owned() }],
            bands: vec![Band { from: 1.0, to: 2.0, words: "c & d".to_owned() }],
        }
        .svg()
    }

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(ticks(0.0, 12.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
        assert_eq!(ticks(0.0, 1.0).len(), 6);
        assert_eq!(ticks(150.0, 950.0), [200.0, 400.0, 600.0, 800.0]);
    }

    #[test]
    fn a_plot_is_well_formed_and_shows_every_point() {
        for points in [&[(0.0, 0.2), (10.0, 0.9)][..], &[(3.0, 0.0)], &[]] {
            let svg = plot(points);
            let document = roxmltree::Document::parse(&svg).unwrap();
            let circles = document.descendants().filter(|node| node.has_tag_name("circle")).count();
            assert_eq!(circles, points.len());
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn powers_of_ten_are_equally_far_apart_and_what_is_below_one_stands_at_the_bottom() {
        let scale = Scale { from: 0.0, to: 1.0, span: Span::Decades, decades: 3.0 };
        let heights = [0.0, 1.0, 10.0, 100.0, 1_000.0].map(|value| BOTTOM - scale.y(value));
        let step = (BOTTOM - TOP) / 3.0;
        assert_eq!(
            heights.map(f64::round),
            [0.0, 0.0, step, 2.0 * step, BOTTOM - TOP].map(f64::round)
        );
        assert_eq!(scale.ticks(), [1.0, 10.0, 100.0, 1_000.0]);
    }
}
