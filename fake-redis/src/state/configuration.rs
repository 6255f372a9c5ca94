use crate::config::NodeConfig;
use crate::config::events::EventClasses;
use crate::config::kept::Settings;
use crate::config::parameters::{self, Refusal};
use std::ops::Deref;

#[derive(Debug)]
pub(crate) struct Configuration {
    node: NodeConfig,
    kept: Settings,
    pub(crate) events: EventClasses,
}

impl Deref for Configuration {
    type Target = NodeConfig;

    fn deref(&self) -> &NodeConfig {
        &self.node
    }
}

impl Configuration {
    pub(crate) fn new(node: NodeConfig) -> Self {
        Configuration { kept: Settings::default(), events: events_of(&node), node }
    }

    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&'static str, String)> {
        let shown = parameters::ALL.iter().flat_map(|parameter| {
            parameter.names.iter().map(|name| (*name, (parameter.show)(&self.node)))
        });
        shown.chain(self.kept.iter().map(|(name, value)| (name, value.to_owned())))
    }

    pub(crate) fn set<'a>(
        &mut self,
        pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    ) -> Result<(), (&'a [u8], Refusal)> {
        let (mut node, mut kept) = (self.node.clone(), self.kept.clone());
        let mut seen: Vec<Vec<u8>> = Vec::new();
        for (name, value) in pairs {
            let lower = name.to_ascii_lowercase();
            if seen.contains(&lower) {
                return Err((name, Refusal::because("duplicate parameter")));
            }
            set_one(&mut node, &mut kept, &lower, value).map_err(|refusal| (name, refusal))?;
            seen.push(lower);
        }
        *self = Configuration { events: events_of(&node), node, kept };
        Ok(())
    }

    pub(crate) fn set_active_expire(&mut self, is_active: bool) {
        self.node.active_expire = is_active;
    }
}

fn events_of(node: &NodeConfig) -> EventClasses {
    EventClasses::parse(node.notify_keyspace_events.as_bytes()).unwrap_or_default()
}

fn set_one(
    node: &mut NodeConfig,
    kept: &mut Settings,
    name: &[u8],
    value: &[u8],
) -> Result<(), Refusal> {
    let name = std::str::from_utf8(name).map_err(|_| Refusal::Unknown)?;
    let value = std::str::from_utf8(value).map_err(|_| Refusal::because("argument is not text"))?;
    match parameters::find(name) {
        Some(parameter) => parameter.change.apply(node, value),
        None => kept.set(name, value),
    }
}
