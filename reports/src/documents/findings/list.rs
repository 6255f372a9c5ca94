use super::{Finding, Findings};
use crate::record::visible::one_line;
use crate::show::format::text::layout::counted;
use crate::show::view::View;
use crate::summary::sweep::FindingState;

pub static VIEWS: &[View<Findings>] =
    &[View::new("text", text), View::JSON, View::new("markdown", markdown)];

const CELL_MAX: usize = 300;
const COMMAND_MAX: usize = 2_000;

fn text(findings: &Findings) -> String {
    let all = findings.by_urgency();
    if all.is_empty() {
        return "no findings\n".to_owned();
    }
    all.into_iter().map(entry).collect()
}

fn entry(one: &Finding) -> String {
    let Finding { id, client, kind, cause, replay, .. } = one;
    let (state, seen) = (one.state.name(), seen(one));
    let note = one.note.as_ref().map_or(String::new(), |note| format!("          note: {note}\n"));
    format!("{state:<9} {id}  {client}: {kind} by {cause}; {seen}\n{note}          {replay}\n")
}

fn seen(one: &Finding) -> String {
    let (runs, first, last) = (counted(one.runs, "run"), &one.first_seen, &one.last_seen);
    if first == last {
        return format!("{runs} on {first}");
    }
    format!("{runs} from {first} to {last}")
}

fn markdown(findings: &Findings) -> String {
    let mut lines = vec![
        "| state | finding | lock | what | seen | replay |".to_owned(),
        "| --- | --- | --- | --- | --- | --- |".to_owned(),
    ];
    lines.extend(findings.by_urgency().into_iter().map(row));
    lines.join("\n") + "\n"
}

fn row(one: &Finding) -> String {
    let Finding { id, client, kind, cause, .. } = one;
    let state = match one.state {
        FindingState::New => "**new**",
        state => state.name(),
    };
    let (client, replay) = (escaped(client, CELL_MAX), escaped(&one.replay, COMMAND_MAX));
    let seen = seen(one);
    format!("| {state} | `{id}` | {client} | {kind} by {cause} | {seen} | `{replay}` |")
}

fn escaped(text: &str, max: usize) -> String {
    one_line(text, max).replace('|', "\\|").replace('`', "'")
}
