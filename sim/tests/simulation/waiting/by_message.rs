use super::*;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Habit {
    /// Misses a message that is sent before the subscription, and then sleeps forever.
    Trusts,
    TrustsForAMinute,
    AsksAgain,
}

pub(super) struct Waiter {
    env: Env,
    redis: Session,
    listening: Session,
    ttl: Duration,
    habit: Habit,
}

pub(super) const fn definition(habit: Habit) -> Definition {
    let build: fn(Env, &fencepost::clients::Servers, &Settings) -> Box<dyn Lock> = match habit {
        Habit::Trusts => {
            |env, servers, settings| Box::new(Waiter::new(env, servers, settings, Habit::Trusts))
        }
        Habit::TrustsForAMinute => |env, servers, settings| {
            Box::new(Waiter::new(env, servers, settings, Habit::TrustsForAMinute))
        },
        Habit::AsksAgain => {
            |env, servers, settings| Box::new(Waiter::new(env, servers, settings, Habit::AsksAgain))
        }
    };
    Definition { build, ..LOCK }
}

impl Waiter {
    fn new(
        env: Env,
        servers: &fencepost::clients::Servers,
        settings: &Settings,
        habit: Habit,
    ) -> Waiter {
        let session = || Session::primary(&env, servers, settings);
        let (redis, listening) = (session(), session());
        Waiter { env, redis, listening, ttl: settings.ttl, habit }
    }

    async fn asks(
        &mut self,
        key: &str,
        owner: &[u8],
    ) -> Result<bool, fencepost::clients::CallError> {
        let ttl_ms = self.ttl.as_millis().to_string();
        set_if_absent(&mut self.redis, key, owner, &ttl_ms).await
    }
}

impl Algorithm for Waiter {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let owner = fresh_owner(&self.env);
        loop {
            match self.asks(resource, &owner).await {
                Ok(true) => return granted(resource, &owner),
                Ok(false) => {}
                Err(error) => return Acquisition::Unknown(error.to_string()),
            }
            let Ok(mut messages) = self.listening.subscribe(&[b"freed"]).await else {
                return Acquisition::Refused("cannot listen".into());
            };
            if self.habit == Habit::AsksAgain {
                match self.asks(resource, &owner).await {
                    Ok(true) => return granted(resource, &owner),
                    Ok(false) => {}
                    Err(error) => return Acquisition::Unknown(error.to_string()),
                }
            }
            let minute = Duration::from_secs(60);
            match self.habit {
                Habit::TrustsForAMinute => drop(self.env.timeout(minute, messages.next()).await),
                _ => drop(messages.next().await),
            }
        }
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let ours = delete_if_owned(&mut self.redis, &lease.resource, &lease.owner).await;
        let told = self.redis.call(&[b"PUBLISH", b"freed", b"1"]).await;
        match (ours, told) {
            (Ok(true), Ok(_)) => Release::Released,
            (Ok(false), Ok(_)) => Release::NotHeld,
            (Err(error), _) | (_, Err(error)) => Release::Unknown(error.to_string()),
        }
    }
}
