//! The benchmark workload with a trivial client and server, to measure the engine alone.

use super::{HOLD, address, settings};
use bytes::{Bytes, BytesMut};
use fencepost_clients::Env;
use fencepost_clients::env::Socket;
use fencepost_machine::{ConnectionId, Input, Machine, Now, Output, Outputs};
use std::io;
use std::time::Duration;

const TAKE: u8 = b't';
const RELEASE: u8 = b'r';
const LOAD_SCRIPT: u8 = b'e';

const DONE: &[u8] = b"+";
const HELD_BY_ANOTHER: &[u8] = b"-";
const UNKNOWN_SCRIPT: &[u8] = b"?";

#[derive(Debug, Default)]
pub struct Server {
    holder: Option<ConnectionId>,
    knows_script: bool,
}

impl Server {
    fn answer(&mut self, from: ConnectionId, asked: Option<u8>) -> &'static [u8] {
        match asked {
            Some(TAKE) if self.holder.is_some() => HELD_BY_ANOTHER,
            Some(TAKE) => {
                self.holder = Some(from);
                DONE
            }
            Some(RELEASE) if !self.knows_script => UNKNOWN_SCRIPT,
            _ => {
                self.knows_script = true;
                self.holder = None;
                DONE
            }
        }
    }
}

impl Machine for Server {
    fn handle(&mut self, input: Input<'_>, _: Now, out: &mut Outputs) {
        if let Input::Received { connection, bytes } = input {
            out.commands = 1;
            let answer = Bytes::from_static(self.answer(connection, bytes.first().copied()));
            out.list.push(Output::Send { connection, bytes: answer });
        }
    }
}

struct Client {
    socket: Socket,
    limit: Duration,
    reply: BytesMut,
}

impl Client {
    async fn ask(&mut self, what: u8) -> io::Result<&[u8]> {
        self.reply.clear();
        self.socket.limit(self.limit);
        self.socket.write_all(&[what]).await?;
        self.socket.read(&mut self.reply).await?;
        self.socket.lift_limit();
        Ok(&self.reply)
    }
}

pub async fn process(env: Env, cycles: u32) -> io::Result<()> {
    let settings = settings();
    let limit = settings.command_timeout;
    let connected = env.timeout(limit, env.connect(&address())).await;
    let mut client = Client {
        socket: connected.ok_or(io::ErrorKind::TimedOut)??,
        limit,
        reply: BytesMut::new(),
    };
    for _ in 0..cycles {
        while client.ask(TAKE).await? == HELD_BY_ANOTHER {
            env.sleep(env.jitter(&settings.retry)).await;
        }
        env.sleep(env.jitter(&HOLD)).await;
        if client.ask(RELEASE).await? == UNKNOWN_SCRIPT {
            client.ask(LOAD_SCRIPT).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::engine::Engine;
    use crate::studies::bench::Workload;

    #[test]
    fn it_does_the_same_at_the_same_instants_as_the_workload_with_locks_and_servers() {
        for seed in 0..8 {
            for idle in [0, 5] {
                let workload = Workload { idle, ..Workload::default() };
                assert_eq!(
                    workload.run_bare(seed, Engine::Fast),
                    workload.run(seed, Engine::Fast),
                    "seed {seed}"
                );
            }
        }
    }
}
