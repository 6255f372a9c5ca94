use crate::bounds::{BOUNDS, Bound, RUNS_MAX};
use crate::fate::{Fate, Kill, Outcome};
use crate::operators::{Operator, Side, operators};
use crate::reasons::reason;
use crate::study::{FIRST, LOCK_SEEDS, MORE_OFTEN, SECOND, SUSPECTS, WIDE};
use fencepost::clients::{CLIENTS, find};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const HEAD: &str = include_str!("page.md");

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Score {
    pub(crate) mutants: usize,
    pub(crate) killed: usize,
    pub(crate) equivalent: usize,
    pub(crate) quiet: usize,
    pub(crate) explained: usize,
    pub(crate) masked: usize,
    pub(crate) found: usize,
    pub(crate) open: usize,
}

impl Score {
    pub(crate) fn of<'o>(outcomes: impl IntoIterator<Item = &'o Outcome>) -> Score {
        outcomes.into_iter().fold(Score::default(), |mut score, outcome| {
            score.mutants += 1;
            match &outcome.fate {
                Fate::Killed(_) => score.killed += 1,
                Fate::Found(_) => score.found += 1,
                Fate::Equivalent => score.equivalent += 1,
                Fate::Quiet { .. } => score.quiet += 1,
                Fate::Survived(_) | Fate::Masked(_) if reason(outcome).is_some() => {
                    score.explained += 1
                }
                Fate::Masked(_) => score.masked += 1,
                Fate::Survived(_) => score.open += 1,
            }
            score
        })
    }

    pub(crate) fn per_mille(&self) -> usize {
        let missed = self.masked + self.found + self.open;
        self.killed * 1_000 / (self.killed + missed).max(1)
    }

    fn row(&self, name: &str) -> String {
        let Score { mutants, killed, equivalent, quiet, explained, masked, found, open } = self;
        let tenths = self.per_mille();
        let share = format!("{}.{} %", tenths / 10, tenths % 10);
        format!(
            "| {name} | {mutants} | {killed} | {equivalent} | {quiet} | {explained} | {masked} | \
             {found} | {open} | {share} |\n"
        )
    }
}

pub(crate) fn page(outcomes: &[Outcome]) -> String {
    let locks: BTreeSet<&str> = outcomes.iter().map(|outcome| outcome.lock.as_str()).collect();
    let numbers = [
        ("{first}", FIRST.to_string()),
        ("{second}", SECOND.to_string()),
        ("{more-often}", MORE_OFTEN.to_string()),
        ("{wide}", (WIDE.end - WIDE.start).to_string()),
        ("{suspects}", SUSPECTS.to_string()),
        ("{of-lock}", LOCK_SEEDS.to_string()),
        ("{locks}", locks.len().to_string()),
        ("{all-locks}", CLIENTS.len().to_string()),
        ("{bounds}", bounds()),
        ("{runs}", RUNS_MAX.to_string()),
    ];
    let fill = |page: String, (name, number): &(&str, String)| page.replace(name, number);
    let mut page = numbers.iter().fold(HEAD.to_owned(), fill);
    let parts =
        [scores(outcomes), times(outcomes), places(outcomes), table(outcomes), rest(outcomes)];
    parts.iter().for_each(|part| page.push_str(part));
    page
}

fn bounds() -> String {
    let line = |bound: &Bound| format!("  - `{}`: {}\n", bound.name, bound.about);
    BOUNDS.iter().map(line).collect()
}

fn scores(outcomes: &[Outcome]) -> String {
    let mut out =
        "\n## The score\n\n| locks on | mutants | killed | equivalent | quiet | explained | \
                   masked | found | open | killed of those not equivalent, quiet or explained |\n\
                   | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
            .to_owned();
    let mut by_coordinator: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        let coordinator = find(&outcome.lock).map(|lock| lock.deployment.coordinator().name());
        by_coordinator.entry(coordinator.unwrap_or("others")).or_default().push(outcome);
    }
    for (coordinator, outcomes) in by_coordinator {
        out += &Score::of(outcomes).row(coordinator);
    }
    out + &Score::of(outcomes).row("all")
}

fn times(outcomes: &[Outcome]) -> String {
    const CLASSES_MS: [u64; 8] = [1, 3, 10, 30, 100, 300, 1_000, u64::MAX];
    let mut counts = [0; CLASSES_MS.len()];
    let killed = outcomes.iter().filter(|outcome| matches!(outcome.fate, Fate::Killed(_)));
    for outcome in killed {
        let class = CLASSES_MS.iter().position(|most| outcome.cpu_us <= most.saturating_mul(1_000));
        counts[class.unwrap_or(CLASSES_MS.len() - 1)] += 1;
    }
    let mut out =
        "\n## Processor time until the kill\n\n| at most | mutants |\n| ---: | ---: |\n".to_owned();
    for (most, count) in CLASSES_MS.iter().zip(counts) {
        let most = if *most == u64::MAX { "more".to_owned() } else { format!("{most} ms") };
        let _ = writeln!(out, "| {most} | {count} |");
    }
    out
}

fn places(outcomes: &[Outcome]) -> String {
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    let mut cells: BTreeMap<(&str, &str), [usize; 2]> = BTreeMap::new();
    for outcome in outcomes {
        let Fate::Killed(Kill { fault, scenario, strategy, rule, .. }) = &outcome.fate else {
            continue;
        };
        *rules.entry(rule).or_default() += 1;
        let sides = cells.entry((fault, scenario)).or_default();
        sides[usize::from(strategy == "aimed")] += 1;
    }
    let mut out =
        "\n## Faults that kill\n\nEach mutant counts once, in the first cell that killed it.\n\n\
         | faults | scenario | uniform | aimed |\n\
         | --- | --- | ---: | ---: |\n"
            .to_owned();
    let order = crate::conditions::CONDITIONS.iter().map(|one| (one.fault, one.scenario));
    for (fault, scenario) in order {
        let [uniform, aimed] = cells.get(&(fault, scenario)).copied().unwrap_or_default();
        let set = if scenario.is_empty() { String::new() } else { format!("`{scenario}`") };
        let _ = writeln!(out, "| {fault} | {set} | {uniform} | {aimed} |");
    }
    out += "\n## Rules that kill\n\n| rule | mutants |\n| --- | ---: |\n";
    for (rule, count) in rules {
        let _ = writeln!(out, "| {rule} | {count} |");
    }
    out
}

fn table(outcomes: &[Outcome]) -> String {
    let mut out = "\n## The operators\n\n| operator | in | mistake | mutants | killed | \
                   equivalent | quiet | explained | masked | found | open |\n\
                   | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    for Operator { name, about, side, .. } in operators() {
        let score = Score::of(outcomes.iter().filter(|outcome| outcome.operator == *name));
        let who = match side {
            Side::Lock => "lock",
            Side::Server => "server",
        };
        let Score { mutants, killed, equivalent, quiet, explained, masked, found, open } = score;
        let _ = writeln!(
            out,
            "| `{name}` | {who} | {about} | {mutants} | {killed} | {equivalent} | {quiet} | \
             {explained} | {masked} | {found} | {open} |"
        );
    }
    out
}

fn rest(outcomes: &[Outcome]) -> String {
    let mut groups: BTreeMap<(&str, String), Vec<&str>> = BTreeMap::new();
    for outcome in outcomes {
        let why = match &outcome.fate {
            Fate::Killed(_) => continue,
            Fate::Found(Kill { scenario, rule, .. }) => format!("**found** by {scenario}: {rule}"),
            Fate::Equivalent => "no run differed".to_owned(),
            Fate::Quiet { within, .. } => format!("quiet within {}", within.replace('+', ", ")),
            Fate::Masked(_) => reason(outcome).unwrap_or("**masked**").to_owned(),
            Fate::Survived(_) => reason(outcome).unwrap_or("**open**").to_owned(),
        };
        groups.entry((&outcome.operator, why)).or_default().push(&outcome.lock);
    }
    let mut out =
        "\n## Surviving mutants\n\n| operator | locks | why |\n| --- | --- | --- |\n".to_owned();
    for ((operator, why), locks) in groups {
        let _ = writeln!(out, "| `{operator}` | {} | {why} |", locks.join(", "));
    }
    out
}
