//! Table iterations in the running script, and the numbers that `tostring` prints for addresses.

use super::values::{address_of, is_same};
use luna_core::runtime::{Gc, Table, Value};
use luna_core::vm::{HostRootTicket, Vm};
use rustc_hash::FxHashMap;

/// Maximum number of unfinished iterations whose keys are kept.
const WALKS_MAX: usize = 8;

#[derive(Default)]
pub(crate) struct Walks {
    walks: Vec<Walk>,
    numbers: FxHashMap<usize, u32>,
    pins: Vec<HostRootTicket>,
}

struct Walk {
    table: Gc<Table>,
    keys: Gc<Table>,
    length: i64,
    position: i64,
    pins: [HostRootTicket; 2],
}

impl Walks {
    pub(super) fn number(&mut self, vm: &mut Vm, value: Value) -> u32 {
        let next = self.numbers.len() as u32 + 1;
        let Some(address) = address_of(value) else { return 0 };
        *self.numbers.entry(address).or_insert_with(|| {
            self.pins.push(vm.pin_host(value));
            next
        })
    }

    pub(super) fn forget(&mut self, vm: &mut Vm) {
        let walks = self.walks.drain(..).flat_map(|walk| walk.pins);
        for pin in walks.chain(self.pins.drain(..)) {
            let _ = vm.unpin(pin);
        }
        self.numbers.clear();
    }

    pub(super) fn begin(&mut self, vm: &mut Vm, table: Gc<Table>, keys: Gc<Table>, position: i64) {
        if self.walks.len() >= WALKS_MAX {
            let oldest = self.walks.remove(0);
            for pin in oldest.pins {
                let _ = vm.unpin(pin);
            }
        }
        let pins = [vm.pin_host(Value::Table(table)), vm.pin_host(Value::Table(keys))];
        self.walks.push(Walk { table, keys, length: keys.len(), position, pins });
    }

    pub(super) fn advance(
        &mut self,
        table: Gc<Table>,
        last: Value,
    ) -> Option<Option<(Value, Value)>> {
        let walk = self.walks.iter_mut().rev().find(|walk| {
            walk.table.ptr_eq(table) && is_same(walk.keys.get_int(walk.position), last)
        })?;
        while walk.position < walk.length {
            walk.position += 1;
            let key = walk.keys.get_int(walk.position);
            let value = table.get(key);
            if !value.is_nil() {
                return Some(Some((key, value)));
            }
        }
        Some(None)
    }
}
