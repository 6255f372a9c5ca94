//! The picture in a page, with the buttons that move it. Must never know how they work: that is the
//! page's script.

use super::canvas::{Extent, escaped};
use super::glyphs::LEGEND;
use super::html::Fill;
use super::space_time::{Drawing, height};
use super::svg::prefix;
use crate::picture::{Lane, Scene};
use crate::report::RunReport;
use std::fmt::Write;

/// How wide the picture is until the script fits it to the page.
const WIDTH: i32 = 1_320;

/// The picture of a run, or why there is none.
pub(super) fn of(run: &RunReport, index: usize, fill: Fill) -> String {
    // Without a violation there is no window to cut the picture down to.
    if fill.extent == Extent::Window && run.violations.is_empty() {
        return "<p class=\"muted\">The picture of this run is left out to keep the page \
         small.</p>"
            .to_owned();
    }
    let Some(scene) = Scene::new(run) else {
        return "<p class=\"muted\">The history of this run was not recorded, so there is no \
         picture.</p>"
            .to_owned();
    };
    let prefix = prefix(index);
    let drawing = Drawing {
        run,
        scene: &scene,
        prefix: &prefix,
        focus: 0,
        width: WIDTH,
        extent: fill.extent,
        messages_max: fill.messages_max,
    };
    let (body, height) = (drawing.body(), height(&scene));
    let (focus, end) = (&scene.focuses[0], scene.end);
    let left_out = scene.messages.len() - drawing.messages_shown().len();
    format!(
        "<div data-picture data-prefix=\"{prefix}\" data-end=\"{end}\" data-from=\"{}\" \
         data-to=\"{}\">{}<div class=\"view\" tabindex=\"0\" role=\"group\" \
         aria-label=\"{}\"><svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" \
         role=\"img\" aria-label=\"{}\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 \
         {WIDTH} {height}\">{body}</svg></div><div class=\"detail\" role=\"status\" \
         aria-live=\"polite\">Point at a mark or a line, or step with the arrow \
         keys.</div>{}{}{}</div>",
        focus.from,
        focus.to,
        tools(&scene),
        "Picture: arrow keys step through events, plus and minus zoom, page up and down move",
        escaped(&words(&scene)),
        lanes(&scene.lanes, !scene.messages.is_empty()),
        legend(),
        notes(&scene, left_out)
    )
}

/// The picture for those who cannot see it.
fn words(scene: &Scene) -> String {
    let overlaps: Vec<String> = scene
        .overlaps()
        .take(8)
        .map(|held| {
            let names: Vec<String> = held.who.iter().map(ToString::to_string).collect();
            format!("{} from {} to {}", names.join(" and "), micros(held.from), micros(held.to))
        })
        .collect();
    let found = match overlaps.is_empty() {
        true => "no two processes held the lock at once".to_owned(),
        false => format!("at once held the lock: {}", overlaps.join("; ")),
    };
    format!(
        "Space-time picture of {} lanes; {found}. All events are in the table below.",
        scene.lanes.len()
    )
}

fn micros(at: u64) -> String {
    fencepost_faults::Micros(at).to_string()
}

fn tools(scene: &Scene) -> String {
    let mut tools = "<div class=\"tools\" role=\"toolbar\" aria-label=\"Picture\">".to_owned();
    for (index, focus) in scene.focuses.iter().enumerate() {
        let _ = write!(
            tools,
            "<button type=\"button\" data-focus-on=\"{index}\" data-from=\"{}\" data-to=\"{}\" \
             aria-pressed=\"{}\">{}</button>",
            focus.from,
            focus.to,
            index == 0,
            escaped(&focus.name)
        );
    }
    tools.push_str("<span class=\"gap\"></span>");
    for (act, name, sign) in [
        ("out", "Zoom out", "−"),
        ("in", "Zoom in", "+"),
        ("left", "Earlier", "◀"),
        ("right", "Later", "▶"),
        ("previous", "Previous event", "‹ event"),
        ("next", "Next event", "event ›"),
    ] {
        let _ = write!(
            tools,
            "<button type=\"button\" data-act=\"{act}\" aria-label=\"{name}\" \
             title=\"{name}\">{sign}</button>"
        );
    }
    tools.push_str("</div>");
    tools
}

fn lanes(lanes: &[Lane], has_messages: bool) -> String {
    let boxes: Vec<String> = lanes
        .iter()
        .map(|lane| {
            format!(
                "<label><input type=\"checkbox\" data-lane=\"{0}\" checked>{0}</label>",
                lane.node
            )
        })
        .collect();
    let wire = match has_messages {
        true => "<label><input type=\"checkbox\" data-wire checked>messages</label>",
        false => "",
    };
    format!("<fieldset><legend>Show</legend>{}{wire}</fieldset>", boxes.concat())
}

fn legend() -> String {
    let items: Vec<String> = LEGEND
        .iter()
        .map(|(drawing, words)| {
            format!(
                "<li><svg class=\"picture\" width=\"30\" height=\"16\" \
                 aria-hidden=\"true\">{drawing}</svg>{words}</li>"
            )
        })
        .collect();
    format!("<ul class=\"legend\">{}</ul>", items.concat())
}

fn notes(scene: &Scene, left_out: usize) -> String {
    let mut notes = String::new();
    if !scene.is_whole {
        notes.push_str("Only the events around the violations are in this report. ");
    }
    if left_out > 0 {
        let _ = write!(notes, "{left_out} messages far from the violations are not drawn. ");
    }
    format!(
        "<p class=\"hint\">{notes}Drag to move, Ctrl and wheel to zoom. Numbers mark the \
         evidence, in its order.</p>"
    )
}
