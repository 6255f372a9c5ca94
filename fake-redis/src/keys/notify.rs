//! Publishes keyspace events (`notifyKeyspaceEvent` in notify.c).

use crate::config::events::EventClass;
use crate::state::server::Server;

impl Server {
    pub(crate) fn notify(&mut self, class: EventClass, event: &str, db: usize, key: &[u8]) {
        if !self.config.events.has(class) {
            return;
        }
        let mut digits = itoa::Buffer::new();
        let db = digits.format(db);
        if self.config.events.by_key() {
            let channel = [b"__keyspace@", db.as_bytes(), b"__:", key].concat();
            self.publish(&channel, event.as_bytes());
        }
        if self.config.events.by_event() {
            let channel = [b"__keyevent@", db.as_bytes(), b"__:", event.as_bytes()].concat();
            self.publish(&channel, key);
        }
    }
}
