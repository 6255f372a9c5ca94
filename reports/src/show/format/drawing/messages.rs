use super::canvas::Canvas;
use super::space_time::{Drawing, Places};
use crate::record::trace::WireMessage;

impl Drawing<'_> {
    pub(crate) fn messages(&self, places: &Places, canvas: &mut Canvas) {
        for message in self.messages_shown() {
            let (Some(from), Some(to)) = (places.get(&message.from), places.get(&message.to))
            else {
                continue;
            };
            let (start, end) = (from.middle(), to.middle());
            let sent = message.sent_us.0;
            let ends = format!("data-from=\"{}\" data-to=\"{}\"", message.from, message.to);
            let aside = if self.concerns(message) { "" } else { " aside" };
            let title = format!("{} to {}: {}", message.from, message.to, message.label);
            match message.arrived_us {
                Some(arrived) => {
                    let title = format!("{title}, {} under way", arrived.since(message.sent_us));
                    canvas.slant(
                        (sent, start),
                        (arrived.0, end),
                        &format!("class=\"message{aside}\" {ends}"),
                        &title,
                    );
                }
                None => {
                    let half = start + (end - start) / 2;
                    let title = format!("{title}, never arrives");
                    canvas.slant(
                        (sent, start),
                        (sent, half),
                        &format!("class=\"message lost\" {ends}"),
                        &title,
                    );
                    let attributes = format!("class=\"mark cross bad\" {ends}");
                    canvas.mark(sent, half, &attributes, "<path d=\"M-3-3 3 3M-3 3 3-3\"/>");
                }
            }
        }
    }

    fn concerns(&self, message: &WireMessage) -> bool {
        let takes_part = |node| {
            self.run.violations.iter().any(|report| report.violation.processes.contains(&node))
        };
        let inside = |node| {
            let spans = self.scene.believed.iter().filter(|span| span.node == node);
            spans.into_iter().any(|span| {
                span.from.saturating_sub(5_000) <= message.sent_us.0
                    && message.sent_us.0 <= span.to + 5_000
            })
        };
        [message.from, message.to].into_iter().any(|node| takes_part(node) && inside(node))
    }

    pub(crate) fn messages_shown(&self) -> Vec<&WireMessage> {
        let windows: Vec<(u64, u64)> = self.scene.focuses[..self.scene.focuses.len() - 1]
            .iter()
            .map(|focus| (focus.from, focus.to))
            .collect();
        let distance = |at: u64| {
            let away = |(from, to): &(u64, u64)| {
                if at < *from { from - at } else { at.saturating_sub(*to) }
            };
            windows.iter().map(away).min().unwrap_or(0)
        };
        let mut chosen: Vec<(bool, u64, usize)> = self
            .scene
            .messages
            .iter()
            .enumerate()
            .map(|(index, message)| {
                let aside = !message.from.is_process() && !message.to.is_process();
                let away = distance(message.sent_us.0);
                (aside && away > 0, away, index)
            })
            .collect();
        chosen.sort_unstable();
        chosen.truncate(self.messages_max);
        let mut places: Vec<usize> = chosen.into_iter().map(|(_, _, index)| index).collect();
        places.sort_unstable();
        places.into_iter().map(|index| &self.scene.messages[index]).collect()
    }
}
