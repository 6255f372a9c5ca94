use crate::setup::scenario::{Calls, Scenario};
use crate::world::recorder::Recorder;
use fencepost_clients::Env;
use fencepost_faults::{Node, draw};
use fencepost_reports::GivingUp;
use rand_chacha::ChaCha8Rng;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

const IMPATIENT_PER_MILLE: u64 = 500;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Impatience {
    patience: Duration,
    how: GivingUp,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the application cancelled the call")]
pub(super) struct Cancelled;

pub(super) struct CallRecorder {
    pub(super) env: Env,
    pub(super) recorder: Rc<Recorder>,
    pub(super) node: Node,
    pub(super) operation: u64,
}

impl Impatience {
    pub(super) fn draw(
        draws: &mut ChaCha8Rng,
        scenario: &Scenario,
        are_such: fn(Calls) -> bool,
    ) -> Option<Impatience> {
        let how = match (are_such(scenario.calls.cancel), are_such(scenario.calls.interrupt)) {
            (false, false) => return None,
            (true, false) => GivingUp::Cancelled,
            (false, true) => GivingUp::Interrupted,
            (true, true) => *draw::pick(draws, &[GivingUp::Cancelled, GivingUp::Interrupted]),
        };
        let is_impatient = draw::chance(draws, IMPATIENT_PER_MILLE);
        let patience_us = draw::log_uniform(draws, scenario.calls.patience.micros());
        let patience = Duration::from_micros(patience_us);
        is_impatient.then_some(Impatience { patience, how })
    }
}

pub(super) async fn until_given_up<T>(
    call_recorder: CallRecorder,
    impatience: Option<Impatience>,
    call: impl Future<Output = T>,
) -> Result<T, Cancelled> {
    let Some(Impatience { patience, how }) = impatience else { return Ok(call.await) };
    let CallRecorder { env, recorder, node, operation } = call_recorder;
    let mut call = Box::pin(call);
    if let Some(outcome) = env.timeout(patience, call.as_mut()).await {
        return Ok(outcome);
    }
    recorder.gives_up(node, operation, how);
    match how {
        GivingUp::Cancelled => Err(Cancelled),
        GivingUp::Interrupted => Ok(env.interrupting(call.as_mut()).await),
    }
}
