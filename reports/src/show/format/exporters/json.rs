use crate::record::visible::visible_json;
use crate::show::format::{Format, Needs, Page, Sweeps};
use crate::show::view::View;
use crate::summary::sweep::Sweep;
use serde::Serialize;
use std::io::{self, Write};

pub(crate) const FORMAT: Format = Format {
    about: "one JSON object, for scripts; see `fencepost schema`",
    needs: Needs::Findings,
    runs: View::JSON,
    sweeps: Some(Sweeps { view: SWEEPS, has_baselines: true }),
};

const SWEEPS: View<Sweep> = View::escaping("json", write_sweep);

fn write_sweep(_: Page, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
    write(&sweep.sealed()?, out)
}

fn write(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    writeln!(out, "{}", visible_json(&text))
}
