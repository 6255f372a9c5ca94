//! Loads the files on the disk at startup (`loadDataFromDisk`).

use super::interlude;
use crate::data::append_only::{LogError, LogReader};
use crate::data::rdb::{self, RdbError};
use crate::protocol::error::CommandError;
use crate::state::client_key::ClientKey;
use crate::state::server::Server;
use fencepost_machine::{Damage, DiskFile, DiskImage, KeyChange, Output, Response};
use std::time::Duration;

const STEP_BYTES: usize = 16 * 1024;
const DRIVER_CALL_INTERVAL: Duration = Duration::from_millis(10);

enum Halt {
    Damaged(DiskFile, String),
    Stopped,
}

#[derive(Default)]
struct Pace {
    looked_at_byte: usize,
    driver_called_at: Duration,
}

impl Server {
    pub(crate) fn load_files(&mut self) {
        let Some(image) = self.persistence.start(self.clock.seconds()) else { return };
        self.life.is_loading = true;
        let loaded = self.load_image(&image);
        self.life.is_loading = false;
        match loaded {
            Ok(()) => {
                self.changes.unsaved = 0;
                self.report_restored();
                self.schedule_expiry();
            }
            Err(halt) => self.give_up_loading(halt),
        }
    }

    fn give_up_loading(&mut self, halt: Halt) {
        if let Halt::Damaged(file, what) = halt {
            let damage = Damage { file, what, response: Response::Refused };
            self.outbox.push_output(Output::Damaged(damage));
        }
        self.persistence.take_rewrite();
        if !self.life.is_over {
            self.stop();
        }
    }

    fn load_image(&mut self, image: &DiskImage) -> Result<(), Halt> {
        if let Some(snapshot) = &image.snapshot {
            self.load_snapshot(snapshot)?;
        }
        if self.persistence.wants_stream() {
            self.load_append_only(&image.append_only)?;
        }
        Ok(())
    }

    fn load_snapshot(&mut self, file: &[u8]) -> Result<(), Halt> {
        let damaged = |error: RdbError| Halt::Damaged(DiskFile::Snapshot, error.to_string());
        let now = self.now_ms();
        // Keep expired keys if an append-only file follows, because its commands were executed when
        // the keys existed (`RDBFLAGS_AOF_PREAMBLE`).
        let drops_expired = !self.is_replica() && !self.persistence.wants_stream();
        let is_gone =
            |saved: &rdb::SavedKey| drops_expired && saved.expires_at_ms.is_some_and(|at| at < now);
        let (mut reader, mut pace) = (rdb::Reader::new(file).map_err(damaged)?, Pace::default());
        while let Some(saved) = reader.next_key().map_err(damaged)? {
            if saved.db >= self.config.databases {
                return Err(damaged(RdbError::Database(saved.db)));
            }
            if !is_gone(&saved) {
                self.restore(saved.db, &saved.key, saved.value, saved.expires_at_ms);
            }
            self.call_driver_while_loading(&mut pace, reader.position)?;
        }
        // As in Redis, ignore the replication position if an append-only file follows.
        if let Some(origin) = reader.origin().filter(|_| !self.persistence.wants_stream()) {
            self.resume_history(&origin);
        }
        Ok(())
    }

    fn load_append_only(&mut self, file: &[u8]) -> Result<(), Halt> {
        let (mut reader, mut pace) = (LogReader::new(file), Pace::default());
        let mut words = Vec::new();
        let mut whole = 0;
        loop {
            let start = reader.position;
            match reader.next(&mut words) {
                Ok(true) => {}
                Ok(false) | Err(LogError::CutOff) => break,
                Err(LogError::Malformed) => return Err(bad_command(start, "no command")),
            }
            self.apply_from_disk(&words).map_err(|CommandError(text)| {
                let text = String::from_utf8_lossy(&text);
                bad_command(start, text.strip_prefix("ERR ").unwrap_or(&text))
            })?;
            if self.life.is_over {
                return Err(Halt::Stopped);
            }
            if !self.client(ClientKey::DISK).transaction.is_open() {
                whole = reader.position;
            }
            self.call_driver_while_loading(&mut pace, reader.position)?;
        }
        self.discard_transaction(ClientKey::DISK);
        self.client_mut(ClientKey::DISK).db = 0;
        if whole < file.len() { self.leave_out_tail(whole, file.len()) } else { Ok(()) }
    }

    fn leave_out_tail(&mut self, whole: usize, length: usize) -> Result<(), Halt> {
        let what = format!("cut off in the middle of a command at byte {whole} of {length}");
        if !self.config.aof_load_truncated {
            let what = format!("{what}, and aof-load-truncated is no");
            return Err(Halt::Damaged(DiskFile::AppendOnly, what));
        }
        let what = format!("{what}: loaded the commands before that byte");
        let damage = Damage { file: DiskFile::AppendOnly, what, response: Response::Repaired };
        self.outbox.push_output(Output::Damaged(damage));
        self.rewrite_append_only();
        Ok(())
    }

    fn call_driver_while_loading(&mut self, pace: &mut Pace, position: usize) -> Result<(), Halt> {
        if position - pace.looked_at_byte < STEP_BYTES {
            return Ok(());
        }
        pace.looked_at_byte = position;
        let Some(driver_calls) = self.long_script.driver_calls.as_ref() else { return Ok(()) };
        let driver = driver_calls.driver.clone();
        let now = driver.now();
        if driver.must_stop() {
            return Err(Halt::Stopped);
        }
        if now.saturating_sub(pace.driver_called_at) >= DRIVER_CALL_INTERVAL {
            pace.driver_called_at = now;
            interlude::call_driver_while_loading(self, &*driver);
        }
        if self.life.is_over { Err(Halt::Stopped) } else { Ok(()) }
    }

    fn report_restored(&mut self) {
        for db in 0..self.keyspace.databases() {
            for position in 0..self.database(db).len() {
                self.tap_entry(db, position, KeyChange::Restored);
            }
        }
    }
}

fn bad_command(position: usize, why: &str) -> Halt {
    Halt::Damaged(DiskFile::AppendOnly, format!("damaged at byte {position}: {why}"))
}
