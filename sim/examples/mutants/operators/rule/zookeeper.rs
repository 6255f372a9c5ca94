use crate::operators::wire::{Exchange, Heard};

pub(crate) enum Rule {
    Asks(fn(&mut Vec<u8>, i32) -> bool),
    Unsent(i32),
    Hears(fn(&mut Vec<u8>, i32) -> bool),
    NoWatches,
    Timeout(i32, i32),
}

pub(crate) const CREATE: i32 = 1;
pub(crate) const DELETE: i32 = 2;
pub(crate) const EXISTS: i32 = 3;
pub(crate) const GET_DATA: i32 = 4;
pub(crate) const GET_CHILDREN: i32 = 8;
pub(crate) const PING: i32 = 11;
pub(crate) const SET_WATCHES: i32 = 101;
pub(crate) const CLOSE: i32 = -11;
pub(crate) const CONNECT: i32 = i32::MIN;

pub(crate) fn int(frame: &[u8], at: usize) -> Option<i32> {
    frame.get(at..)?.first_chunk::<4>().map(|bytes| i32::from_be_bytes(*bytes))
}

pub(crate) fn put(frame: &mut [u8], at: usize, value: i32) {
    if let Some(spot) = frame.get_mut(at..at + 4) {
        spot.copy_from_slice(&value.to_be_bytes());
    }
}

fn done(xid: i32) -> Vec<u8> {
    let body: [&[u8]; 4] = [&16_i32.to_be_bytes(), &xid.to_be_bytes(), &[0; 8], &[0; 4]];
    body.concat()
}

fn is_whole(frame: &[u8]) -> bool {
    int(frame, 0).and_then(|length| usize::try_from(length).ok()) == Some(frame.len() - 4)
}

impl Rule {
    pub(crate) fn hears(&self, exchange: &mut Exchange<'_>, bytes: &[u8]) -> Heard {
        if !exchange.peer.is_client || bytes.len() < 8 || !is_whole(bytes) {
            return Heard::AsItIs;
        }
        let first = exchange.peer.heard == 0;
        let kind = if first { CONNECT } else { int(bytes, 8).unwrap_or(CONNECT) };
        let mut frame = bytes.to_vec();
        exchange.peer.asked = kind.to_be_bytes().to_vec();
        match self {
            Rule::Asks(rule) if !first => {
                let is_changed = rule(&mut frame, kind);
                Heard::changed(is_changed, frame)
            }
            Rule::Unsent(what) if *what == kind => {
                Heard::Answered(done(int(bytes, 4).unwrap_or_default()))
            }
            Rule::Timeout(times, by) if first => {
                let asked = int(bytes, 16).unwrap_or_default();
                exchange.peer.owner = asked.to_be_bytes().to_vec();
                put(&mut frame, 16, asked.saturating_mul(*times) / by);
                Heard::Instead(frame)
            }
            _ => Heard::AsItIs,
        }
    }

    pub(crate) fn says(&self, exchange: &mut Exchange<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
        if !exchange.peer.is_client || bytes.len() < 12 || !is_whole(bytes) {
            return None;
        }
        let kind = int(&exchange.peer.asked, 0).unwrap_or(CONNECT);
        let is_watch = kind != CONNECT && int(bytes, 4) == Some(-1);
        let mut frame = bytes.to_vec();
        match self {
            Rule::NoWatches => is_watch.then(Vec::new),
            Rule::Hears(rule) if kind != CONNECT && !is_watch => {
                rule(&mut frame, kind).then_some(frame)
            }
            Rule::Timeout(..) if kind == CONNECT && int(bytes, 8) > Some(0) => {
                put(&mut frame, 8, int(&exchange.peer.owner, 0)?);
                Some(frame)
            }
            _ => None,
        }
    }
}
