use super::check::certificate_in;
use crate::cli::output::{LINE_MAX, print};
use crate::cli::{Failure, Outcome};
use fencepost_reports::documents::certificate;
use fencepost_reports::record::visible::one_line;
use std::path::PathBuf;

pub(super) fn diff(paths: &[PathBuf]) -> Result<Outcome, Failure> {
    let [a, b] = paths else {
        return Err(Failure::wrong("--diff: expected two certificates, like --diff a.json b.json"));
    };
    let lines = certificate::diff(&certificate_in(a)?, &certificate_in(b)?);
    if lines.is_empty() {
        print("the certificates agree in bounds, runs, sentences and digests\n")?;
        return Ok(Outcome::AsExpected);
    }
    let names = [format!("A {}", a.display()), format!("B {}", b.display())];
    let shown = names.iter().chain(&lines).map(|line| one_line(line, LINE_MAX) + "\n");
    print(&shown.collect::<String>())?;
    Ok(Outcome::Violated)
}
