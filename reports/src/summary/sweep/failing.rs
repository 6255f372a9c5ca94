use super::{Cell, FindingState, Fingerprint, Sweep};
use crate::record::programs::{flags, lock_flags, shell_word as word};
use fencepost_faults::Seed;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    Passed,
    Failed,
    Unknown,
}

impl Cell {
    pub fn standing(&self) -> Standing {
        match &self.expectation {
            Some(held) if held.is_met() => Standing::Passed,
            Some(_) => Standing::Failed,
            None if self.has_open_finding() => Standing::Failed,
            None if self.valid == 0 && self.violated == 0 => Standing::Unknown,
            None => Standing::Passed,
        }
    }

    /// Returns `true` if the cell shows an anomaly that the user has not accepted.
    pub fn has_open_finding(&self) -> bool {
        let is_accepted = |state| state == Some(FindingState::Accepted);
        self.violated > 0 && !self.fingerprints.iter().all(|found| is_accepted(found.state))
    }

    pub fn in_words(&self) -> String {
        let deviations: Vec<&str> =
            self.expectation.iter().flat_map(|held| &held.deviations).map(String::as_str).collect();
        if let (Some(held), false) = (&self.expectation, deviations.is_empty()) {
            return format!("expected {}, got {}", held.expected, deviations.join("; "));
        }
        let found: Vec<String> = self
            .violations_by_kind
            .iter()
            .map(|(kind, runs)| format!("{kind} in {runs}"))
            .collect();
        let failed = self.failure_in_words().map_or(String::new(), |words| format!("; {words}"));
        let words = match (self.violated, self.valid) {
            (1.., _) => {
                format!("{} of {} runs violated: {}", self.violated, self.runs, found.join(", "))
            }
            (0, 0) => match self.first_unknown.as_ref().filter(|_| self.failed.is_none()) {
                Some(one) => {
                    let (runs, seed, reason) = (self.runs, one.seed, &one.reason);
                    format!("all of {runs} runs unknown: in seed {seed}, {reason}")
                }
                None => format!("all of {} runs unknown", self.runs),
            },
            (0, _) => format!("no violation in {} runs", self.runs),
        };
        words + &failed
    }

    pub fn failure_in_words(&self) -> Option<String> {
        let failed = self.failed.as_ref()?;
        let (runs, seed, reason) = (failed.runs, failed.first_seed, &failed.reason);
        Some(format!(
            "the program failed in {runs} of {} runs: in seed {seed}, {reason}",
            self.runs
        ))
    }

    /// Returns the seed of the smallest run that shows an unexpected anomaly; else, of the smallest
    /// run with an anomaly that the user has not accepted; else, of the smallest violated run.
    pub fn seed_to_show(&self) -> Option<Seed> {
        let unexpected = self.expectation.as_ref().map_or(&[][..], |held| &held.unexpected);
        let urgency = |found: &Fingerprint| {
            let is_unexpected = unexpected.contains(&found.id);
            (!is_unexpected, found.state == Some(FindingState::Accepted), found.smallest)
        };
        self.fingerprints.iter().min_by_key(|found| urgency(found)).map(|it| it.smallest.seed)
    }
}

impl Sweep {
    pub fn replay(&self, cell: &Cell, seed: Seed) -> String {
        let options =
            self.config.get("options").and_then(serde_json::Value::as_str).unwrap_or_default();
        let (client, fault) = (word(&cell.client), word(&cell.fault));
        let options: String =
            options.split_whitespace().map(|option| format!(" {}", word(option))).collect();
        let lock = self.own_flags(cell).unwrap_or_else(|| format!("--client {client}"));
        format!("fencepost --seed {seed} {lock} --fault {fault}{options}")
    }

    fn own_flags(&self, cell: &Cell) -> Option<String> {
        let scenario = self.config.get("scenario")?;
        let named = |kind: &str| {
            let all = scenario.get(kind)?.as_array()?;
            all.iter()
                .find(|it| it.get("name").and_then(|name| name.as_str()) == Some(&cell.client))
        };
        named("programs").and_then(flags).or_else(|| named("scripts").and_then(lock_flags))
    }
}

#[cfg(test)]
mod tests {
    use super::Standing;
    use crate::samples;
    use crate::summary::sweep::FindingState;
    use fencepost_faults::Seed;

    #[test]
    fn an_open_finding_is_shown_rather_than_a_smaller_accepted_one() {
        let mut cell = samples::sweep(0, 10).cells.remove(0);
        let count = cell.fingerprints.len();
        let smallest = cell.seed_to_show().unwrap();
        let mut other = cell.fingerprints[0].clone();
        other.id = "another".to_owned();
        other.smallest.seed = Seed(9_999);
        cell.fingerprints.push(other);
        cell.fingerprints[..count]
            .iter_mut()
            .for_each(|one| one.state = Some(FindingState::Accepted));
        assert_eq!(cell.seed_to_show(), Some(Seed(9_999)));
        cell.fingerprints[count].state = Some(FindingState::Accepted);
        assert_eq!(cell.seed_to_show(), Some(smallest));
    }

    #[test]
    fn a_cell_passes_if_all_its_runs_show_accepted_findings() {
        let mut cell = samples::sweep(0, 10).cells.remove(0);
        cell.valid = 0;
        assert_eq!(cell.standing(), Standing::Failed);
        cell.fingerprints.iter_mut().for_each(|one| one.state = Some(FindingState::Accepted));
        assert_eq!(cell.standing(), Standing::Passed);
        cell.violated = 0;
        assert_eq!(cell.standing(), Standing::Unknown);
    }

    #[test]
    fn a_name_cannot_become_a_command_of_the_shell() {
        let mut sweep = samples::sweep(0, 3);
        sweep.config["options"] = "--set ttl=9s --set x=$(id)".into();
        sweep.cells[0].client = "a'; rm -rf ~; '".to_owned();
        assert_eq!(
            sweep.replay(&sweep.cells[0], Seed(2)),
            r"fencepost --seed 2 --client 'a'\''; rm -rf ~; '\''' --fault pause --set ttl=9s --set 'x=$(id)'"
        );
        let plain = sweep.replay(&sweep.cells[1], Seed(2));
        assert!(plain.starts_with("fencepost --seed 2 --client redlock --fault pause "), "{plain}");
    }
}
