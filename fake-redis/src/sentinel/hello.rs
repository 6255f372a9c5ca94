//! Hello messages, through which Sentinels discover each other (`sentinelSendHello`).

use super::{
    Address,
    core::{Context, Core},
    events::{name_instance, name_master, switch_text},
    hello_cache::{LastHello, OwnHello},
    instance::{Instance, Kind},
    master::{Master, close_links},
};
use std::fmt;
use std::rc::Rc;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Hello {
    pub(crate) sentinel: Address,
    pub(crate) run_id: String,
    pub(crate) epoch: u64,
    pub(crate) master_name: String,
    pub(crate) master: Address,
    pub(crate) config_epoch: u64,
}

pub(crate) fn ours(core: &Core, master: &mut Master) -> Rc<str> {
    let is_same = |own: &&OwnHello| {
        own.epoch == core.epoch
            && own.config_epoch == master.config_epoch
            && own.master == *master.current_address()
    };
    if let Some(own) = master.own_hello.as_ref().filter(is_same) {
        return own.text.clone();
    }
    let hello = Hello::ours(core, master);
    let text: Rc<str> = hello.to_string().into();
    let Hello { epoch, config_epoch, master: address, .. } = hello;
    master.own_hello = Some(OwnHello { epoch, config_epoch, master: address, text: text.clone() });
    text
}

pub(crate) fn take_repeated(masters: &mut [Master], message: &[u8], now: i64) -> bool {
    masters.iter_mut().any(|master| {
        let Master { own_hello, sentinels, config_epoch, .. } = master;
        let is_old =
            |last: &LastHello| last.config_epoch <= *config_epoch && *last.text == *message;
        let by = |sentinel: &&mut Instance| sentinel.last_hello.as_ref().is_some_and(is_old);
        if let Some(sender) = sentinels.iter_mut().find(by) {
            sender.opinion.last_hello = now;
            return true;
        }
        own_hello.as_ref().is_some_and(|own| own.text.as_bytes() == message)
    })
}

impl Hello {
    fn ours(core: &Core, master: &Master) -> Self {
        Self {
            sentinel: core.announce.clone(),
            run_id: core.my_id.clone(),
            epoch: core.epoch,
            master_name: master.node.name.clone(),
            master: master.current_address().clone(),
            config_epoch: master.config_epoch,
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(',').collect();
        let [host, port, run_id, epoch, master_name, master_host, master_port, config_epoch] =
            words.as_slice()
        else {
            return None;
        };
        Some(Self {
            sentinel: Address::new(*host, port.parse().ok()?),
            run_id: (*run_id).to_owned(),
            epoch: epoch.parse().ok()?,
            master_name: (*master_name).to_owned(),
            master: Address::new(*master_host, master_port.parse().ok()?),
            config_epoch: config_epoch.parse().ok()?,
        })
    }
}

impl fmt::Display for Hello {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sentinel, run_id, epoch, master_name, master, config_epoch } = self;
        write!(formatter, "{},{},{run_id},{epoch},", sentinel.host, sentinel.port)?;
        write!(formatter, "{master_name},{},{},{config_epoch}", master.host, master.port)
    }
}

pub(crate) fn process(
    masters: &mut [Master],
    hello: &Hello,
    text: &[u8],
    context: &mut Context<'_>,
) {
    let Some(place) = masters.iter().position(|master| master.node.name == hello.master_name)
    else {
        return;
    };
    if !masters[place].sentinels.iter().any(|sentinel| is_sender(sentinel, hello)) {
        register_sentinel(masters, place, hello, context);
    }
    let master = &mut masters[place];
    if hello.epoch > context.core.epoch {
        context.core.raise_epoch(hello.epoch);
    }
    let now = context.core.now;
    let Some(sender) = master.sentinels.iter_mut().find(|sentinel| is_sender(sentinel, hello))
    else {
        return;
    };
    sender.opinion.last_hello = now;
    sender.last_hello = Some(LastHello { text: text.into(), config_epoch: hello.config_epoch });
    if master.config_epoch >= hello.config_epoch {
        return;
    }
    master.config_epoch = hello.config_epoch;
    if !master.node.address.is(&hello.master.host, hello.master.port) {
        context.core.event("+config-update-from", name_instance(sender, &master.node));
        context.core.event("+switch-master", switch_text(&master.node, &hello.master));
        master.change_address(hello.master.clone(), context);
    }
}

fn is_sender(sentinel: &Instance, hello: &Hello) -> bool {
    sentinel.run_id.as_ref() == Some(&hello.run_id)
        && sentinel.address.is(&hello.sentinel.host, hello.sentinel.port)
}

fn register_sentinel(
    masters: &mut [Master],
    place: usize,
    hello: &Hello,
    context: &mut Context<'_>,
) {
    let moved = forget(&mut masters[place], &hello.run_id, context);
    if moved {
        let text =
            format!("ip {} port {} for {}", hello.sentinel.host, hello.sentinel.port, hello.run_id);
        context.core.event(
            "+sentinel-address-switch",
            format!("{} {text}", name_master(&masters[place].node)),
        );
    } else {
        forget_namesake(masters, place, &hello.sentinel, context);
    }
    let (master, now) = (&mut masters[place], context.core.now);
    let mut sentinel = Instance::new(
        Kind::Sentinel,
        hello.run_id.clone(),
        hello.sentinel.clone(),
        master.node.down_after_ms,
        now,
    );
    sentinel.run_id = Some(hello.run_id.clone());
    if !moved {
        context.core.event("+sentinel", name_instance(&sentinel, &master.node));
    }
    context.core.attention = true;
    context.core.unsaved = true;
    master.sentinels.push(sentinel);
}

fn forget_namesake(
    masters: &mut [Master],
    place: usize,
    address: &Address,
    context: &mut Context<'_>,
) {
    let master = &masters[place];
    let Some(other) =
        master.sentinels.iter().find(|sentinel| sentinel.address.is(&address.host, address.port))
    else {
        return;
    };
    context.core.event("+sentinel-invalid-addr", name_instance(other, &master.node));
    let run_id = other.name.clone();
    for master in masters {
        forget(master, &run_id, context);
    }
}

/// Removes a Sentinel. Returns whether it was known (`removeMatchingSentinelFromMaster`).
fn forget(master: &mut Master, run_id: &str, context: &mut Context<'_>) -> bool {
    let Some(place) =
        master.sentinels.iter().position(|sentinel| sentinel.run_id.as_deref() == Some(run_id))
    else {
        return false;
    };
    close_links(&mut master.sentinels.remove(place), context.out);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hello_survives_writing_and_reading() {
        let text =
            "10.0.0.7,26379,0123456789012345678901234567890123456789,3,mymaster,10.0.0.1,6379,2";
        let hello = Hello::parse(text).unwrap();
        assert_eq!(hello.master, Address::new("10.0.0.1", 6379));
        assert_eq!((hello.epoch, hello.config_epoch), (3, 2));
        assert_eq!(hello.to_string(), text);
    }

    #[test]
    fn rejects_what_is_no_hello() {
        for text in ["", "a,b", "h,1,r,1,m,h,1,1,1", "h,x,r,1,m,h,1,1"] {
            assert_eq!(Hello::parse(text), None, "{text}");
        }
    }
}
