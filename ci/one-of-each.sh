#!/usr/bin/env bash
# In a copy of this checkout, adds one example of each thing for which ARCHITECTURE.md names the
# place: a workload, a storage rule, a rule with its checker, a cause, a family of faults, a lock, a
# format, a quantity and a remedy. Prints how many files and lines each example needs, builds the
# copy, and runs it to check that the program lists and uses each example. Then removes lines again,
# one kind after another. Each time, the compiler must report what is missing.
#   ci/one-of-each.sh
# Builds in target/one-of-each, and keeps this folder.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR=$PWD/target/one-of-each CARGO_TERM_COLOR=never
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=false
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z | xargs -0 cp --parents -t "$copy"
cd "$copy"
git init -q .
commit() { git add -A && git -c user.name=ci -c user.email=ci@localhost commit -q -m "$1"; }
commit "as it was"

fail() { echo "$*" >&2; exit 1; }
# Adds lines at the end of a table: before its closing line, which is the first after the opening
# line.
#   entry FILE OPENING TEXT
entry() {
  text=$3 opening=$2 awk '
    { if (within && !done && /^[]}]/) { print ENVIRON["text"]; done = 1 } print }
    index($0, ENVIRON["opening"]) == 1 { within = 1 }
    END { exit !done }' "$1" >"$1.new" || fail "$1 has no table that opens with $2"
  mv "$1.new" "$1"
}
# Adds a declaration of a file after the first such declaration.
#   declare_file FILE TEXT
declare_file() {
  text=$2 awk '
    { print }
    !done && /^(pub(\(crate\))? )?mod [a-z_]+;$/ { print ENVIRON["text"]; done = 1 }
    END { exit !done }' "$1" >"$1.new" || fail "$1 declares no file"
  mv "$1.new" "$1"
}
# Prints what has changed since the last example, and commits it.
#   told SORT
told() {
  git add -A
  git diff --cached --numstat --diff-filter=A >"$copy/.git/added"
  git diff --cached --numstat --diff-filter=M >"$copy/.git/changed"
  printf '%-13s %d new, %d changed:' "$1" "$(wc -l <"$copy/.git/added")" \
    "$(wc -l <"$copy/.git/changed")"
  awk '{ printf " %s +%d", $3, $1 }' "$copy/.git/changed"
  echo
  [ "$(awk '{ gone += $2 } END { print gone + 0 }' "$copy/.git/changed")" -eq 0 ] \
    || fail "$1 changes lines that were there"
  commit "$1"
}

echo "what each takes, the file that is its own aside:"

entry reports/src/record/history/workload.rs 'workloads! {' \
  '    /// A count that falls.
    Countdown = Work { initial: 100, next: |value| Some(value - 1) },'
told workload

entry reports/src/record/history/setting.rs 'storage_rules! {' \
  '    /// Only reads are checked.
    FencedReads = Checks { reads: true, writes: false, writes_late: false },'
told 'storage rule'

cat >reports/src/judge/checker/below_ninety.rs <<'E'
//! What is guarded stays at 90 or above.

use super::Checker;
use crate::judge::finding::{Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::Timeline;
use crate::record::history::What;
use fencepost_faults::Micros;

pub(super) const CHECKER: Checker = Checker { name: "below-ninety", check };

pub(super) const MEANING: Meaning = Meaning {
    how: "It was counted down.",
    helps: "Count less.",
};

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    let below = |what: &What| matches!(what, What::Storage { after: 50..90, .. });
    let Some(index) = timeline.history.events.iter().position(|event| below(&event.what)) else {
        return Vec::new();
    };
    let event = &timeline.history.events[index];
    let what = "The guarded value fell below 90.".to_owned();
    vec![Finding {
        kind: Kind::BelowNinety,
        at: event.time_us,
        duration: Micros(0),
        processes: vec![event.node],
        what,
        witness: vec![index],
        clash: None,
    }]
}
E
declare_file reports/src/judge/checker.rs 'mod below_ninety;'
entry reports/src/judge/checker.rs 'checkers! {' '    below_ninety: BelowNinety = MEANING;'
entry reports/src/judge/finding.rs 'kinds! {' \
  '    /// What is guarded fell below 90.
    BelowNinety = Harm,'
told 'rule, checker'

cat >reports/src/explain/cause/moonlight.rs <<'E'
//! Two processes met by moonlight.

use super::entry::Entry;

pub(super) static ENTRY: Entry = Entry {
    how: "The moon shone.",
    helps: "Lock by day.",
    between: Some(|_| "The moon shone.".to_owned()),
    ..Entry::PLAIN
};
E
declare_file reports/src/explain/cause.rs 'mod moonlight;'
entry reports/src/explain/cause.rs 'causes! {' \
  '    /// Two processes met by moonlight.
    Moonlight = moonlight,'
entry reports/src/explain/cause/decision.rs 'table! {' \
  '    Owners { Moonlight: "the moon shone", When(|_| true); }'
told cause

cat >faults/src/family/siesta.rs <<'E'
//! `siesta`: the first process sleeps for a minute.

use super::Incident;
use crate::fault::Fault;
use crate::node::Node;
use crate::setting::Setting;
use crate::time::{Micros, SimTime};
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(_: &mut ChaCha8Rng, _: &Setting) -> Vec<Incident> {
    let fault = Fault::Pause { node: Node::Client(1), duration_us: Micros::from_secs(60) };
    vec![Incident::lone(SimTime(1_000_000), fault)]
}
E
declare_file faults/src/family.rs 'mod siesta;'
entry faults/src/family.rs 'families! {' '    Siesta = "the first process sleeps", Own(siesta::draw);'
told family

cat >clients/src/articles/no_lock.rs <<'E'
//! Everybody is granted the lock, and no server is asked.

use crate::env::Env;
use crate::owned_key::fresh_owner;
use crate::{Acquisition, Algorithm, Definition, Deployment, Lease, Release, Session};

/// The entry in the table of locks.
pub const DEFINITION: Definition = Definition {
    name: "no-lock",
    about: "everybody is granted it",
    deployment: Deployment::Primary,
    has_tokens: false,
    is_fair: false,
    models: None,
    build: |env, servers, settings| {
        let _ = Session::primary(&env, servers, settings);
        Box::new(NoLock { env })
    },
};

struct NoLock {
    env: Env,
}

impl Algorithm for NoLock {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let (resource, owner) = (resource.to_owned(), fresh_owner(&self.env));
        Acquisition::Granted(Lease { resource, owner, token: None, valid_until: None })
    }

    async fn release(&mut self, _: Lease) -> Release {
        Release::Released
    }
}
E
declare_file clients/src/articles.rs 'pub mod no_lock;'
entry clients/src/table.rs 'pub static CLIENTS' '    crate::articles::no_lock::DEFINITION,'
told lock

cat >reports/src/show/format/exporters/shout.rs <<'E'
//! Verdicts in capitals.

use crate::show::format::{Format, Needs};
use crate::show::view::View;
use crate::summary::report::Report;

pub(crate) const FORMAT: Format = Format {
    about: "verdicts in capitals",
    needs: Needs::Findings,
    runs: View::new("shout", shout),
    sweeps: None,
};

fn shout(report: &Report) -> String {
    report.runs.iter().map(|run| format!("{} WAS RUN\n", run.client.to_uppercase())).collect()
}
E
declare_file reports/src/show/format/exporters.rs 'pub(crate) mod shout;'
entry reports/src/show/format.rs 'pub static FORMATS' '    exporters::shout::FORMAT,'
told format

entry sim/src/studies/boundary/quantity.rs 'pub static QUANTITIES' \
  '    Varied {
        name: "longer-lease",
        about: "how long a lock lives at the server",
        unit: Unit::Us,
        worse: Worse::Less,
        only_on: None,
        families: &[],
        range: |_| (10_000_000, 40_000_000),
        set: |scenario, value| scenario.ttl = Span(Micros(value)),
        bounds: |_| Vec::new(),
    },'
told quantity

entry sim/src/diagnosis/safeguard.rs 'pub const SAFEGUARDS' \
  '    Safeguard {
        name: "nothing",
        fits: |_| true,
        with: Clone::clone,
        setting: |_| "nothing".to_owned(),
    },'
told remedy

printf '\nbuilding\n'
cargo build --quiet --locked -p fencepost --bin fencepost
fencepost=$CARGO_TARGET_DIR/debug/fencepost

# Runs the program and searches its output for texts.
#   says STATUS TEXT... -- ARGUMENTS...
says() {
  local wanted=$1 texts=() text status=0
  shift
  while [ "$1" != -- ]; do texts+=("$1"); shift; done
  shift
  "$fencepost" "$@" >"$copy/out" 2>"$copy/err" || status=$?
  [ "$status" -eq "$wanted" ] || { cat "$copy/err"; fail "fencepost $*: exit status $status"; }
  for text in "${texts[@]}"; do
    grep -qF -- "$text" "$copy/out" || fail "fencepost $* does not say: $text"
  done
  echo "used: fencepost $*"
}
says 0 countdown -- list workloads
says 0 fenced-reads -- list storages
says 0 siesta -- list faults
says 0 no-lock -- list clients
says 0 shout -- list formats
says 0 longer-lease -- list quantities
says 0 'fell below 90' -- explain below-ninety
says 0 moonlight -- explain moonlight
says 1 '"workload": "countdown"' '"kind": "below-ninety"' -- \
  run --workload countdown --client single-node --cycles 10 --no-shrink --engine fast --format json
says 1 '"storage": "fenced-reads"' '"fault": "siesta"' '"kind": "pause"' '"cause": "moonlight"' -- \
  run --storage fenced-reads --client no-lock --fault siesta --no-shrink --engine fast --format json
says 1 'remedies' 'nothing' -- run --client single-node --fault siesta --engine fast
says 1 'NO-LOCK WAS RUN' -- run --client no-lock --no-shrink --engine fast --format shout

# Removes a line from a file, with the documentation line above it. The command must report what is
# missing.
#   forgets FILE LINE ANSWER COMMAND...
forgets() {
  local file=$1 line=$2 answer=$3
  shift 3
  line=$line awk '
    held != "" && $0 != ENVIRON["line"] { print held }
    { held = "" }
    $0 == ENVIRON["line"] { gone = 1; next }
    /^    \/\/\/ / { held = $0; next }
    { print }
    END { exit !gone }' "$file" >"$file.new" || fail "$file has no line $line"
  mv "$file.new" "$file"
  "$@" >"$copy/out" 2>&1 || true
  grep -qF -- "$answer" "$copy/out" || { cat "$copy/out"; fail "nobody misses $line"; }
  printf '%s in %s: %s\n' "${line#"${line%%[![:space:]]*}"}" "$(basename "$file")" \
    "$(grep -F -- "$answer" "$copy/out" | head -n 1)"
  git checkout -q -- "$file"
}
check() { cargo check --quiet --locked --lib -p "$1"; }
printf '\nwhat is said of a line that was forgotten (CI denies warnings):\n'
forgets faults/src/family.rs '    Siesta = "the first process sleeps", Own(siesta::draw);' \
  'function `draw` is never used' check fencepost-faults
forgets reports/src/judge/checker.rs '    below_ninety: BelowNinety = MEANING;' \
  'pattern `Kind::BelowNinety` not covered' check fencepost-reports
forgets reports/src/judge/finding.rs '    BelowNinety = Harm,' \
  'no variant' check fencepost-reports
forgets reports/src/explain/cause.rs '    Moonlight = moonlight,' \
  'no variant' check fencepost-reports
forgets reports/src/explain/cause/decision.rs \
  '    Owners { Moonlight: "the moon shone", When(|_| true); }' \
  'every_cause_but_the_last_can_be_found' \
  cargo test --quiet --locked --lib -p fencepost-reports every_cause_but_the_last
forgets reports/src/show/format.rs '    exporters::shout::FORMAT,' \
  'constant `FORMAT` is never used' check fencepost-reports
forgets clients/src/table.rs '    crate::articles::no_lock::DEFINITION,' \
  'no_lock::DEFINITION is not in the table' \
  cargo test --quiet --locked --lib -p fencepost-clients every_lock_is_in_the_table
echo "one of each is what ARCHITECTURE.md says that it takes"
