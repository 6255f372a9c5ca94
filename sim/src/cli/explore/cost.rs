use crate::cli::Failure;
use crate::cli::progress::in_words;
use crate::studies::explore::Survey;
use std::thread::available_parallelism;

const RUNS_MAX_WITHOUT_YES: u128 = 1_000_000;

pub(super) fn require_confirmation(survey: &Survey, jobs: usize) -> Result<(), Failure> {
    if survey.all_runs() <= RUNS_MAX_WITHOUT_YES {
        return Ok(());
    }
    Err(Failure::wrong(format!(
        "the exploration needs {}, and more than {RUNS_MAX_WITHOUT_YES} runs need --yes: add \
         --yes, run a shard with --shard M/N, or reduce --faults, --processes, --cycles or the \
         fault families",
        total_cost(survey, jobs)
    )))
}

pub(super) fn total_cost(survey: &Survey, jobs: usize) -> String {
    let runs = survey.all_runs();
    let threads = jobs.min(available_parallelism().map_or(1, usize::from));
    let time = survey.run_us.map_or_else(String::new, |us| {
        let seconds = runs.saturating_mul(u128::from(us)) / threads as u128 / 1_000_000;
        let took = in_words(u64::try_from(seconds).unwrap_or(u64::MAX));
        format!(", about {took} on {threads} {}", if threads == 1 { "core" } else { "cores" })
    });
    let plans = match survey.bytes().div_ceil(1 << 20) {
        0 => String::new(),
        size => format!(", {} MiB for the plans", rounded(size)),
    };
    format!("about {} runs{time}{plans}", rounded(runs))
}

fn rounded(number: u128) -> String {
    match number.checked_ilog10() {
        Some(size @ 10..) => {
            let tenths = number / 10u128.pow(size - 1);
            format!("{}.{} x 10^{size}", tenths / 10, tenths % 10)
        }
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(pairs: u128) -> Survey {
        Survey { runs: [12, 1_000, pairs, 0], kept: 1_000, run_us: Some(100) }
    }

    #[test]
    fn a_million_runs_are_begun_unasked_and_more_are_not() {
        assert!(require_confirmation(&survey(998_988), 1).is_ok());
        let said = require_confirmation(&survey(998_989), 1).unwrap_err().to_string();
        for part in ["about 1000001 runs", "1 min 40 s on 1 core", "1 MiB", "--yes", "--shard"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(
            require_confirmation(&survey(998_989).of_shards(2), 1).is_ok(),
            "a part of it is less"
        );
        let no_clock = Survey { run_us: None, ..survey(7) };
        assert_eq!(total_cost(&no_clock, 1), "about 1019 runs, 1 MiB for the plans");
    }

    #[test]
    fn what_nobody_lives_to_see_is_said_in_few_digits() {
        let said = total_cost(&survey(u128::MAX), 1);
        assert!(said.starts_with("about 3.4 x 10^38 runs, about "), "{said}");
        assert!(said.contains("years on 1 core"), "{said}");
        let billions = require_confirmation(&survey(36_000_000_000), 1).unwrap_err().to_string();
        assert!(billions.contains("3.6 x 10^10 runs, about 41 days on 1 core"), "{billions}");
    }
}
