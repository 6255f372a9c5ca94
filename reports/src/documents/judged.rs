use crate::show::view::View;
use crate::summary::verdict::{Judgement, Verdict};
use crate::summary::violation::Violation;
use serde::{Deserialize, Serialize};

pub static VIEWS: &[View<Judged>] = &[View::new("text", text), View::JSON];

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Judged {
    Runs { runs: Vec<JudgedRun> },
    One(JudgedHistory),
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JudgedHistory {
    /// In order of first occurrence.
    pub violations: Vec<Violation>,
    #[serde(flatten)]
    pub verdict: Verdict,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JudgedRun {
    #[serde(flatten)]
    pub history: JudgedHistory,
    pub client: String,
    pub fault: String,
}

impl From<Judgement> for JudgedHistory {
    fn from(Judgement { verdict, violations }: Judgement) -> JudgedHistory {
        JudgedHistory { violations, verdict }
    }
}

impl Judged {
    pub fn verdicts(&self) -> Vec<&Verdict> {
        match self {
            Judged::Runs { runs } => runs.iter().map(|run| &run.history.verdict).collect(),
            Judged::One(history) => vec![&history.verdict],
        }
    }
}

fn text(judged: &Judged) -> String {
    match judged {
        Judged::One(history) => render(history),
        Judged::Runs { runs } => {
            let line = |run: &JudgedRun| {
                format!("{} under {}: {}", run.client, run.fault, render(&run.history))
            };
            runs.iter().map(line).collect()
        }
    }
}

fn render(JudgedHistory { violations, verdict }: &JudgedHistory) -> String {
    let mut text = format!("{}\n", verdict.name());
    if let Verdict::Unknown { reason } = verdict {
        text.push_str(&format!("  {reason}\n"));
    }
    for violation in violations {
        text.push_str(&format!(
            "\n{} by {}, {}\n  {}\n",
            violation.kind, violation.cause, violation.id, violation.summary
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;
    use crate::samples;
    use crate::summary::verdict::judge;
    use serde_json::Value;

    fn of(story: Story) -> JudgedHistory {
        judge(&story.build()).into()
    }

    fn written(view: usize, judged: &Judged) -> String {
        VIEWS[view].write(judged).unwrap()
    }

    #[test]
    fn text_tells_the_verdict_and_every_violation() {
        let quiet = written(0, &Judged::One(of(samples::quiet())));
        assert_eq!(quiet, "valid\n");
        let broken = written(0, &Judged::One(of(samples::paused_holder())));
        assert!(broken.starts_with("violated\n\noverlap by holder-pause, "), "{broken}");
        let lonely = written(0, &Judged::One(of(samples::lonely())));
        assert!(lonely.starts_with("unknown\n  only client-1 acquired the lock"), "{lonely}");
    }

    #[test]
    fn a_run_of_a_report_is_named_before_its_verdict_and_after_it_in_json() {
        let run = JudgedRun {
            history: of(samples::quiet()),
            client: "a\u{1b}b".to_owned(),
            fault: "pause".to_owned(),
        };
        let judged = Judged::Runs { runs: vec![run] };
        assert_eq!(written(0, &judged), "a\\u{1b}b under pause: valid\n");
        let json: Value = serde_json::from_str(&written(1, &judged)).unwrap();
        let keys: Vec<&String> = json["runs"][0].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["violations", "verdict", "client", "fault"]);
        assert_eq!(serde_json::from_value::<Judged>(json).unwrap(), judged);
    }
}
