//! Tests the sentences of new certificates and of those in `docs/data/certificates`.

use super::{Bounds, Grain, Span, SpanRange, bounds};
use crate::setup::scenario::{Hold, Persistence, Scenario};
use crate::studies::explore::certificate::bounds_of;
use crate::studies::explore::certificate::claim::{claim, not_covered};
use crate::studies::explore::plan::bounds::small_scenario;
use fencepost_reports::documents::certificate::{Certificate, read};
use fencepost_reports::show::view::View;
use std::path::{Path, PathBuf};

fn usual(client: &str, fault: &str) -> Bounds {
    Bounds { scenario: small_scenario(), ..bounds(client, fault, 1) }
}

fn with(bounds: &Bounds, change: impl FnOnce(&mut Scenario)) -> Bounds {
    let mut other = bounds.clone();
    change(&mut other.scenario);
    other
}

fn said(bounds: &Bounds) -> String {
    claim(bounds, 12)
}

#[track_caller]
fn says(bounds: &Bounds, sentence: &str) {
    let said = said(bounds);
    assert!(said.contains(sentence), "{said}");
}

#[track_caller]
fn never_says(bounds: &Bounds, words: &str) {
    let said = said(bounds);
    assert!(!said.contains(words), "{said}");
}

#[test]
fn a_claim_states_the_settings_that_differ() {
    let usual_crash = usual("redisson-redlock", "client-crash");
    never_says(&usual_crash, "Settings:");
    let hasty = with(&usual_crash, |scenario| scenario.calls.acquire_timeout = Span::secs(4));
    says(&hasty, " start times. Settings: acquire-timeout=4s. Faults begin");
    let one_latency = SpanRange::new(Span::millis(1), Span::millis(1));
    let both = with(&hasty, |scenario| scenario.timing.latency = one_latency);
    says(&both, " Settings: acquire-timeout=4s, latency=1ms.");
    let told = with(&usual_crash, |scenario| {
        (scenario.processes, scenario.cycles, scenario.servers.masters) = (3, 2, 5);
        (scenario.ttl, scenario.hold) = (Span::secs(20), Hold::UntilValidity);
    });
    says(&told, "Each run has 3 processes with 2 cycles each, 5 independent masters (quorum 3)");
    says(&told, "a lease of 20s and critical sections as long as the validity of the lock,");
    never_says(&told, "Settings:");
}

#[test]
fn a_claim_states_the_settings_that_decide_what_a_fault_does() {
    let forgets = usual("single-node", "restart");
    says(&forgets, " Settings: persistence=none.");
    let keeps = with(&forgets, |it| it.servers.persistence = Persistence::AofAlways);
    says(&keeps, " Settings: persistence=aof-always.");
    says(&usual("single-node", "failover"), " Settings: persistence=none.");
    never_says(&usual("etcd-mutex", "failover"), "persistence");
    says(&usual("fencing", "storage-delay"), " Settings: storage-timeout=1s.");
    let patient = with(&usual("fencing", "storage-delay"), |it| {
        it.calls.storage_timeout = Span::secs(9);
    });
    says(&patient, " Settings: storage-timeout=9s.");
    assert!(not_covered(&forgets).contains("other settings, such as time limits and persistence;"));
}

#[test]
fn a_claim_counts_servers_and_processes() {
    let one = with(&usual("curator-mutex", "lost-reply"), |it| it.servers.ensemble = 1);
    says(&one, " each, one server, a lease");
    says(&usual("curator-mutex", "lost-reply"), " an ensemble of 3 servers,");
    let alone = with(&usual("single-node", "failover"), |it| {
        (it.processes, it.servers.replicas) = (1, 1);
    });
    says(&alone, "Each run has 1 process with 1 cycle each, a primary with 1 replica,");
}

#[test]
fn a_claim_states_lengths_only_of_faults_that_have_them() {
    for fault in ["pause", "suspend", "client-crash", "latency", "storage-delay", "partition"] {
        let client = if fault == "storage-delay" { "fencing" } else { "single-node" };
        says(&usual(client, fault), " They end ");
        says(&usual(client, fault), ", and last up to 15s.");
        let others = not_covered(&usual(client, fault));
        let lengths = "; faults of other lengths, including faults longer than 15s;";
        assert!(others.contains(lengths), "{others}");
    }
    for fault in ["restart", "lost-reply", "lost-request", "eviction", "clock-jump", "failover"] {
        never_says(&usual("single-node", fault), " end ");
        never_says(&usual("single-node", fault), "last up to");
    }
    let mixed = usual("single-node", "pause+restart");
    says(&mixed, " Faults of pause end halfway between any two timers or events");
    says(&mixed, " Servers are back immediately.");
    let three = usual("single-node", "pause+partition+restart");
    says(&three, " Faults of pause and partition end halfway between any two timers or events");
    says(&three, " (a partition just after each time that the network checks");
    let restart = not_covered(&usual("single-node", "restart"));
    assert!(restart.contains("; other downtimes of restarted servers;"), "{restart}");
    assert!(!restart.contains("15s"), "{restart}");
}

#[test]
fn a_claim_states_clock_steps_and_evictions() {
    let coarse = usual("single-node", "clock-jump");
    let ends = " between the step, the ends of leases and 15s later. Ends of leases within a round";
    says(&coarse, " Clocks step forward and back by 15s, and by the time to the middle of each");
    says(&coarse, ends);
    let fine = Bounds { grain: Grain::Fine, ..coarse };
    says(&fine, " by just less and just more than the time to each end of a lease, by 100us, and");
    says(&usual("single-node", "eviction"), " A server evicts keys or is flushed.");
    let others = not_covered(&fine);
    assert!(
        others.contains("; clock steps of other sizes, including steps larger than 15s;"),
        "{others}"
    );
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

fn published() -> Vec<(PathBuf, String)> {
    let folder = std::fs::read_dir(docs().join("data/certificates")).expect("the folder is there");
    let paths = folder.map(|entry| entry.expect("it can be read").path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "json")).collect();
    paths.sort();
    let text = |path: &PathBuf| std::fs::read_to_string(path).expect("it is text");
    paths.iter().map(|path| (path.clone(), text(path))).collect()
}

/// With `INSTA_UPDATE=always`, rewrites the sentences and checksums of the published certificates.
#[test]
fn published_certificates_state_what_their_bounds_say() {
    let rewrites = std::env::var("INSTA_UPDATE").is_ok_and(|it| it == "always");
    for (path, text) in published() {
        let written = read(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let bounds = bounds_of(&written.bounds).expect("explore has written them");
        let claim = claim(&bounds, written.bounds.conditions.len());
        let not_covered = not_covered(&bounds);
        let again = Certificate { claim, not_covered, ..written };
        let again = View::JSON.write(&again.sealed().expect("it is JSON")).expect("it is JSON");
        if rewrites {
            std::fs::write(&path, again).expect("it can be written");
        } else {
            assert!(text == again, "{}: expected:\n{again}", path.display());
        }
    }
}

#[test]
fn the_page_of_certificates_counts_their_runs() {
    let page = std::fs::read_to_string(docs().join("certificates.md")).expect("it is text");
    let mut sum = 0;
    for (path, text) in published() {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("it is text").to_owned();
        let runs = read(&text).expect("it is a certificate").runs;
        sum += runs.all;
        let row = page.lines().find(|line| line.starts_with(&format!("| [{name}](")));
        let row = row.unwrap_or_else(|| panic!("{name} has no row")).replace(',', "");
        let ends = format!("| {} | {} | {} |", runs.all, runs.valid, runs.unknown);
        assert!(row.ends_with(&ends), "{row}: expected {ends}");
    }
    let said = format!("The certificates cover {sum} runs in total.");
    assert!(page.replace(',', "").contains(&said), "{said}");
}
