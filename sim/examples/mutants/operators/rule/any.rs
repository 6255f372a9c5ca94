use crate::operators::wire::Marks;
use fencepost_machine::{
    ConnectionId, Input, Machine, MonotonicTime, Now, OperatorAction, Output, Outputs, WallTime,
};

pub(crate) enum Rule {
    Speed(u64),
    FsyncLies,
    StartsEmpty,
    Twice(u64),
    Forgets(u64),
}

pub(crate) enum ServerMistake {
    Not,
    Speed { begin: Now, ten_thousandths: u64 },
    FsyncLies,
    Twice { every: u64, heard: u64 },
    Forgets { after: u64, heard: u64 },
}

impl ServerMistake {
    pub(crate) fn new(rule: &Rule, begin: Now) -> ServerMistake {
        match *rule {
            Rule::Speed(ten_thousandths) => ServerMistake::Speed { begin, ten_thousandths },
            Rule::FsyncLies => ServerMistake::FsyncLies,
            Rule::StartsEmpty => ServerMistake::Not,
            Rule::Twice(every) => ServerMistake::Twice { every, heard: 0 },
            Rule::Forgets(after) => ServerMistake::Forgets { after, heard: 0 },
        }
    }

    pub(crate) fn now(&mut self, now: Now) -> Now {
        let ServerMistake::Speed { begin, ten_thousandths } = self else { return now };
        let passed = now.monotonic.0.saturating_sub(begin.monotonic.0);
        let shown = passed * *ten_thousandths / 10_000;
        let stepped = now.wall.0 - begin.wall.0 - passed as i64;
        Now {
            wall: WallTime(begin.wall.0 + stepped + shown as i64),
            monotonic: MonotonicTime(begin.monotonic.0 + shown),
        }
    }

    pub(crate) fn handle(
        &mut self,
        inner: &mut dyn Machine,
        (input, now, is_client): (Input<'_>, Now, &dyn Fn(ConnectionId) -> bool),
        marks: &Marks,
        out: &mut Outputs,
    ) {
        let asked = match input {
            Input::Received { connection, .. } if is_client(connection) => Some(connection),
            _ => None,
        };
        let can_forget = inner.supports(OperatorAction::FlushAll);
        let is_turn = asked.is_some() && self.is_turn(can_forget);
        if is_turn {
            marks.alter();
        }
        match self {
            ServerMistake::Twice { .. } if is_turn => {
                inner.handle(input, now, out);
                let first = out.list.len();
                inner.handle(input, now, out);
                let mut place = 0;
                out.list.retain(|output| {
                    place += 1;
                    place <= first || !matches!(output, Output::Send { .. })
                });
                return;
            }
            ServerMistake::Forgets { .. } if is_turn => {
                inner.handle(Input::Operator { action: OperatorAction::FlushAll }, now, out);
            }
            _ => {}
        }
        let first = out.list.len();
        inner.handle(input, now, out);
        match self {
            ServerMistake::Speed { ten_thousandths, .. } => {
                slow_timers(&mut out.list[first..], *ten_thousandths, marks);
            }
            ServerMistake::FsyncLies => lie(inner, now, marks, out),
            _ => {}
        }
    }

    fn is_turn(&mut self, can_forget: bool) -> bool {
        let (every, heard) = match self {
            ServerMistake::Twice { every, heard } => (every, heard),
            ServerMistake::Forgets { after, heard } if can_forget => (after, heard),
            _ => return false,
        };
        *heard += 1;
        *heard % *every == 0
    }
}

fn slow_timers(list: &mut [Output], ten_thousandths: u64, marks: &Marks) {
    for output in list {
        if let Output::WakeAfter { micros } = output {
            *micros = (*micros * 10_000).div_ceil(ten_thousandths);
        }
        marks.alter();
    }
}

fn lie(inner: &mut dyn Machine, now: Now, marks: &Marks, out: &mut Outputs) {
    while let Some(place) = out.list.iter().position(|output| *output == Output::DiskSync) {
        out.list.remove(place);
        marks.alter();
        inner.handle(Input::DiskSynced, now, out);
    }
}
