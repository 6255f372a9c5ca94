//! Implements a replica's handshake with its primary (`syncWithMaster`).

use crate::protocol::outgoing::status_text;
use crate::state::replication::{Stage, Step, Transfer};
use crate::state::server::Server;
use bytes::Buf;
use redis_protocol::resp2::types::BytesFrame;

impl Server {
    pub(crate) fn begin_handshake(&mut self) {
        if let Some(outgoing) = self.replication.begin_handshake() {
            outgoing.command(&[b"PING"], Step::Pong);
        }
    }

    pub(crate) fn read_handshake(&mut self) {
        while matches!(self.replication.stage(), Stage::Handshake) {
            let Some(outgoing) = self.replication.outgoing() else { return };
            // A primary that is not ready yet sends empty lines to keep the connection alive.
            let blank = outgoing.undecoded().iter().take_while(|byte| **byte == b'\n').count();
            outgoing.undecoded().advance(blank);
            match outgoing.next_reply() {
                Ok(None) => return,
                Ok(Some((Some(step), reply))) => self.take_handshake_reply(step, &reply),
                Ok(Some((None, _))) | Err(_) => self.drop_link(),
            }
        }
    }

    fn take_handshake_reply(&mut self, step: Step, reply: &BytesFrame) {
        let text = status_text(reply).unwrap_or_default();
        match step {
            Step::Pong if is_refusal(reply) => self.drop_link(),
            Step::Pong => self.authenticate(),
            Step::Authenticated if matches!(reply, BytesFrame::Error(_)) => self.drop_link(),
            Step::Authenticated => {}
            Step::Introduced => {}
            Step::IntroducedAll => self.ask_for_stream(),
            Step::Synchronised => self.take_sync_reply(&String::from_utf8_lossy(text)),
        }
    }

    fn authenticate(&mut self) {
        let password = self.config.masterauth.clone();
        if let (Some(password), Some(outgoing)) = (password, self.replication.outgoing()) {
            outgoing.command(&[b"AUTH", &password], Step::Authenticated);
        }
        self.introduce();
    }

    fn introduce(&mut self) {
        let (host, port) = (self.config.host.clone(), self.config.port.to_string());
        let Some(outgoing) = self.replication.outgoing() else { return };
        outgoing.command(&[b"REPLCONF", b"listening-port", port.as_bytes()], Step::Introduced);
        outgoing.command(&[b"REPLCONF", b"ip-address", host.as_bytes()], Step::Introduced);
        outgoing.command(&[b"REPLCONF", b"capa", b"eof", b"capa", b"psync2"], Step::IntroducedAll);
    }

    fn ask_for_stream(&mut self) {
        let history = self.replication.history();
        let (id, next) = if self.replication.may_continue {
            (history.id().to_owned(), (history.offset() + 1).to_string())
        } else {
            ("?".to_owned(), "-1".to_owned())
        };
        let mut words: Vec<&[u8]> = vec![b"PSYNC", id.as_bytes(), next.as_bytes()];
        if self.replication.is_handing_over() {
            words.push(b"FAILOVER");
        }
        if let Some(outgoing) = self.replication.outgoing() {
            outgoing.command(&words, Step::Synchronised);
        }
    }

    fn take_sync_reply(&mut self, text: &str) {
        let words: Vec<&str> = text.split(' ').collect();
        if self.replication.is_handing_over() {
            // After PSYNC FAILOVER, either reply confirms that the other server has taken over.
            if !matches!(words.first(), Some(&("CONTINUE" | "FULLRESYNC"))) {
                return self.abort_failover();
            }
            self.end_failover();
        }
        match words.as_slice() {
            ["FULLRESYNC", id, offset] => {
                let offset = offset.parse().unwrap_or(0);
                self.replication.begin_transfer(Transfer::of(id, offset));
            }
            ["CONTINUE"] if self.replication.may_continue => self.begin_streaming(),
            ["CONTINUE", id] if self.replication.may_continue => {
                if self.replication.rename_history(id) {
                    self.disconnect_replicas();
                }
                self.begin_streaming();
            }
            // The cron retries, for example after `-NOMASTERLINK` or `-LOADING`.
            _ => self.drop_link(),
        }
    }
}

fn is_refusal(reply: &BytesFrame) -> bool {
    match reply {
        BytesFrame::Error(text) => !["NOAUTH", "NOPERM", "ERR operation not permitted"]
            .iter()
            .any(|known| text.starts_with(known)),
        _ => false,
    }
}
