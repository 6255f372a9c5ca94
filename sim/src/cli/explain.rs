use super::arguments::ExplainArguments;
use super::output::print;
use super::{Failure, Outcome};
use crate::studies::gallery::exhibit::Exhibit;
use crate::studies::gallery::exhibits::all;
use fencepost_faults::{FAMILIES, Family, did_you_mean};
use fencepost_reports::judge::checker;
use fencepost_reports::judge::meaning::Meaning;
use fencepost_reports::{Cause, Kind};
use std::collections::BTreeSet;
use std::fmt::Write;

pub(crate) fn explain(arguments: &ExplainArguments) -> Result<Outcome, Failure> {
    let name = arguments.name.as_str();
    let parts: Vec<String> =
        [kind(name), cause(name), family(name)].into_iter().flatten().collect();
    if parts.is_empty() {
        return Err(unknown(name));
    }
    print(&parts.join("\n"))?;
    Ok(Outcome::AsExpected)
}

fn kind(name: &str) -> Option<String> {
    let kind = *Kind::ALL.iter().find(|kind| kind.name() == name)?;
    let shown = |exhibit: &Exhibit| exhibit.target.kind == kind;
    let title = format!("{name}: a rule ({})", kind.severity().name());
    Some(render(&title, kind.what(), checker::meaning(kind), &pages(shown)))
}

fn cause(name: &str) -> Option<String> {
    let cause = *Cause::ALL.iter().find(|cause| cause.name() == name)?;
    let shown = |exhibit: &Exhibit| exhibit.target.cause == cause;
    let rules = cause.rules().into_iter().enumerate().map(|(index, rule)| {
        let label = if index == 0 { "  chosen " } else { "         " };
        wrapped(label, &format!("if {rule}"))
    });
    let rest = rules.collect::<String>() + &pages(shown);
    Some(render(&format!("{name}: a cause"), cause.what(), cause.meaning(), &rest))
}

fn family(name: &str) -> Option<String> {
    let named = |family: &&Family| family.name() == name || family.aliases().contains(&name);
    let family = FAMILIES.iter().find(named)?;
    let mut text = format!("{}: a fault family (--fault)\n\n", family.name());
    text += &wrapped("  what   ", &sentence(family.about()));
    text += &family.limits().map_or(String::new(), |limits| wrapped("  limits ", limits));
    text += &pages(|exhibit| exhibit.run.fault == family.name());
    Some(text)
}

fn render(title: &str, what: &str, meaning: Meaning, rest: &str) -> String {
    let mut text = format!("{title}\n\n");
    for (label, line) in [("what", what), ("how", meaning.how), ("helps", meaning.helps)] {
        text += &wrapped(&format!("  {label:<7}"), line);
    }
    text + rest
}

fn sentence(fragment: &str) -> String {
    let (first, rest) = fragment.split_at(1);
    format!("{}{rest}.", first.to_uppercase())
}

fn pages(shown: impl Fn(&Exhibit) -> bool) -> String {
    let mut text = String::new();
    for exhibit in all().into_iter().filter(|exhibit| shown(exhibit)) {
        let label = if text.is_empty() { "see" } else { "" };
        let _ = writeln!(text, "  {label:<7}docs/gallery/{}.md  {}", exhibit.name, exhibit.title);
    }
    text
}

fn wrapped(label: &str, text: &str) -> String {
    let mut lines = vec![label.to_owned()];
    for word in text.split_whitespace() {
        let fits = lines.last().is_some_and(|line| line.len() + 1 + word.len() <= 100);
        if !fits {
            lines.push(" ".repeat(label.len()));
        }
        if let Some(line) = lines.last_mut() {
            if !line.ends_with(' ') {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}

fn unknown(name: &str) -> Failure {
    let names = names();
    let meant = did_you_mean(name, names.iter().copied());
    if !meant.is_empty() {
        return Failure::wrong(format!("unknown name '{name}'{meant}"));
    }
    Failure::wrong(format!(
        "unknown name '{name}'{meant}: expected one of these rules, causes and fault families: {}",
        names.join(", ")
    ))
}

pub(crate) fn names() -> Vec<&'static str> {
    let kinds = Kind::ALL.iter().map(|kind| kind.name());
    let names = kinds.chain(Cause::ALL.iter().map(|cause| cause.name()));
    let names: BTreeSet<&str> = names.chain(FAMILIES.iter().map(|family| family.name())).collect();
    names.into_iter().collect()
}
