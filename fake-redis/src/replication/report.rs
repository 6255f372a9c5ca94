//! Replication as shown by INFO and ROLE (`genRedisInfoString`, `roleCommand`).

use crate::protocol::reply::Reply;
use crate::state::replication::Stage;
use crate::state::server::Server;
use std::fmt::Write;

impl Server {
    pub(crate) fn write_role(&self, reply: &mut Reply) {
        let replication = &self.replication;
        let Some((host, port)) = replication.primary() else {
            reply.array(3);
            reply.bulk(b"master");
            reply.integer(replication.offset() as i64);
            let online = || replication.replicas().iter().filter(|replica| replica.is_online());
            reply.array(online().count());
            for replica in online() {
                reply.array(3);
                reply.bulk(replica.host.as_bytes());
                reply.bulk_integer(i64::from(replica.port));
                reply.bulk_integer(replica.acknowledged as i64);
            }
            return;
        };
        reply.array(5);
        reply.bulk(b"slave");
        reply.bulk(host.as_bytes());
        reply.integer(i64::from(*port));
        reply.bulk(match replication.stage() {
            Stage::Unconnected => b"connect",
            Stage::Connecting => b"connecting",
            Stage::Handshake => b"handshake",
            Stage::Transfer(_) => b"sync",
            Stage::Streaming => b"connected",
        });
        reply.integer(if replication.is_link_up() { replication.offset() as i64 } else { -1 });
    }

    pub(crate) fn write_replication_info(&self, text: &mut String) {
        let replication = &self.replication;
        let role = if replication.is_replica() { "slave" } else { "master" };
        let _ = write!(text, "role:{role}\r\n");
        self.write_primary(text);
        let _ = write!(text, "connected_slaves:{}\r\n", replication.replicas().len());
        if self.config.min_replicas_to_write > 0 && self.config.min_replicas_max_lag > 0 {
            let good = replication.good_replicas;
            let _ = write!(text, "min_slaves_good_slaves:{good}\r\n");
        }
        for (number, replica) in replication.replicas().iter().enumerate() {
            let (state, lag) = if replica.is_online() {
                ("online", self.clock.seconds() - replica.acknowledged_at)
            } else {
                ("wait_bgsave", 0)
            };
            let (host, port, offset) = (&replica.host, replica.port, replica.acknowledged);
            let _ = write!(
                text,
                "slave{number}:ip={host},port={port},state={state},offset={offset},lag={lag}\r\n"
            );
        }
        self.write_history(text);
    }

    fn write_primary(&self, text: &mut String) {
        let replication = &self.replication;
        let Some((host, port)) = replication.primary() else { return };
        let is_up = replication.is_link_up();
        let now = self.clock.seconds();
        let heard = if is_up { replication.silent_for(now) } else { -1 };
        let offset = if replication.may_continue { replication.offset() } else { 1 };
        let in_transfer = u8::from(matches!(replication.stage(), Stage::Transfer(_)));
        let status = if is_up { "up" } else { "down" };
        let _ = write!(
            text,
            "master_host:{host}\r\nmaster_port:{port}\r\nmaster_link_status:{status}\r\n"
        );
        let _ = write!(
            text,
            "master_last_io_seconds_ago:{heard}\r\nmaster_sync_in_progress:{in_transfer}\r\n"
        );
        let _ = write!(text, "slave_read_repl_offset:{offset}\r\nslave_repl_offset:{offset}\r\n");
        if !is_up {
            let down = replication.down_since.map_or(-1, |since| now - since);
            let _ = write!(text, "master_link_down_since_seconds:{down}\r\n");
        }
        let (priority, read_only) =
            (self.config.replica_priority, u8::from(self.config.replica_read_only));
        let _ = write!(
            text,
            "slave_priority:{priority}\r\nslave_read_only:{read_only}\r\nreplica_announced:1\r\n"
        );
    }

    fn write_history(&self, text: &mut String) {
        let history = self.replication.history();
        let (first, length) = history.kept().unwrap_or((0, 0));
        let _ = write!(text, "master_failover_state:{}\r\n", self.replication.failover_state());
        let _ = write!(
            text,
            "master_replid:{}\r\nmaster_replid2:{}\r\n",
            history.id(),
            history.second_id()
        );
        let _ = write!(text, "master_repl_offset:{}\r\n", history.offset());
        let _ = write!(text, "second_repl_offset:{}\r\n", history.second_offset());
        let size = history.size_max().unwrap_or(self.config.backlog_size);
        let active = u8::from(history.has_backlog());
        let _ = write!(text, "repl_backlog_active:{active}\r\nrepl_backlog_size:{size}\r\n");
        let _ = write!(
            text,
            "repl_backlog_first_byte_offset:{first}\r\nrepl_backlog_histlen:{length}\r\n"
        );
    }
}
