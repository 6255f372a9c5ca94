//! What became of mutants, and as lines of a file.

use std::collections::BTreeMap;

/// The first line of the file.
pub(crate) const HEAD: &str =
    "lock\toperator\tfate\tfault\tscenario\tstrategy\tseed\trule\tdiffered\truns\tcpu_us\n";

/// What became of a mutant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// A run broke a rule that the lock itself keeps there.
    Killed(Kill),
    /// The mistake was made, and no run differed.
    Equivalent,
    /// So many runs differed, and none broke a rule that the lock itself keeps.
    Survived(u64),
}

/// Which run killed a mutant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Kill {
    /// The faults.
    pub(crate) fault: String,
    /// What differs from the built-in scenario.
    pub(crate) scenario: String,
    /// Where the faults strike.
    pub(crate) strategy: String,
    /// The first seed that did.
    pub(crate) seed: u64,
    /// The rule that it broke.
    pub(crate) rule: String,
}

/// One mutant and what became of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Outcome {
    /// The lock.
    pub(crate) lock: String,
    /// The operator.
    pub(crate) operator: String,
    /// What became of it.
    pub(crate) fate: Fate,
    /// How many runs that took.
    pub(crate) runs: u64,
    /// How much processor time, in microseconds.
    pub(crate) cpu_us: u64,
}

impl Outcome {
    /// As a line of the file.
    pub(crate) fn line(&self) -> String {
        let (name, kill, differed) = match &self.fate {
            Fate::Killed(kill) => ("killed", Some(kill), 0),
            Fate::Equivalent => ("equivalent", None, 0),
            Fate::Survived(differed) => ("survived", None, *differed),
        };
        let kill = kill.map_or_else(
            || "\t\t\t\t".to_owned(),
            |kill| {
                let Kill { fault, scenario, strategy, seed, rule } = kill;
                format!("{fault}\t{scenario}\t{strategy}\t{seed}\t{rule}")
            },
        );
        let Outcome { lock, operator, runs, cpu_us, .. } = self;
        format!("{lock}\t{operator}\t{name}\t{kill}\t{differed}\t{runs}\t{cpu_us}\n")
    }
}

/// Reads what `run` wrote. Errors name the line.
pub(crate) fn read(text: &str) -> Result<Vec<Outcome>, String> {
    let lines = text.lines().enumerate().skip(1);
    lines.map(|(place, line)| outcome(line).ok_or(format!("line {}: {line}", place + 1))).collect()
}

fn outcome(line: &str) -> Option<Outcome> {
    let names = HEAD.trim_end().split('\t');
    let row: BTreeMap<&str, &str> = names.zip(line.split('\t')).collect();
    let word = |name: &str| row.get(name).map(|word| (*word).to_owned());
    let number = |name: &str| row.get(name)?.parse::<u64>().ok();
    let fate = match *row.get("fate")? {
        "equivalent" => Fate::Equivalent,
        "survived" => Fate::Survived(number("differed")?),
        "killed" => Fate::Killed(Kill {
            fault: word("fault")?,
            scenario: word("scenario")?,
            strategy: word("strategy")?,
            seed: number("seed")?,
            rule: word("rule")?,
        }),
        _ => return None,
    };
    Some(Outcome {
        lock: word("lock")?,
        operator: word("operator")?,
        fate,
        runs: number("runs")?,
        cpu_us: number("cpu_us")?,
    })
}
