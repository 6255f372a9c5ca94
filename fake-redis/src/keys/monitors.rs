//! MONITOR: shows clients every executed command (`replicationFeedMonitors`).

use crate::protocol::args::Args;
use crate::state::client::Role;
use crate::state::client_key::ClientKey;
use crate::state::command_info::Flags;
use crate::state::server::{Command, Server};
use bytes::Bytes;

impl Server {
    /// Administrative commands are not shown, as in `call` in server.c.
    pub(crate) fn show_to_monitors(&mut self, key: ClientKey, command: &Command, args: Args<'_>) {
        if self.roster.monitors().is_empty()
            || self.life.is_loading()
            || command.flags.intersects(Flags::SKIP_MONITOR | Flags::ADMIN)
        {
            return;
        }
        let line = Bytes::from(self.monitor_line(key, args));
        for monitor in self.roster.monitors().to_vec() {
            self.push_to(monitor, line.clone());
        }
    }

    fn monitor_line(&self, key: ClientKey, args: Args<'_>) -> Vec<u8> {
        let client = self.client(key);
        let from = if client.role() == Role::Script { "lua" } else { client.peer() };
        let (seconds, micros) =
            (self.clock.now().0.div_euclid(1_000_000), self.clock.now().0.rem_euclid(1_000_000));
        let mut line = format!("+{seconds}.{micros:06} [{} {from}]", client.db).into_bytes();
        for argument in args.iter() {
            line.extend_from_slice(b" \"");
            argument.iter().for_each(|byte| push_escaped(&mut line, *byte));
            line.push(b'"');
        }
        line.extend_from_slice(b"\r\n");
        line
    }
}

/// `sdscatrepr` in sds.c.
fn push_escaped(line: &mut Vec<u8>, byte: u8) {
    let letter = match byte {
        b'\\' | b'"' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        7 => b'a',
        8 => b'b',
        b' '..=b'~' => return line.push(byte),
        byte => return line.extend_from_slice(format!("\\x{byte:02x}").as_bytes()),
    };
    line.extend_from_slice(&[b'\\', letter]);
}
