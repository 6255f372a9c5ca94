use fencepost_reports::summary::sweep::Shard;

struct Scheduler {
    index: &'static str,
    count: &'static str,
    first: u32,
}

/// Kubernetes numbers jobs from 0, and GitLab from 1. A Slurm job array must start at 1.
const SCHEDULERS: &[Scheduler] = &[
    Scheduler { index: "JOB_COMPLETION_INDEX", count: "JOB_COMPLETIONS", first: 0 },
    Scheduler { index: "SLURM_ARRAY_TASK_ID", count: "SLURM_ARRAY_TASK_COUNT", first: 1 },
    Scheduler { index: "CI_NODE_INDEX", count: "CI_NODE_TOTAL", first: 1 },
];

/// Returns the shard of the flag, or else the shard of the first scheduler whose two environment
/// variables are set, or else the whole sweep.
pub fn shard(
    flag: Option<(u32, u32)>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Shard, String> {
    if let Some((index, count)) = flag {
        return Ok(Shard { index, count });
    }
    for scheduler in SCHEDULERS {
        if let (Some(index), Some(count)) = (variable(scheduler.index), variable(scheduler.count)) {
            return scheduler.shard(&index, &count);
        }
    }
    Ok(Shard::WHOLE)
}

impl Scheduler {
    fn shard(&self, index: &str, count: &str) -> Result<Shard, String> {
        let expected =
            |name: &str, value: &str, what: &str| format!("{name} '{value}': expected {what}");
        let jobs: u32 = match count.parse() {
            Ok(jobs) if jobs > 0 => jobs,
            _ => return Err(expected(self.count, count, "a number of jobs, at least 1")),
        };
        let place = index.parse::<u32>().ok().and_then(|index| index.checked_sub(self.first));
        match place {
            Some(place) if place < jobs => Ok(Shard { index: place + 1, count: jobs }),
            _ => {
                let range = format!("{} to {}", self.first, jobs - 1 + self.first);
                Err(expected(self.index, index, &range))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Result<Shard, String> {
        shard(None, |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn each_scheduler_counts_in_its_own_way() {
        let kubernetes = with(&[("JOB_COMPLETION_INDEX", "0"), ("JOB_COMPLETIONS", "4")]);
        assert_eq!(kubernetes, Ok(Shard { index: 1, count: 4 }));
        let slurm = with(&[("SLURM_ARRAY_TASK_ID", "4"), ("SLURM_ARRAY_TASK_COUNT", "4")]);
        assert_eq!(slurm, Ok(Shard { index: 4, count: 4 }));
        assert_eq!(with(&[]), Ok(Shard::WHOLE));
    }

    #[test]
    fn a_flag_wins_over_the_environment() {
        assert_eq!(shard(Some((2, 3)), |_| Some("9".to_owned())), Ok(Shard { index: 2, count: 3 }));
    }

    #[test]
    fn an_index_outside_the_count_is_refused() {
        let wrong = with(&[("JOB_COMPLETION_INDEX", "4"), ("JOB_COMPLETIONS", "4")]);
        assert_eq!(wrong.unwrap_err(), "JOB_COMPLETION_INDEX '4': expected 0 to 3");
        assert!(with(&[("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "4")]).is_err());
        assert!(with(&[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "none")]).is_err());
    }
}
