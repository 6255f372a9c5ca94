//! Measures how many runs and how much processor time uniform, aimed and pct faults and `explore`
//! need to find a violation of the expected kind. Prints medians over TRIALS (20 by default, at
//! most 3 for `explore`), and the two-sided p value of the Mann-Whitney rank test against uniform
//! faults. Trial n begins at seed 1,000,000 n. A trial without such a violation after RUNS_MAX runs
//! (2,000 by default), or after the whole exploration, counts as slower than every trial with one.
//!
//! `cargo run --release -p fencepost --example hard_cells -- [TRIALS] [RUNS_MAX] [CELL]`

use fencepost::engine::Engine;
use fencepost::setup::scenario::{Scenario, Strategy};
use fencepost::setup::span::Span;
use fencepost::studies::explore::{Bounds, Exploration, Grain, Rule, small_scenario};
use fencepost::studies::sweep::{Stop, ThreadClock};
use fencepost::{RunSpec, clients};
use fencepost_faults::{Families, Seed};
use fencepost_reports::{Kind, judge};
use rayon::prelude::*;
use std::error::Error;
use std::rc::Rc;

struct Hard {
    what: &'static str,
    client: &'static str,
    fault: &'static str,
    scenario: &'static str,
    explored: &'static str,
    kind: Kind,
}

const fn hard(what: &'static str, client: &'static str, fault: &'static str, kind: Kind) -> Hard {
    Hard { what, client, fault, scenario: "", explored: "", kind }
}

const CELLS: &[Hard] = &[
    hard("death between SETNX and EXPIRE (A2)", "setnx-expire", "client-crash", Kind::Stuck),
    hard("the reply to SETNX is lost (A2)", "setnx-expire", "lost-reply", Kind::Stuck),
    hard("a pause between GET and DEL (A8)", "set-px-get-del", "pause", Kind::ForeignRelease),
    Hard {
        scenario: "extra-latency = \"1s..15s\"",
        ..hard("a late DEL after GET (A8)", "set-px-get-del", "latency", Kind::ForeignRelease)
    },
    hard("DEL held up by a cut (A8)", "set-px-get-del", "partition", Kind::ForeignRelease),
    hard("a pause between get and delete", "memcached-get-delete", "pause", Kind::ForeignRelease),
    Hard {
        explored: "cycles = 2",
        ..hard("a release held up beyond the next acquire", "redisson", "partition", Kind::Overlap)
    },
    hard("a create whose reply is cut off", "curator-unprotected", "partition", Kind::Stuck),
    Hard {
        scenario: "persistence = \"aof-everysec\"",
        ..hard("power loss with appendfsync everysec (C6)", "redlock", "restart", Kind::Overlap)
    },
    Hard {
        scenario: "restart-delay = \"9s..9500ms\"",
        explored: "hold = \"until-validity\"\nretry = \"9400ms..9400ms\"",
        ..hard("a restart just short of the ttl (C2)", "redlock", "restart", Kind::Overlap)
    },
];

#[derive(Clone, Copy)]
enum Search {
    Drawn(Strategy),
    Explored,
}

const EXPLORED: u64 = 3;

const SEARCHES: [Search; 4] = [
    Search::Drawn(Strategy::Uniform),
    Search::Drawn(Strategy::Aimed),
    Search::Drawn(Strategy::Pct),
    Search::Explored,
];

#[derive(Clone, Copy)]
struct Trial {
    runs: u64,
    cpu_us: u64,
    found: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let argument = |place| std::env::args().nth(place);
    let number = |place, default| argument(place).map_or(Ok(default), |text| text.parse());
    let (trials, runs_max, name) = (number(1, 20)?, number(2, 2_000)?, argument(3));
    let columns = |unit: &str| format!("{unit}, uniform | aimed | p | pct | p | explored | p");
    println!("| necessary event | lock x faults | {} | {} |", columns("runs"), columns("CPU"));
    println!("| --- | --- {}|", "| ---: ".repeat(14));
    for cell in CELLS {
        let cell_name = format!("{} x {}", cell.client, cell.fault);
        if name.as_ref().is_some_and(|name| !cell_name.contains(name)) {
            continue;
        }
        let sides = SEARCHES.map(|search| {
            let one = |trial| {
                let first = trial * 1_000_000;
                match search {
                    Search::Drawn(strategy) => run_trial(cell, strategy, first, runs_max),
                    Search::Explored => explore_trial(cell, first),
                }
            };
            let trials = match search {
                Search::Drawn(_) => trials,
                Search::Explored => trials.min(EXPLORED),
            };
            (0..trials).into_par_iter().map(one).collect::<Result<Vec<Trial>, String>>()
        });
        let [uniform, aimed, pct, explored] = sides;
        println!("{}", row(cell, &cell_name, [&uniform?, &aimed?, &pct?, &explored?]));
    }
    Ok(())
}

fn run_trial(cell: &Hard, strategy: Strategy, first: u64, max: u64) -> Result<Trial, String> {
    let clock = ThreadClock::start();
    let client = clients::find(cell.client).ok_or(cell.client)?;
    let families: Families = cell.fault.parse().map_err(|error| format!("{error}"))?;
    let stated: Scenario = toml::from_str(cell.scenario).map_err(|error| error.to_string())?;
    let scenario = Rc::new(Scenario { strategy, ..stated });
    let shows = |seed| -> Result<bool, String> {
        let spec = RunSpec::draw(Seed(seed), client, &families, scenario.clone());
        let outcome = spec.run(Engine::Fast).map_err(|error| error.to_string())?;
        Ok(judge(&outcome.history).violations.iter().any(|found| found.kind == cell.kind))
    };
    let mut runs = 0;
    let mut found = false;
    while runs < max && !found {
        found = shows(first + runs)?;
        runs += 1;
    }
    Ok(Trial { runs, cpu_us: clock.micros().unwrap_or(0), found })
}

fn explore_trial(cell: &Hard, seed: u64) -> Result<Trial, String> {
    let clock = ThreadClock::start();
    let words = |error: &dyn std::fmt::Display| error.to_string();
    let mut table = toml::Table::try_from(small_scenario()).map_err(|error| words(&error))?;
    table.insert("nesting".to_owned(), "always".into());
    for text in [cell.scenario, cell.explored] {
        table.extend(text.parse::<toml::Table>().map_err(|error| words(&error))?);
    }
    let bounds = Bounds {
        client: clients::find(cell.client).ok_or(cell.client)?,
        families: cell.fault.parse().map_err(|error| format!("{error}"))?,
        faults: 1,
        delays: 0,
        scenario: Scenario::of_table(table).map_err(|error| words(&error))?,
        longest: Span::secs(15),
        grain: Grain::Coarse,
        rules: Rule::ALL.into(),
        seed: Seed(seed),
    };
    bounds.validate().map_err(|error| words(&error))?;
    let failed = |plan: fencepost::studies::explore::FailedPlan| plan.error.to_string();
    let work = Exploration::new(&bounds, 1, &Stop::new()).map_err(failed)?;
    let mut runs = 0;
    let mut found = false;
    for planned in work.plans() {
        let planned = planned.map_err(failed)?;
        let outcome = work.spec(&planned).run(Engine::Fast).map_err(|error| words(&error))?;
        runs += 1;
        found = judge(&outcome.history).violations.iter().any(|one| one.kind == cell.kind);
        if found {
            break;
        }
    }
    Ok(Trial { runs, cpu_us: clock.micros().unwrap_or(0), found })
}

fn row(cell: &Hard, name: &str, sides: [&[Trial]; 4]) -> String {
    let runs = columns(sides, |trial| trial.runs, |runs| runs.to_string());
    let cpu = columns(sides, |trial| trial.cpu_us, |us| format!("{:.2} s", us as f64 / 1e6));
    format!("| {} | `{name}` | {runs} | {cpu} |", cell.what)
}

fn columns(sides: [&[Trial]; 4], of: fn(&Trial) -> u64, unit: impl Fn(u64) -> String) -> String {
    let unfound = sides.into_iter().flatten().filter(|trial| !trial.found);
    let least = unfound.map(of).min().unwrap_or(0);
    let measure = |trial: &Trial| if trial.found { of(trial) } else { u64::MAX };
    let measured = sides.map(|side| side.iter().map(measure).collect::<Vec<u64>>());
    let told = measured.each_ref().map(|values| match median(values.clone()) {
        u64::MAX => format!("> {}", unit(least)),
        median => unit(median),
    });
    let others = measured.iter().zip(&told).skip(1);
    let with_p =
        |(side, told): (&Vec<u64>, &String)| format!("{told} | {}", chance_of(&measured[0], side));
    let others: Vec<String> = others.map(with_p).collect();
    format!("{} | {}", told[0], others.join(" | "))
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

/// Returns the two-sided Mann-Whitney p value, by the normal approximation with corrections for
/// ties and continuity.
fn chance_of(one: &[u64], other: &[u64]) -> String {
    let mut all: Vec<u64> = one.iter().chain(other).copied().collect();
    all.sort_unstable();
    let (a, b, n) = (one.len() as f64, other.len() as f64, all.len() as f64);
    let rank = |value: u64| {
        let below = all.partition_point(|x| *x < value);
        let upto = all.partition_point(|x| *x <= value);
        (below + 1 + upto) as f64 / 2.0
    };
    let u = one.iter().map(|value| rank(*value)).sum::<f64>() - a * (a + 1.0) / 2.0;
    let ties: f64 = all
        .chunk_by(|x, y| x == y)
        .map(|group| group.len() as f64)
        .map(|count| count * count * count - count)
        .sum();
    let variance = a * b / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
    if variance <= 0.0 {
        return "1".to_owned();
    }
    let z = ((u - a * b / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    let p = two_sided(z);
    if p < 0.0001 { "< 0.0001".to_owned() } else { format!("{p:.4}") }
}

/// Returns the probability that a standard normal variable is at least `z` away from 0, with an
/// error of at most 1.5e-7 (Abramowitz and Stegun, 7.1.26).
fn two_sided(z: f64) -> f64 {
    let x = z / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let terms = [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];
    let sum = terms.iter().rev().fold(0.0, |sum, term| (sum + term) * t);
    (sum * (-x * x).exp()).min(1.0)
}
