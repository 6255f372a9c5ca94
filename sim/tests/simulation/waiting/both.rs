use super::*;

pub(super) struct Both {
    env: Env,
    masters: Vec<Session>,
    ttl: Duration,
    delay: Delay,
}

#[derive(Clone, Copy)]
pub(super) enum Delay {
    Aligned,
    Random,
}

pub(super) static TIES: Definition = Definition {
    deployment: Deployment::Independent,
    build: |env, servers, settings| {
        let masters = Session::independent(&env, servers, settings);
        Box::new(Both { env, masters, ttl: settings.ttl, delay: Delay::Aligned })
    },
    ..LOCK
};
pub(super) static SETTLES: Definition = Definition {
    build: |env, servers, settings| {
        let masters = Session::independent(&env, servers, settings);
        Box::new(Both { env, masters, ttl: settings.ttl, delay: Delay::Random })
    },
    ..TIES
};

impl Both {
    fn pause(&self) -> Duration {
        const PERIOD: u64 = 50_000;
        match self.delay {
            Delay::Aligned => {
                let past = self.env.wall_clock().0.rem_euclid(PERIOD as i64);
                Duration::from_micros(PERIOD - past.unsigned_abs())
            }
            Delay::Random => self.env.jitter(&(Duration::ZERO..=Duration::from_micros(2 * PERIOD))),
        }
    }
}

impl Algorithm for Both {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let ttl_ms = self.ttl.as_millis().to_string();
        for _ in 0..8 {
            let owner = fresh_owner(&self.env);
            let mut taken = 0;
            for master in &mut self.masters {
                match set_if_absent(master, resource, &owner, &ttl_ms).await {
                    Ok(true) => taken += 1,
                    Ok(false) => break,
                    Err(error) => return Acquisition::Unknown(error.to_string()),
                }
            }
            if taken == self.masters.len() {
                return granted(resource, &owner);
            }
            for master in self.masters.iter_mut().take(taken) {
                if let Err(error) = delete_if_owned(master, resource, &owner).await {
                    return Acquisition::Unknown(error.to_string());
                }
            }
            self.env.sleep(self.pause()).await;
        }
        Acquisition::Refused("held by another".into())
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let mut answer = Release::Released;
        for master in &mut self.masters {
            match delete_if_owned(master, &lease.resource, &lease.owner).await {
                Ok(true) => {}
                Ok(false) => answer = Release::NotHeld,
                Err(error) => return Release::Unknown(error.to_string()),
            }
        }
        answer
    }
}
