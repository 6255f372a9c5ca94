use super::entry::{Entry, Need};
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use crate::record::history::Change;

pub(super) static ENTRY: Entry = Entry {
    how: "The server's memory was full, and the server frees memory by evicting keys.",
    helps: "Do not use a server that holds locks as a cache. On Redis, set maxmemory-policy \
            noeviction; on memcached, use -M, which returns an error instead of evicting.",
    needs: &[Need::Change(Change::Evicted)],
    between: Some(between),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let what = match scene.kind {
        Kind::TokenRegression | Kind::FencedOut => "the token counter",
        _ => "the lock",
    };
    match scene.lost_at(Change::Evicted) {
        (server, true) => {
            let at = scene.ended_at(Change::Evicted).filter(|_| what == "the lock");
            let at = at.map_or(String::new(), |at| format!(" at {at}"));
            format!("{server} was out of memory and evicted {what}{at}.")
        }
        (servers, false) => format!("{servers} were out of memory and evicted {what}."),
    }
}
