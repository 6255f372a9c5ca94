use fencepost_faults::{FaultPlan, Magnitude, SimTime, TimedFault, magnitudes, with_magnitude};

const SHIFTS_US: [i64; 11] = [
    0, -1_000, 1_000, -10_000, 10_000, -100_000, 100_000, -300_000, 300_000, -1_000_000, 1_000_000,
];
const MOVE_US: i64 = 300_000;
const MOVES: i64 = 20;
const STRETCHES: [i64; 2] = [100, 110];

pub(super) fn near(plan: &FaultPlan) -> impl Iterator<Item = FaultPlan> + '_ {
    let all = STRETCHES
        .into_iter()
        .flat_map(|stretch| SHIFTS_US.into_iter().map(move |shift| (shift, stretch)));
    all.filter(|variation| *variation != (0, 100))
        .map(|(shift, stretch)| varied(plan, shift, stretch))
}

pub(super) fn moved(plan: &FaultPlan) -> impl Iterator<Item = FaultPlan> + '_ {
    (1..=MOVES)
        .flat_map(|step| [step * MOVE_US, -step * MOVE_US])
        .map(|shift| varied(plan, shift, 100))
}

pub(super) fn varied(plan: &FaultPlan, shift_us: i64, stretch: i64) -> FaultPlan {
    let faults = plan.faults.iter().map(|timed| {
        let at_us = SimTime(timed.at_us.as_micros().saturating_add_signed(shift_us));
        TimedFault { id: timed.id, at_us, fault: stretched(timed, stretch) }
    });
    FaultPlan::new(faults.collect())
}

fn stretched(timed: &TimedFault, per_cent: i64) -> fencepost_faults::Fault {
    let sizes = magnitudes(&timed.fault)
        .into_iter()
        .filter(|(magnitude, _)| *magnitude != Magnitude::DownUs);
    sizes.fold(timed.fault.clone(), |fault, (magnitude, value)| {
        with_magnitude(&fault, magnitude, value.saturating_mul(per_cent) / 100)
    })
}
