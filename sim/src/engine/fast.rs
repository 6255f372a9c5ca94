use super::deadline::Watch;
use super::{EngineError, EngineRun, check};
use crate::world::agenda::NEMESIS;
use crate::world::kernel::Kernel;
use crate::world::state::Due;

pub(crate) fn run(kernel: &Kernel, engine_run: &EngineRun) -> Result<(), EngineError> {
    if !kernel.with(|state| state.turns.is_some()) {
        return run_noting(kernel, engine_run, |_| {});
    }
    run_noting(kernel, engine_run, |turn| {
        kernel.with(|state| state.turns.iter_mut().for_each(|turns| turns.push(turn)));
    })
}

#[inline]
fn run_noting(
    kernel: &Kernel,
    engine_run: &EngineRun,
    note: impl Fn(Due),
) -> Result<(), EngineError> {
    let mut next = kernel.with(|state| state.next());
    let mut watch = Watch::start();
    while let Some(first) = engine_run.admit(next) {
        watch.check()?;
        if engine_run.begin(kernel, first) {
            next = kernel.with(|state| state.next());
        }
        while let Some((_, host)) = next.filter(|(due, _)| *due <= first.0) {
            debug_assert_ne!(host, NEMESIS, "the nemesis has had its turn");
            note((first.0, host));
            next = kernel.turn(host);
            check(kernel)?;
        }
    }
    Ok(())
}
