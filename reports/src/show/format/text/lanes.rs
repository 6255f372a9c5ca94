//! Draws the critical sections of processes in columns next to a list of events. A critical section
//! is visible even if the list omits its first event, because each entry lists the holders
//! (`TimelineEntry::holding`). The text for a gap between entries counts the critical sections that
//! began in the gap.

use crate::record::history::{Action, What};
use crate::summary::report::TimelineEntry;
use fencepost_faults::Node;

pub(crate) struct Lanes {
    nodes: Vec<Node>,
    held: Vec<Node>,
    stopped: Vec<Node>,
    left_out: usize,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Gap {
    pub(crate) events: u64,
    pub(crate) sections: Vec<Node>,
    pub(crate) stopped: Vec<Node>,
    /// Nodes that were in their critical sections before the gap, but not at its end.
    pub(crate) left: Vec<Node>,
    /// Nodes that may be in their critical sections at the end of the gap.
    holding: Vec<Node>,
}

const SILENT_MAX: u64 = 6;

impl Lanes {
    pub(crate) fn new(nodes: &[Node]) -> Lanes {
        let mut lanes =
            Lanes { nodes: Vec::new(), held: Vec::new(), stopped: Vec::new(), left_out: 0 };
        for node in nodes.iter().filter(|node| node.is_process()) {
            if !lanes.nodes.contains(node) {
                lanes.nodes.push(*node);
            }
        }
        lanes
    }

    pub(crate) fn within(mut self, room: usize) -> Lanes {
        while self.width() > room && self.nodes.pop().is_some() {
            self.left_out += 1;
        }
        self
    }

    pub(crate) fn head(&self) -> String {
        let names: String = self.nodes.iter().map(|node| format!("{node}  ")).collect();
        match self.left_out {
            0 => names,
            more => format!("{names}and {more} more"),
        }
    }

    pub(crate) fn width(&self) -> usize {
        self.nodes.iter().map(|node| node.to_string().len() + 2).sum()
    }

    pub(crate) fn line(&mut self, entry: &TimelineEntry, gap: &Gap) -> String {
        let drawn = self.draw(|node| mark(entry, node, gap.holding.contains(&node)));
        self.held.clone_from(&entry.holding);
        self.stopped.clone_from(&entry.stopped);
        drawn
    }

    pub(crate) fn rest(&self) -> String {
        self.draw(|node| self.inside(node, &self.stopped))
    }

    pub(crate) fn gap(&self, gap: &Gap) -> Option<(String, String)> {
        let hidden: Vec<Node> =
            self.nodes.iter().copied().filter(|node| gap.sections.contains(node)).collect();
        let hides_exit = gap.left.iter().any(|node| self.nodes.contains(node));
        if hidden.is_empty() && !hides_exit && gap.events <= SILENT_MAX {
            return None;
        }
        let drawn =
            self.draw(
                |node| {
                    if hidden.contains(&node) { '┇' } else { self.inside(node, &gap.stopped) }
                },
            );
        let events = if gap.events == 1 { "event" } else { "events" };
        let mut text = format!("... {} {events} left out", gap.events);
        let entries = hidden.iter().map(|node| {
            match gap.sections.iter().filter(|one| *one == node).count() {
                1 => format!("{node} enters once"),
                many => format!("{node} enters {many} times"),
            }
        });
        let entries: Vec<String> = entries.collect();
        if !entries.is_empty() {
            text.push_str(&format!("; {}", entries.join(", ")));
        }
        Some((drawn, text))
    }

    fn inside(&self, node: Node, stopped: &[Node]) -> char {
        match (self.held.contains(&node), stopped.contains(&node)) {
            (false, _) => ' ',
            (true, true) => '┊',
            (true, false) => '┃',
        }
    }

    fn draw(&self, mark: impl Fn(Node) -> char) -> String {
        let column = |node: &Node| {
            let width = node.to_string().len() + 2;
            format!("{:<width$}", mark(*node))
        };
        self.nodes.iter().map(column).collect()
    }
}

fn mark(entry: &TimelineEntry, node: Node, held: bool) -> char {
    let holds = entry.holding.contains(&node);
    let enters = begins_section(entry) && entry.process == node;
    match (holds, held) {
        (true, _) if enters => '┏',
        (true, _) if entry.stopped.contains(&node) => '┊',
        (true, _) => '┃',
        (false, true) if leaves(entry, node) => '┗',
        (false, _) => ' ',
    }
}

fn leaves(entry: &TimelineEntry, node: Node) -> bool {
    match entry.what {
        What::Invoke { action: Action::Release, .. } | What::Lost => entry.process == node,
        What::Crashed => entry.process == node.machine(),
        _ => false,
    }
}

fn begins_section(entry: &TimelineEntry) -> bool {
    matches!(entry.what, What::Ok { owner: Some(_), .. }) && !entry.nested
}

impl Gap {
    pub(crate) fn between(
        shown: &TimelineEntry,
        hidden: &[&TimelineEntry],
        next: &TimelineEntry,
    ) -> Gap {
        let mut sections: Vec<Node> = hidden
            .iter()
            .filter(|entry| begins_section(entry))
            .map(|entry| entry.process)
            .collect();
        let further = hidden.iter().copied().chain([next]);
        sections.extend(further.flat_map(|entry| entry.left_out_sections.clone()));
        // A process that resumes at `next` is not in `next.stopped`, but was stopped in the gap.
        let both = |node: &&Node| {
            let resumes = matches!(next.what, What::FaultEnded { .. });
            hidden.iter().all(|entry| entry.stopped.contains(node))
                && (next.stopped.contains(node) || resumes)
        };
        let stopped = shown.stopped.iter().filter(both).copied().collect();
        let ends = |node: &&Node| {
            let enters = begins_section(next) && next.process == **node;
            enters || !next.holding.contains(node) && !leaves(next, **node)
        };
        let left = shown.holding.iter().filter(ends).copied().collect();
        let before = hidden.last().copied().unwrap_or(shown);
        let holding = before.holding.iter().chain(&next.left_out_sections).copied().collect();
        let events = next.sequence.saturating_sub(shown.sequence + 1);
        Gap { events, sections, stopped, left, holding }
    }
}

pub(crate) fn with_gaps(
    timeline: &[TimelineEntry],
    is_chosen: impl Fn(&TimelineEntry) -> bool,
) -> Vec<(Gap, &TimelineEntry)> {
    let mut lines: Vec<(Gap, &TimelineEntry)> = Vec::new();
    let mut hidden: Vec<&TimelineEntry> = Vec::new();
    for entry in timeline {
        if !is_chosen(entry) {
            hidden.push(entry);
            continue;
        }
        let gap =
            lines.last().map_or(Gap::default(), |(_, shown)| Gap::between(shown, &hidden, entry));
        lines.push((gap, entry));
        hidden.clear();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;
    use crate::samples::run;

    #[test]
    fn columns_without_room_are_left_out_and_counted() {
        let nodes: Vec<Node> = [1, 2, 3].map(Node::Client).to_vec();
        let lanes = |room| Lanes::new(&nodes).within(room);
        assert_eq!(lanes(30).head(), "client-1  client-2  client-3  ");
        assert_eq!(
            (lanes(29).head(), lanes(29).width()),
            ("client-1  client-2  and 1 more".to_owned(), 20)
        );
        assert_eq!((lanes(9).head(), lanes(9).width()), ("and 3 more".to_owned(), 0));
    }

    #[test]
    fn a_short_gap_that_hides_the_end_of_a_critical_section_is_told() {
        let story = Story::new().takes(1, 1, "a").releases(2, 1).takes(3, 2, "b").releases(4, 2);
        let run = run(story.takes(5, 3, "c").takes(6, 1, "d"));
        let gaps = |hidden: &[u64]| {
            let mut lanes = Lanes::new(&[Node::Client(1), Node::Client(2)]);
            let lines = with_gaps(&run.timeline, |entry| !hidden.contains(&entry.sequence));
            let mut texts = Vec::new();
            for (gap, entry) in lines {
                texts.extend(lanes.gap(&gap).map(|(_, text)| text));
                lanes.line(entry, &gap);
            }
            texts
        };
        let of = |wanted: fn(&What) -> bool| {
            let entries = run.timeline.iter().filter(|entry| wanted(&entry.what));
            entries.map(|entry| entry.sequence).collect::<Vec<u64>>()
        };
        let releases = of(|what| matches!(what, What::Invoke { action: Action::Release, .. }));
        let grants = of(|what| matches!(what, What::Server { .. }));
        assert_eq!(gaps(&releases[..1]).len(), 1, "{:?}", gaps(&releases[..1]));
        assert!(gaps(&grants[..1]).is_empty(), "a grant is no end: {:?}", gaps(&grants[..1]));
    }

    #[test]
    fn a_crash_ends_a_critical_section_only_if_it_was_open() {
        let drawn = |left: bool| {
            let story = Story::new().takes(1, 1, "a");
            let story = if left { story.releases(2, 1).acquires(3, 1) } else { story };
            let run = run(story.crashes(5, 1).takes(20, 2, "b").takes(21, 3, "c"));
            let mut lanes = Lanes::new(&[Node::Client(1)]);
            let is_shown = |entry: &TimelineEntry| !matches!(entry.what, What::Invoke { .. });
            let lines = with_gaps(&run.timeline, is_shown).into_iter();
            let drawn = lines.map(|(gap, entry)| (entry.what.clone(), lanes.line(entry, &gap)));
            let crash = drawn.collect::<Vec<_>>().into_iter();
            crash.filter(|(what, _)| *what == What::Crashed).map(|(_, line)| line).next().unwrap()
        };
        assert_eq!(drawn(false).trim(), "┗");
        assert_eq!(drawn(true).trim(), "");
    }

    #[test]
    fn a_process_has_one_column_and_a_server_none() {
        let nodes = [Node::Client(1), Node::Redis(1), Node::Client(1)];
        assert_eq!(Lanes::new(&nodes).head(), "client-1  ");
    }
}
