use super::axis;
use super::canvas::{Area, Canvas, Extent, escaped};
use super::glyphs::{colour, glyph};
use crate::show::format::text::plan_text;
use crate::show::picture::{FaultBar, Glyph, HolderSpan, Scene};
use crate::summary::report::RunReport;
use fencepost_faults::{Fault, Impact, Micros, Node};
use std::collections::BTreeMap;

pub(crate) const GUTTER: i32 = 84;
const TOP: i32 = 66;
const STRIP_Y: i32 = 28;
const STRIP_HEIGHT: i32 = 26;
const CLOCK_HEIGHT: i32 = 26;

pub(crate) struct Drawing<'r> {
    pub(crate) run: &'r RunReport,
    pub(crate) scene: &'r Scene,
    /// Prefix of element ids: empty for the first run of a report, `r2-` for the second.
    pub(crate) prefix: &'r str,
    pub(crate) focus: usize,
    pub(crate) width: i32,
    pub(crate) extent: Extent,
    pub(crate) messages_max: usize,
}

#[derive(Clone, Copy)]
pub(crate) struct Place {
    y: i32,
    height: i32,
    clock: Option<i32>,
}

impl Place {
    pub(crate) fn middle(self) -> i32 {
        self.y + self.height / 2
    }
}

pub(crate) type Places = BTreeMap<Node, Place>;

fn places(scene: &Scene) -> (Places, i32) {
    let mut places = Places::new();
    let mut y = TOP;
    for lane in &scene.lanes {
        let height = match lane.node {
            Node::Client(_) | Node::Thread { .. } => 50,
            Node::Storage | Node::Redis(_) | Node::Server(_) => 42,
            Node::Probe | Node::Sentinel(_) => 30,
        };
        let clock = scene.clocks.iter().any(|line| line.node == lane.node).then_some(y + height);
        places.insert(lane.node, Place { y, height, clock });
        y += height + if clock.is_some() { CLOCK_HEIGHT } else { 0 } + 4;
    }
    (places, y)
}

pub(crate) fn height(scene: &Scene) -> i32 {
    places(scene).1 + 4
}

impl Drawing<'_> {
    pub(crate) fn body(&self) -> String {
        let (places, bottom) = places(self.scene);
        let focus = &self.scene.focuses[self.focus];
        let (left, right) = (f64::from(GUTTER), f64::from(self.width - 8));
        let mut canvas = Canvas {
            out: String::new(),
            from: focus.from,
            to: focus.to.max(focus.from + 1),
            left,
            right,
            extent: self.extent,
            lane: None,
        };
        self.frame(&places, bottom, &mut canvas);
        canvas.raw(format_args!("<g clip-path=\"url(#{}clip)\">", self.prefix));
        self.clashes(&places, &mut canvas);
        self.messages(&places, &mut canvas);
        self.strip(&mut canvas);
        self.spans(&places, &mut canvas);
        self.faults(&places, &mut canvas);
        self.clocks(&places, &mut canvas);
        canvas.lane = None;
        self.marks(&places, &mut canvas);
        self.badges(&places, &mut canvas);
        canvas.raw("</g>");
        canvas.out
    }

    fn frame(&self, places: &Places, bottom: i32, canvas: &mut Canvas) {
        let (prefix, inner) = (self.prefix, self.width - GUTTER - 8);
        canvas.raw(format_args!(
            "<defs><clipPath id=\"{prefix}clip\"><rect class=\"window\" x=\"{GUTTER}\" y=\"0\" \
             width=\"{inner}\" height=\"{bottom}\"/></clipPath></defs>"
        ));
        let name_y = STRIP_Y + STRIP_HEIGHT / 2 + 4;
        canvas.raw(format_args!("<text class=\"name strong\" x=\"4\" y=\"{name_y}\">holds</text>"));
        for (node, place) in places {
            let Place { y, height, .. } = *place;
            let middle = place.middle() + 4;
            let is_client = matches!(node.machine(), Node::Client(_));
            let owner = if is_client { format!(" {}", colour(Some(*node))) } else { String::new() };
            canvas.raw(format_args!(
                "<rect class=\"lane\" data-node=\"{node}\" x=\"{GUTTER}\" y=\"{y}\" \
                 width=\"{inner}\" height=\"{height}\"/><text class=\"name{owner}\" \
                 data-node=\"{node}\" x=\"4\" y=\"{middle}\">{node}</text>"
            ));
        }
        axis::draw(canvas, bottom);
    }

    fn clashes(&self, places: &Places, canvas: &mut Canvas) {
        let lowest = places.iter().filter(|(node, _)| matches!(node.machine(), Node::Client(_)));
        let end = lowest.map(|(_, place)| place.y + place.height).max().unwrap_or(TOP);
        for held in self.scene.overlaps() {
            let area = Area { from: held.from, to: held.to, y: STRIP_Y, height: end - STRIP_Y };
            canvas.bar(area, "clash", &label(held));
        }
    }

    fn strip(&self, canvas: &mut Canvas) {
        for held in &self.scene.strip {
            let area = Area { from: held.from, to: held.to, y: STRIP_Y, height: STRIP_HEIGHT };
            let (class, text) = match held.who.as_slice() {
                [one] => (format!("held {}", colour(Some(*one))), one.to_string()),
                _ => ("held both".to_owned(), label(held)),
            };
            canvas.bar(area, &class, &label(held));
            let words = Area { y: STRIP_Y + 17, ..area };
            let length = format!("BOTH {}", Micros(held.to - held.from));
            match held.who.len() {
                1 => canvas.words(words, "inside", &[&text]),
                _ => canvas.words(words, "inside loud", &[&text, &length, "BOTH", "2"]),
            }
        }
    }

    fn spans(&self, places: &Places, canvas: &mut Canvas) {
        for span in &self.scene.believed {
            let Some(place) = places.get(&span.node) else { continue };
            canvas.lane = Some(span.node);
            let area =
                Area { from: span.from, to: span.to, y: place.y + 9, height: place.height - 18 };
            let length = Micros(span.to - span.from);
            let title = format!(
                "{} believes that it holds the lock for {length}, {}",
                span.node, span.ending
            );
            canvas.bar(area, &format!("believed {}", colour(span.owner)), &title);
            canvas.words(
                Area { y: place.middle() + 4, ..area },
                "inside",
                &[&format!("holds {length}"), "holds"],
            );
        }
        for span in &self.scene.keys {
            let Some(place) = places.get(&span.node) else { continue };
            canvas.lane = Some(span.node);
            let area =
                Area { from: span.from, to: span.to, y: place.y + 12, height: place.height - 24 };
            let owner = span.owner.map_or("somebody".to_owned(), |owner| owner.to_string());
            let copy = if span.is_copy { " copy" } else { "" };
            let title = format!(
                "{} has the lock of {owner} for {}, {}",
                span.node,
                Micros(span.to - span.from),
                span.ending
            );
            canvas.bar(area, &format!("key{copy} {}", colour(span.owner)), &title);
            canvas.words(
                Area { y: place.middle() + 4, ..area },
                "beside",
                &[&format!("lock of {owner}"), &owner],
            );
        }
    }

    fn faults(&self, places: &Places, canvas: &mut Canvas) {
        for fault in &self.scene.faults {
            let words = self.fault_words(fault);
            let lanes = |machine| places.iter().filter(move |(node, _)| node.machine() == machine);
            for (node, place) in fault.nodes.iter().flat_map(|machine| lanes(*machine)) {
                canvas.lane = Some(*node);
                let stops = matches!(fault.kind.impact(), Impact::Freezes | Impact::Kills);
                let (class, y, height) = match stops {
                    true => ("still", place.y, place.height),
                    false if fault.from == fault.to => ("link-fault", place.y, place.height),
                    false => ("link-fault", place.y, 3),
                };
                canvas.bar(Area { from: fault.from, to: fault.to, y, height }, class, &words);
                // An instantaneous fault has no width, so its label may extend over one second.
                let to = if fault.to == fault.from { fault.from + 1_000_000 } else { fault.to };
                let y = if stops { place.y + 8 } else { place.y + place.height - 2 };
                let label = self.label(fault, node.machine());
                canvas.words(
                    Area { from: fault.from, to, y, height },
                    "fault",
                    &[&label, fault.kind.name()],
                );
            }
        }
    }

    fn label(&self, fault: &FaultBar, machine: Node) -> String {
        let planned = self.run.plan.faults.iter().find(|timed| timed.id == fault.id);
        match planned.map(|timed| &timed.fault) {
            Some(Fault::Partition { side_a, .. }) => {
                let side = if side_a.contains(&machine) { 'A' } else { 'B' };
                format!("partition, side {side}")
            }
            Some(planned) => match planned.duration() {
                Some(duration) => format!("{} for {duration}", fault.kind),
                None => fault.kind.to_string(),
            },
            None => fault.kind.to_string(),
        }
    }

    pub(crate) fn fault_words(&self, fault: &FaultBar) -> String {
        let planned = self.run.plan.faults.iter().find(|timed| timed.id == fault.id);
        let words = planned.map_or(fault.kind.to_string(), |timed| plan_text::fault(&timed.fault));
        format!("fault {}: {words}", fault.id)
    }

    fn clocks(&self, places: &Places, canvas: &mut Canvas) {
        for line in &self.scene.clocks {
            let Some(y) = places.get(&line.node).and_then(|place| place.clock) else { continue };
            canvas.lane = Some(line.node);
            let most =
                line.points.iter().map(|(_, error)| error.unsigned_abs()).max().unwrap_or(0).max(1);
            let middle = y + CLOCK_HEIGHT / 2;
            canvas.words(
                Area { from: 0, to: self.scene.end, y: y + 9, height: 0 },
                "small",
                &["wall clock error"],
            );
            let half = i128::from(CLOCK_HEIGHT / 2 - 3);
            let level = |error: i64| {
                middle - i32::try_from(i128::from(error) * half / i128::from(most)).unwrap_or(0)
            };
            canvas.bar(
                Area { from: 0, to: self.scene.end, y: middle, height: 1 },
                "true-time",
                "true time",
            );
            let points: Vec<(u64, i32)> =
                line.points.iter().map(|(at, error)| (*at, level(*error))).collect();
            canvas.line(&points, "clock");
            for pair in line.points.windows(2) {
                let ((from, _), (to, error)) = (pair[0], pair[1]);
                if error != 0 && from < to {
                    let sign = if error < 0 { "−" } else { "+" };
                    let words =
                        format!("wall clock {sign}{} by here", Micros(error.unsigned_abs()));
                    let label =
                        if pair[0].1 == error { words.replace(" by here", "") } else { words };
                    canvas.words(
                        Area { from, to, y: y + CLOCK_HEIGHT - 3, height: 0 },
                        "fault",
                        &[&label],
                    );
                }
            }
        }
    }

    fn marks(&self, places: &Places, canvas: &mut Canvas) {
        for mark in &self.scene.marks {
            let Some(place) = places.get(&mark.node) else { continue };
            let (class, shape) = glyph(mark.glyph);
            let witness = if mark.is_witness { " witness" } else { "" };
            let attributes = format!(
                "class=\"mark {class} {}{witness}\" id=\"{}e{}\" data-node=\"{}\" data-text=\"{}\"",
                colour(mark.whose),
                self.prefix,
                mark.sequence,
                mark.node,
                escaped(&mark.text)
            );
            let is_fault = matches!(mark.glyph, Glyph::FaultBegins | Glyph::FaultEnds);
            let y = if is_fault { place.y + 6 } else { place.middle() };
            canvas.mark(mark.at, y, &attributes, shape);
            if let Some(note) = mark.note.as_ref().filter(|_| mark.is_witness) {
                canvas.mark(
                    mark.at,
                    place.y + place.height - 3,
                    "class=\"note\"",
                    &format!("<text>{note}</text>"),
                );
            }
        }
    }

    fn badges(&self, places: &Places, canvas: &mut Canvas) {
        for (index, focus) in self.scene.focuses.iter().enumerate() {
            let hidden = if index == self.focus { "" } else { " display=\"none\"" };
            canvas.raw(format_args!("<g class=\"badges\" data-focus=\"{index}\"{hidden}>"));
            let mut taken: Vec<(Node, f64)> = Vec::new();
            for (number, sequence) in focus.witness.iter().enumerate() {
                let Some(mark) = self.scene.marks.iter().find(|mark| mark.sequence == *sequence)
                else {
                    continue;
                };
                let Some(place) = places.get(&mark.node) else { continue };
                let x = canvas.x(mark.at);
                let crowd = taken
                    .iter()
                    .filter(|(node, at)| *node == mark.node && (x - at).abs() < 15.0)
                    .count();
                taken.push((mark.node, x));
                let y = if crowd % 2 == 0 { place.y + 3 } else { place.y + place.height - 3 };
                let shape = format!("<circle r=\"7\"/><text y=\"3.5\">{}</text>", number + 1);
                canvas.mark(mark.at, y, "class=\"badge\"", &shape);
            }
            canvas.raw("</g>");
        }
    }
}

fn label(held: &HolderSpan) -> String {
    let names: Vec<String> = held.who.iter().map(Node::to_string).collect();
    let length = Micros(held.to - held.from);
    match names.len() {
        1 => format!("{} for {length}", names[0]),
        2 => format!("BOTH {} · {length}", names.join(" + ")),
        many => format!("ALL {many}: {} · {length}", names.join(" + ")),
    }
}
