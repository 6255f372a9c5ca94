//! Mutants: the locks and servers of a run with one mistake planted, to test the tests.
//!
//! A mistake is an [`Operator`], one line in the table of its coordinator ([`redis`],
//! [`memcached`], [`zookeeper`], [`postgresql`], [`mysql`], [`etcd`]), or of [`any`] server. It
//! changes what a client sends, what it is answered, or what the server is told of time and disks.
//! So it serves every lock, whoever wrote it, and no lock or server knows of it: [`machine`] wraps
//! the server's machine where one is planted ([`Scenario::mutant`]), and where none is planted
//! there is no wrapper.
//!
//! A new operator is a line in a table. What it did to a lock is counted ([`Marks`]): an operator
//! that changed nothing made no mutant.
//!
//! [`Scenario::mutant`]: crate::setup::scenario::Scenario

mod any;
mod etcd;
mod machine;
mod memcached;
mod mysql;
mod operator;
mod postgresql;
mod redis;
mod resp;
mod storage;
mod wire;
mod zookeeper;

pub use operator::{Operator, Side};
pub(crate) use wire::Marks;

use crate::setup::scenario::Mutant;
use crate::world::server::Factory;
use fencepost_clients::Definition;
use fencepost_faults::Node;
use std::rc::Rc;

/// Every operator, in the order in which they are listed for people.
pub fn operators() -> impl Iterator<Item = &'static Operator> {
    let tables: [&'static [Operator]; 10] = [
        redis::TAKING,
        redis::KEEPING,
        redis::SERVERS,
        memcached::TABLE,
        zookeeper::TABLE,
        postgresql::TABLE,
        mysql::TABLE,
        etcd::TABLE,
        storage::TABLE,
        any::TABLE,
    ];
    tables.into_iter().flatten()
}

/// The operators that may mean something to a lock.
pub fn operators_for(lock: &Definition) -> impl Iterator<Item = &'static Operator> {
    operators().filter(move |operator| operator.fits(lock))
}

/// The server of a node with the mistake planted, if one is and it is made there.
pub(crate) fn planted(
    mutant: Option<Mutant>,
    node: Node,
    factory: Factory,
    marks: &Rc<Marks>,
) -> Factory {
    let operator = mutant.and_then(|mutant| operators().find(|one| one.name == mutant.0));
    match operator.filter(|operator| operator.is_at(node)) {
        Some(operator) => machine::mutated(operator, factory, marks.clone()),
        None => factory,
    }
}

#[cfg(test)]
mod tests;
