use super::layout::{counted, percent, thousands, wrapped};
use crate::summary::sweep::{Anomaly, Comparison, Difference, Half, Pair, Setting};
use std::fmt::Write;

pub(crate) fn text(comparison: &Comparison) -> String {
    let tool = &comparison.tool;
    let mut text = format!("{} {}, comparison\n", tool.name, tool.version);
    for (letter, side) in [("A", &comparison.a), ("B", &comparison.b)] {
        let part = if side.complete { "" } else { ", incomplete: not all seeds were run" };
        let _ = writeln!(text, "  {letter}  {}, seeds {}{part}", side.name, side.seeds);
    }
    text + "\n" + &table(comparison)
}

pub(crate) fn table(comparison: &Comparison) -> String {
    let mut text = String::new();
    let head = ["", "A violated", "95 %", "B violated", "95 %", "p", ""].map(str::to_owned);
    let rows: Vec<[String; 7]> = comparison.pairs.iter().map(row).collect();
    let widths: Vec<usize> = (0..head.len())
        .map(|column| rows.iter().chain([&head]).map(|row| row[column].chars().count()).max())
        .map(Option::unwrap_or_default)
        .collect();
    text.push_str(&line(&head, &widths));
    for (pair, row) in comparison.pairs.iter().zip(&rows) {
        text.push_str(&line(row, &widths));
        for (letter, only) in [("A", &pair.only_a), ("B", &pair.only_b)] {
            text.push_str(&anomalies(letter, only));
        }
    }
    for (letter, cells) in [("A", &comparison.only_a), ("B", &comparison.only_b)] {
        if !cells.is_empty() {
            text.push_str(&paragraph(&format!("only in {letter}: {}", cells.join(", ")), 0));
        }
    }
    text.push('\n');
    if !comparison.settings.is_empty() {
        let settings: Vec<String> = comparison.settings.iter().map(setting).collect();
        text.push_str(&paragraph(&format!("settings differ: {}", settings.join("; ")), 0));
    }
    text.push_str(&paragraph(&reading(comparison), 0));
    text
}

pub(crate) fn reading(comparison: &Comparison) -> String {
    format!(
        "A rate is the share of violated runs among those that exercised the lock, with Wilson's \
         interval. p: Fisher's exact test, two-sided. A difference is reported where p is below \
         {}, which is 0.05 divided by {}.",
        number(comparison.p_max),
        counted(comparison.pairs.len() as u64, "cell")
    )
}

pub(crate) fn number(value: f64) -> String {
    match value {
        _ if value == 0.0 => "0".to_owned(),
        _ if value < 0.001 => format!("{value:.1e}"),
        _ => format!("{value:.3}"),
    }
}

pub(crate) fn name(pair: &Pair) -> String {
    match pair.a.client == pair.b.client {
        true => format!("{} x {}", pair.a.client, pair.fault),
        false => pair.fault.clone(),
    }
}

pub(crate) fn violated(half: &Half) -> String {
    match half.exercised {
        0 => "-".to_owned(),
        of => format!("{} of {}", thousands(half.violated), thousands(of)),
    }
}

pub(crate) fn interval(half: &Half) -> String {
    match half.exercised {
        0 => "-".to_owned(),
        _ => format!("{} to {}", percent(half.rate.low), percent(half.rate.high)),
    }
}

pub(crate) fn anomaly(one: &Anomaly) -> String {
    format!("{} by {} in {}", one.kind, one.cause, counted(one.runs, "run"))
}

pub(crate) fn setting(setting: &Setting) -> String {
    format!("{}: {} in A, {} in B", setting.key, setting.a, setting.b)
}

fn row(pair: &Pair) -> [String; 7] {
    let p = match pair.difference {
        Difference::NotExercised => "-".to_owned(),
        _ => number(pair.p),
    };
    let has_others = !pair.only_a.is_empty() || !pair.only_b.is_empty();
    let words = match pair.difference {
        Difference::NotSignificant if has_others => "not significant, other anomalies".to_owned(),
        difference => difference.words().to_owned(),
    };
    let (a, b) = (&pair.a, &pair.b);
    [name(pair), violated(a), interval(a), violated(b), interval(b), p, words]
}

fn line(row: &[String; 7], widths: &[usize]) -> String {
    let padded = |(column, (text, width)): (usize, (&String, &usize))| match column {
        0 => format!("{text:<width$}"),
        6 => text.clone(),
        _ => format!("{text:>width$}"),
    };
    let cells: Vec<String> = row.iter().zip(widths).enumerate().map(padded).collect();
    format!("{}\n", cells.join("  ").trim_end())
}

fn anomalies(letter: &str, only: &[Anomaly]) -> String {
    if only.is_empty() {
        return String::new();
    }
    let words: Vec<String> = only.iter().map(anomaly).collect();
    paragraph(&format!("only in {letter}: {}", words.join(", ")), 4)
}

fn paragraph(text: &str, indent: usize) -> String {
    wrapped(text, indent).iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}
