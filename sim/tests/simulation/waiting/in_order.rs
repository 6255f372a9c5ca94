use super::*;

/// KEYS: lock and queue. ARGV: owner, ttl, and number of places to dequeue.
static ASK: Script = Script::new(
    "local head = redis.call('lindex', KEYS[2], 0) \
     if redis.call('exists', KEYS[1]) == 0 and (not head or head == ARGV[1]) then \
       redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2]) \
       if head then for _ = 1, ARGV[3] do redis.call('lpop', KEYS[2]) end end \
       return 1 end \
     if redis.call('lpos', KEYS[2], ARGV[1]) == false then \
       redis.call('rpush', KEYS[2], ARGV[1]) end \
     return 0",
);
static TAKE_WITHOUT_QUEUE: Script = Script::new(
    "if redis.call('exists', KEYS[1]) == 0 then \
       redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2]) \
       redis.call('lrem', KEYS[2], 0, ARGV[1]) \
       return 1 end \
     if redis.call('lpos', KEYS[2], ARGV[1]) == false then \
       redis.call('rpush', KEYS[2], ARGV[1]) end \
     return 0",
);
static LEAVE: Script = Script::new(
    "if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end \
     redis.call('del', KEYS[1]) \
     local next = redis.call('lindex', KEYS[2], ARGV[2]) \
     if next then redis.call('publish', 'turn:' .. next, '1') end \
     return 1",
);
const QUEUE: &[u8] = b"queue";

pub(super) struct Queued {
    env: Env,
    redis: Session,
    listening: Session,
    ttl: Duration,
    ask: &'static Script,
    pops: &'static str,
    tells: &'static str,
}

macro_rules! definition {
    ($ask:ident, $pops:literal, $tells:literal) => {
        Definition {
            is_fair: true,
            build: |env, servers, settings| {
                let session = || Session::primary(&env, servers, settings);
                let (redis, listening) = (session(), session());
                let (ask, pops, tells) = (&$ask, $pops, $tells);
                Box::new(Queued { env, redis, listening, ttl: settings.ttl, ask, pops, tells })
            },
            ..LOCK
        }
    };
}
pub(super) static SOUND: Definition = definition!(ASK, "1", "0");
pub(super) static LOSES_QUEUE_PLACE: Definition = definition!(ASK, "2", "0");
pub(super) static LAST_FIRST: Definition = definition!(TAKE_WITHOUT_QUEUE, "1", "-1");

impl Algorithm for Queued {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let owner = fresh_owner(&self.env);
        let channel = [&b"turn:"[..], &owner].concat();
        let Ok(mut turns) = self.listening.subscribe(&[&channel]).await else {
            return Acquisition::Refused("cannot listen".into());
        };
        let ttl_ms = self.ttl.as_millis().to_string();
        loop {
            let keys = [resource.as_bytes(), QUEUE];
            let arguments = [&owner[..], ttl_ms.as_bytes(), self.pops.as_bytes()];
            match self.ask.call(&mut self.redis, &keys, &arguments).await {
                Ok(Reply::Integer(1)) => return granted(resource, &owner),
                Ok(_) => drop(turns.next().await),
                Err(error) => return Acquisition::Unknown(error.to_string()),
            }
        }
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let keys = [lease.resource.as_bytes(), QUEUE];
        match LEAVE.call(&mut self.redis, &keys, &[&lease.owner, self.tells.as_bytes()]).await {
            Ok(Reply::Integer(1)) => Release::Released,
            Ok(_) => Release::NotHeld,
            Err(error) => Release::Unknown(error.to_string()),
        }
    }
}
