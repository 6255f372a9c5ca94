//! Publish/subscribe commands (pubsub.c).

use crate::config::RedisVersion;
use crate::data::glob;
use crate::protocol::error::CommandResult;
use crate::protocol::reply::Reply;
use crate::state::client_key::ClientKey;
use crate::state::command_info::{Flags, Keys};
use crate::state::effects::Targets;
use crate::state::server::{Call, Command, Server};
use crate::state::subscription::Kind;

const LISTEN: Flags =
    Flags::PUBSUB.union(Flags::NOSCRIPT).union(Flags::LOADING).union(Flags::STALE);
const SPEAK: Flags = Flags::PUBSUB
    .union(Flags::LOADING)
    .union(Flags::STALE)
    .union(Flags::FAST)
    .union(Flags::MAY_REPLICATE);
const QUERY_FLAGS: Flags = Flags::PUBSUB.union(Flags::LOADING).union(Flags::STALE);

pub(crate) static COMMANDS: &[Command] = &[
    Command::new("subscribe", -2, LISTEN, Keys::NONE, |call| subscribe(call, Kind::Channel)),
    Command::new("psubscribe", -2, LISTEN, Keys::NONE, |call| subscribe(call, Kind::Pattern)),
    Command::new("ssubscribe", -2, LISTEN, Keys::ALL, |call| subscribe(call, Kind::ShardChannel))
        .since(RedisVersion::V7_0),
    Command::new("unsubscribe", -1, LISTEN, Keys::NONE, |call| unsubscribe(call, Kind::Channel)),
    Command::new("punsubscribe", -1, LISTEN, Keys::NONE, |call| unsubscribe(call, Kind::Pattern)),
    Command::new("sunsubscribe", -1, LISTEN, Keys::ALL, |call| {
        unsubscribe(call, Kind::ShardChannel)
    })
    .since(RedisVersion::V7_0),
    Command::new("publish", 3, SPEAK, Keys::NONE, publish),
    Command::new("spublish", 3, SPEAK, Keys::ONE, spublish).since(RedisVersion::V7_0),
    Command::container(
        "pubsub",
        &[
            Command::sub("pubsub|channels", -2, QUERY_FLAGS, |call| channels(call, Kind::Channel)),
            Command::sub("pubsub|numpat", 2, QUERY_FLAGS, numpat),
            Command::sub("pubsub|numsub", -2, QUERY_FLAGS, |call| numsub(call, Kind::Channel)),
            Command::sub("pubsub|shardchannels", -2, QUERY_FLAGS, |call| {
                channels(call, Kind::ShardChannel)
            })
            .since(RedisVersion::V7_0),
            Command::sub("pubsub|shardnumsub", -2, QUERY_FLAGS, |call| {
                numsub(call, Kind::ShardChannel)
            })
            .since(RedisVersion::V7_0),
        ],
    ),
];

fn count_of(server: &Server, key: ClientKey, kind: Kind) -> usize {
    let subscriptions = server.client(key).subscriptions();
    match kind {
        Kind::ShardChannel => subscriptions.of(kind).len(),
        _ => subscriptions.of(Kind::Channel).len() + subscriptions.of(Kind::Pattern).len(),
    }
}

fn confirm(reply: &mut Reply, word: &str, name: Option<&[u8]>, count: usize) {
    reply.push(3);
    reply.bulk(word.as_bytes());
    reply.bulk_or_null(name);
    reply.count(count);
}

fn subscribe(call: &mut Call<'_>, kind: Kind) -> CommandResult {
    let word = match kind {
        Kind::Channel => "subscribe",
        Kind::Pattern => "psubscribe",
        Kind::ShardChannel => "ssubscribe",
    };
    for name in call.args.from(1).iter() {
        if call.client().subscribe(kind, name) {
            call.server.pubsub.add(kind, name, call.client);
        }
        let count = count_of(call.server, call.client, kind);
        confirm(call.reply, word, Some(name), count);
    }
    Ok(())
}

fn unsubscribe(call: &mut Call<'_>, kind: Kind) -> CommandResult {
    let word = match kind {
        Kind::Channel => "unsubscribe",
        Kind::Pattern => "punsubscribe",
        Kind::ShardChannel => "sunsubscribe",
    };
    let names: Vec<Box<[u8]>> = match call.args.len() {
        1 => call.client().subscriptions().of(kind).iter().cloned().collect(),
        _ => call.args.from(1).iter().map(Into::into).collect(),
    };
    if names.is_empty() {
        let count = count_of(call.server, call.client, kind);
        confirm(call.reply, word, None, count);
    }
    for name in names {
        if call.client().unsubscribe(kind, &name) {
            call.server.pubsub.remove(kind, &name, call.client);
        }
        let count = count_of(call.server, call.client, kind);
        confirm(call.reply, word, Some(&name), count);
    }
    Ok(())
}

impl Server {
    pub(crate) fn unsubscribe_all(&mut self, key: ClientKey) {
        let subscriptions = self.client_mut(key).unsubscribe_all();
        self.pubsub.forget(key, &subscriptions);
    }
}

fn publish(call: &mut Call<'_>) -> CommandResult {
    let receivers = call.server.publish(call.arg(1), call.arg(2));
    publish_to_replicas(call);
    call.reply.count(receivers);
    Ok(())
}

fn spublish(call: &mut Call<'_>) -> CommandResult {
    let receivers = call.server.publish_to_shard(call.arg(1), call.arg(2));
    publish_to_replicas(call);
    call.reply.count(receivers);
    Ok(())
}

fn publish_to_replicas(call: &mut Call<'_>) {
    call.server.add_effect_of(call.db, Targets::REPLICAS, call.args.iter());
}

fn channels(call: &mut Call<'_>, kind: Kind) -> CommandResult {
    if call.args.len() > 3 {
        return Err(call.unknown_form());
    }
    let pattern = if call.args.len() == 3 { call.arg(2) } else { b"*" };
    let names = call.server.pubsub.of(kind).keys();
    let names: Vec<&Box<[u8]>> = names.filter(|name| glob::matches(pattern, name)).collect();
    call.reply.array(names.len());
    names.into_iter().for_each(|name| call.reply.bulk(name));
    Ok(())
}

fn numsub(call: &mut Call<'_>, kind: Kind) -> CommandResult {
    let names = call.args.from(2);
    call.reply.array(names.len() * 2);
    for name in names.iter() {
        call.reply.bulk(name);
        call.reply.count(call.server.pubsub.of(kind).get(name).map_or(0, Vec::len));
    }
    Ok(())
}

fn numpat(call: &mut Call<'_>) -> CommandResult {
    call.reply.count(call.server.pubsub.of(Kind::Pattern).len());
    Ok(())
}
