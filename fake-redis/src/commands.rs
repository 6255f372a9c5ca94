//! The command table, with one module per family of commands.

mod blocking;
mod client;
mod cluster;
mod collection;
mod command_info;
mod config;
mod connection;
mod counter;
mod debug;
mod expire;
mod failover;
mod function;
mod hash;
mod hash_random;
mod info;
mod key;
mod list;
mod member_scan;
mod memory;
mod persistence;
mod pubsub;
mod replication;
mod scan;
mod script;
mod server;
mod set;
mod set_members;
mod shutdown;
mod sorted_set;
mod sorted_set_range;
mod stream;
mod string;
mod transaction;

pub(crate) use shutdown::end;

use crate::state::server::{Command, Table};
use std::sync::LazyLock;

static FAMILIES: &[&[Command]] = &[
    connection::COMMANDS,
    client::COMMANDS,
    cluster::COMMANDS,
    string::COMMANDS,
    counter::COMMANDS,
    key::COMMANDS,
    expire::COMMANDS,
    scan::COMMANDS,
    hash::COMMANDS,
    hash_random::COMMANDS,
    list::COMMANDS,
    set_members::COMMANDS,
    sorted_set::COMMANDS,
    sorted_set_range::COMMANDS,
    stream::COMMANDS,
    blocking::COMMANDS,
    member_scan::COMMANDS,
    memory::COMMANDS,
    transaction::COMMANDS,
    pubsub::COMMANDS,
    replication::COMMANDS,
    failover::COMMANDS,
    persistence::COMMANDS,
    script::COMMANDS,
    server::COMMANDS,
    info::COMMANDS,
    config::COMMANDS,
    function::COMMANDS,
    command_info::COMMANDS,
    debug::COMMANDS,
    shutdown::COMMANDS,
];

static TABLE: LazyLock<Table> =
    LazyLock::new(|| Table::new(FAMILIES.iter().flat_map(|family| family.iter())));

pub(crate) fn table() -> &'static Table {
    &TABLE
}
