//! Streams the primary's log to a standby (`walsender`).

use crate::bound::{Bound, Output};
use crate::client::Client;
use crate::core::Core;
use crate::error::{Outcome, SqlError};
use crate::stream::{Sender, shown};
use crate::types::{Type, Value};
use crate::wire::{self, Body};
use bytes::{BufMut, Bytes};
use fencepost_machine::WallTime;

/// The protocol's epoch, 2000-01-01, in microseconds since the Unix epoch.
const EPOCH_US: i64 = 946_684_800_000_000;
/// System identifier that the primary shares with its standbys.
const SYSTEM: &str = "7338219457620161536";

pub(super) fn stamp(wall: WallTime) -> i64 {
    wall.0 - EPOCH_US
}

fn position(text: &str) -> Option<u64> {
    let (high, low) = text.split_once('/')?;
    let part = |text| u64::from_str_radix(text, 16).ok().filter(|part| *part <= 0xffff_ffff);
    Some(part(high)? << 32 | part(low)?)
}

impl Client {
    pub(crate) fn handle_standby(&mut self, core: &mut Core, kind: u8, body: Bytes) {
        if let Some(sender) = &mut self.sender {
            sender.heard_at = core.now.monotonic.0;
        }
        match kind {
            b'Q' => {
                self.commands += 1;
                let answered = self.answer_standby(core, body);
                if let Err(error) = answered {
                    wire::error(&mut self.out, &error);
                    self.ready(core);
                }
            }
            b'd' => self.handle_progress(core, &body),
            _ => self.leave(core),
        }
    }

    fn answer_standby(&mut self, core: &Core, body: Bytes) -> Outcome<()> {
        let text = Body::new(body).string()?;
        let words: Vec<&str> = text.trim_end_matches(';').split_whitespace().collect();
        match words[..] {
            ["IDENTIFY_SYSTEM"] => {
                self.identify(core);
                Ok(())
            }
            ["START_REPLICATION", "PHYSICAL", from, "TIMELINE", "1"] => {
                let from = position(from).ok_or_else(|| syntax(from))?;
                self.begin_stream(core, from)
            }
            _ => Err(syntax(words.first().unwrap_or(&""))),
        }
    }

    fn identify(&mut self, core: &Core) {
        let column = |label: &str, kind| Output {
            label: label.to_owned(),
            bound: Bound::Constant(Value::Null),
            kind,
            origin: None,
        };
        let columns = [
            column("systemid", Type::Text),
            column("timeline", Type::Int4),
            column("xlogpos", Type::Text),
            column("dbname", Type::Text),
        ];
        let end = Value::Text(shown(core.log.flushed()));
        let row = [Value::Text(SYSTEM.to_owned()), Value::Integer(1), end, Value::Null];
        wire::row_description(&mut self.out, &columns, &[]);
        let _ = wire::data_row(&mut self.out, &row, &columns, &[]);
        wire::text(&mut self.out, b'C', "IDENTIFY_SYSTEM");
        self.ready(core);
    }

    fn begin_stream(&mut self, core: &Core, from: u64) -> Outcome<()> {
        if !core.log.has(from) {
            let message = format!(
                "requested starting point {} is ahead of the WAL flush position of this server {}",
                shown(from),
                shown(core.log.flushed())
            );
            return Err(SqlError::new("XX000", message));
        }
        if let Some(sender) = &mut self.sender {
            sender.sent = Some(from);
        }
        // A CopyBothResponse with text format and no columns.
        wire::message(&mut self.out, b'W', |out| out.put_slice(&[0, 0, 0]));
        Ok(())
    }

    fn handle_progress(&mut self, core: &mut Core, body: &Bytes) {
        let [b'r', fields @ ..] = body.as_ref() else { return };
        let Some(flushed) = fields.get(8..16).and_then(|bytes| bytes.try_into().ok()) else {
            return;
        };
        core.confirmed = core.confirmed.max(u64::from_be_bytes(flushed));
        if fields.last() == Some(&1) {
            let end = core.log.flushed();
            wire::message(&mut self.out, b'd', |out| {
                out.put_u8(b'k');
                out.put_u64(end);
                out.put_i64(stamp(core.now.wall));
                out.put_u8(0);
            });
        }
    }

    pub(crate) fn stream(&mut self, core: &Core) {
        let Some(Sender { sent: Some(sent), .. }) = &mut self.sender else { return };
        while let Some((start, part)) = core.log.after(*sent) {
            *sent = start + part.len() as u64;
            wire::message(&mut self.out, b'd', |out| {
                out.put_u8(b'w');
                out.put_u64(start);
                out.put_u64(core.log.flushed());
                out.put_i64(stamp(core.now.wall));
                out.put_slice(&part);
            });
        }
    }
}

fn syntax(near: &str) -> SqlError {
    SqlError::new("42601", format!("syntax error at or near \"{near}\""))
}
