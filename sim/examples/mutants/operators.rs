//! Mutants: locks and servers with one planted mistake. The [`rule`] of an [`Operator`] changes
//! messages between clients and servers, or the environment of a server, so the locks and servers
//! contain no code for mutants. [`Marks`] counts how often a mistake takes effect.

mod any;
mod chubby;
mod etcd;
mod gemfire;
mod machine;
mod memcached;
mod mysql;
mod operator;
mod postgresql;
mod redis;
mod resp;
mod rule;
mod storage;
mod wire;
mod zookeeper;

pub(crate) use operator::{Operator, Side};

use fencepost::setup::scenario::{Factory, Mutant, Wrap};
use fencepost_clients::Definition;
use fencepost_faults::Node;
use std::cell::Cell;
use std::rc::Rc;
use wire::Marks;

pub(crate) fn operators() -> impl Iterator<Item = &'static Operator> {
    let tables: [&'static [Operator]; 12] = [
        redis::TAKING,
        redis::KEEPING,
        redis::SERVERS,
        memcached::TABLE,
        zookeeper::TABLE,
        postgresql::TABLE,
        mysql::TABLE,
        etcd::TABLE,
        chubby::TABLE,
        gemfire::TABLE,
        storage::TABLE,
        any::TABLE,
    ];
    tables.into_iter().flatten()
}

pub(crate) fn operators_for(lock: &Definition) -> impl Iterator<Item = &'static Operator> {
    operators().filter(move |operator| operator.fits(lock))
}

pub(crate) fn mutant(operator: &Operator) -> Mutant {
    Mutant { name: operator.name, plant }
}

fn plant(name: &'static str, altered: Rc<Cell<u64>>) -> Wrap {
    let operator = operators().find(|one| one.name == name).expect("an operator of the tables");
    let marks = Rc::new(Marks::counted_by(altered));
    Box::new(move |node: Node, factory: Factory| match operator.is_at(node) {
        true => machine::mutated(operator, factory, marks.clone()),
        false => factory,
    })
}

#[cfg(test)]
mod tests;
