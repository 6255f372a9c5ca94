use super::key::Key;
use super::xid::Xid;
use crate::value::Value;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::rc::Rc;

pub(crate) type Values = Rc<Vec<Value>>;

#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) by: Xid,
    pub(crate) values: Option<Values>,
}

pub(crate) type Versions = Vec<Version>;

#[derive(Debug, Default)]
pub(crate) struct Rows(pub(crate) BTreeMap<Key, Versions>);

impl Rows {
    pub(crate) fn after(&self, key: Option<&Key>) -> Option<&Key> {
        let from = key.map_or(Bound::Unbounded, Bound::Excluded);
        self.0.range::<Key, _>((from, Bound::Unbounded)).next().map(|(key, _)| key)
    }

    pub(crate) fn newest(&self, key: &Key) -> Option<&Version> {
        self.0.get(key)?.last()
    }
}
