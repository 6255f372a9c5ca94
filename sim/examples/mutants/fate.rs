use std::collections::BTreeMap;

pub(crate) const HEAD: &str =
    "lock\toperator\tfate\tfault\tscenario\tstrategy\tseed\trule\tdiffered\truns\tcpu_us\n";

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Killed(Kill),
    Equivalent,
    /// Number of compared runs whose history differs from that of the correct lock. No run in which
    /// the mistake took effect shows a violation.
    Survived(u64),
    /// Number of compared runs whose history differs from that of the correct lock. Runs in which
    /// the mistake took effect break only rules that the correct lock also breaks.
    Masked(u64),
    Found(Kill),
    Quiet {
        differed: u64,
        within: String,
    },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Kill {
    pub(crate) fault: String,
    pub(crate) scenario: String,
    pub(crate) strategy: String,
    pub(crate) seed: u64,
    pub(crate) rule: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Outcome {
    pub(crate) lock: String,
    pub(crate) operator: String,
    pub(crate) fate: Fate,
    pub(crate) runs: u64,
    pub(crate) cpu_us: u64,
}

impl Outcome {
    pub(crate) fn again(&self, new: &Outcome) -> Outcome {
        match (&self.fate, &new.fate) {
            (_, Fate::Killed(_)) => new.clone(),
            (Fate::Found(_) | Fate::Quiet { .. }, _) => self.clone(),
            _ => new.clone(),
        }
    }

    pub(crate) fn and_also(&self, new: &Outcome) -> Outcome {
        let fate = match (&self.fate, &new.fate) {
            (_, Fate::Killed(_)) | (Fate::Equivalent, _) => new.fate.clone(),
            (Fate::Survived(old), Fate::Survived(new)) => Fate::Survived(old + new),
            (Fate::Masked(old), Fate::Survived(new) | Fate::Masked(new))
            | (Fate::Survived(old), Fate::Masked(new)) => Fate::Masked(old + new),
            (old, _) => old.clone(),
        };
        let (runs, cpu_us) = (self.runs + new.runs, self.cpu_us + new.cpu_us);
        Outcome { fate, runs, cpu_us, ..self.clone() }
    }

    pub(crate) fn line(&self) -> String {
        let of = |kill: &Kill| {
            let Kill { fault, scenario, strategy, seed, rule } = kill;
            format!("{fault}\t{scenario}\t{strategy}\t{seed}\t{rule}")
        };
        let none = "\t\t\t\t".to_owned();
        let (name, kill, differed) = match &self.fate {
            Fate::Killed(kill) => ("killed", of(kill), 0),
            Fate::Found(kill) => ("found", of(kill), 0),
            Fate::Equivalent => ("equivalent", none, 0),
            Fate::Survived(differed) => ("survived", none, *differed),
            Fate::Masked(differed) => ("masked", none, *differed),
            Fate::Quiet { differed, within } => ("quiet", format!("\t{within}\t\t\t"), *differed),
        };
        let Outcome { lock, operator, runs, cpu_us, .. } = self;
        format!("{lock}\t{operator}\t{name}\t{kill}\t{differed}\t{runs}\t{cpu_us}\n")
    }
}

pub(crate) fn read(text: &str) -> Result<Vec<Outcome>, String> {
    let lines = text.lines().enumerate().skip(1);
    lines.map(|(place, line)| outcome(line).ok_or(format!("line {}: {line}", place + 1))).collect()
}

fn outcome(line: &str) -> Option<Outcome> {
    let names = HEAD.trim_end().split('\t');
    let row: BTreeMap<&str, &str> = names.zip(line.split('\t')).collect();
    let word = |name: &str| row.get(name).map(|word| (*word).to_owned());
    let number = |name: &str| row.get(name)?.parse::<u64>().ok();
    let kill = || {
        Some(Kill {
            fault: word("fault")?,
            scenario: word("scenario")?,
            strategy: word("strategy")?,
            seed: number("seed")?,
            rule: word("rule")?,
        })
    };
    let fate = match *row.get("fate")? {
        "equivalent" => Fate::Equivalent,
        "survived" => Fate::Survived(number("differed")?),
        "masked" => Fate::Masked(number("differed")?),
        "quiet" => Fate::Quiet { differed: number("differed")?, within: word("scenario")? },
        "killed" => Fate::Killed(kill()?),
        "found" => Fate::Found(kill()?),
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
