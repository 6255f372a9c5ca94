use super::page::PageContent;
use crate::show::format::drawing::canvas::Extent;
use crate::show::format::drawing::glyphs::LEGEND;
use crate::show::format::drawing::space_time::{Drawing, height};
use crate::show::format::drawing::svg::prefix;
use crate::show::picture::{Lane, Scene};
use crate::summary::report::RunReport;
use maud::{Markup, PreEscaped, html};

const WIDTH: i32 = 1_320;

const BUTTONS: [(&str, &str, &str); 6] = [
    ("out", "Zoom out", "−"),
    ("in", "Zoom in", "+"),
    ("left", "Earlier", "◀"),
    ("right", "Later", "▶"),
    ("previous", "Previous event", "‹ event"),
    ("next", "Next event", "event ›"),
];

pub(crate) fn of(run: &RunReport, index: usize, fill: PageContent) -> Markup {
    if fill.extent == Extent::Window && run.violations.is_empty() {
        return missing("This run's picture is omitted to keep the page small.");
    }
    let Some(scene) = Scene::new(run) else {
        return missing("The history of this run was not recorded, so there is no picture.");
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
    let (focus, left_out) =
        (&scene.focuses[0], scene.messages.len() - drawing.messages_shown().len());
    html! {
        div data-picture data-prefix=(prefix) data-end=(scene.end) data-from=(focus.from)
            data-to=(focus.to) {
            (tools(&scene))
            (view(&scene, &drawing))
            div.detail role="status" aria-live="polite" {
                "Point at a mark or a line, or step with the arrow keys."
            }
            (lanes(&scene.lanes, !scene.messages.is_empty()))
            (legend())
            (notes(&scene, left_out))
        }
    }
}

fn missing(why: &str) -> Markup {
    html! { p.muted { (why) } }
}

fn view(scene: &Scene, drawing: &Drawing<'_>) -> Markup {
    let height = height(scene);
    let label =
        "Picture: arrow keys step through events, plus and minus zoom, page up and down move";
    html! {
        div.view tabindex="0" role="group" aria-label=(label) {
            svg.picture xmlns="http://www.w3.org/2000/svg" role="img" aria-label=(words(scene))
                width=(WIDTH) height=(height) viewBox={ "0 0 " (WIDTH) " " (height) } {
                (PreEscaped(drawing.body()))
            }
        }
    }
}

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
        true => "no two processes held the lock at the same time".to_owned(),
        false => format!("held the lock at the same time: {}", overlaps.join("; ")),
    };
    format!(
        "Space-time picture of {} lanes; {found}. All events are in the table below.",
        scene.lanes.len()
    )
}

fn micros(at: u64) -> String {
    fencepost_faults::Micros(at).to_string()
}

fn tools(scene: &Scene) -> Markup {
    html! {
        div.tools role="toolbar" aria-label="Picture" {
            @for (index, focus) in scene.focuses.iter().enumerate() {
                button type="button" data-focus-on=(index) data-from=(focus.from)
                    data-to=(focus.to) aria-pressed=(index == 0) { (focus.name) }
            }
            span.gap {}
            @for (act, name, sign) in BUTTONS {
                button type="button" data-act=(act) aria-label=(name) title=(name) { (sign) }
            }
        }
    }
}

fn lanes(lanes: &[Lane], has_messages: bool) -> Markup {
    html! {
        fieldset {
            legend { "Show" }
            @for name in lanes.iter().map(|lane| lane.node.to_string()) {
                label { input type="checkbox" data-lane=(name) checked; (name) }
            }
            @if has_messages {
                label { input type="checkbox" data-wire checked; "messages" }
            }
        }
    }
}

fn legend() -> Markup {
    html! {
        ul.legend {
            @for (drawing, words) in LEGEND {
                li {
                    svg.picture width="30" height="16" aria-hidden="true" {
                        (PreEscaped(drawing))
                    }
                    (words)
                }
            }
        }
    }
}

fn notes(scene: &Scene, left_out: usize) -> Markup {
    html! {
        p.hint {
            @if !scene.is_whole { "Only the events around the violations are in this report. " }
            @if left_out > 0 { (left_out) " messages far from the violations are not drawn. " }
            "Drag to move, Ctrl and wheel to zoom. Numbers mark the evidence, in its order."
        }
    }
}
