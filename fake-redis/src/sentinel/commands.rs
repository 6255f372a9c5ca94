use super::{Sentinel, clients::Client, instance::HELLO_CHANNEL};
use crate::protocol::args::Args;
use crate::protocol::reply::Protocol;
use bytes::Bytes;
use fencepost_machine::Outputs;

impl Sentinel {
    pub(crate) fn serve_next(&mut self, out: &mut Outputs) {
        let Some((connection, mut client)) = self.clients.next() else { return };
        let request = client.reader.take();
        self.execute(&mut client, request.args(), out);
        client.reader.give_back(request);
        self.clients.served(connection, client);
        out.commands += 1;
    }

    #[cfg(test)]
    pub(crate) fn operate(&mut self, command: &[&[u8]], out: &mut Outputs) {
        if !command.is_empty() {
            let words = crate::protocol::args::ArgumentVector::of(command.iter().copied());
            self.execute(&mut Client::default(), words.as_args(), out);
        }
    }

    fn execute(&mut self, client: &mut Client, args: Args<'_>, out: &mut Outputs) {
        let name = args.get(0).to_ascii_lowercase();
        let listening = client.subscriptions() > 0 && client.reply.protocol == Protocol::Resp2;
        if listening && !MAY_LISTEN.iter().any(|allowed| allowed.as_bytes() == name) {
            return refuse_while_listening(client, &name);
        }
        let Some((_, arity, run)) = COMMANDS.iter().find(|(known, ..)| known.as_bytes() == name)
        else {
            return unknown_command(client, args);
        };
        let wanted = usize::try_from(arity.unsigned_abs()).unwrap_or(usize::MAX);
        if args.len() < wanted || *arity > 0 && args.len() > wanted {
            let name = String::from_utf8_lossy(&name);
            return client
                .reply
                .error(format!("ERR wrong number of arguments for '{name}' command").as_bytes());
        }
        run(self, client, args, out);
    }
}

type Run = fn(&mut Sentinel, &mut Client, Args<'_>, &mut Outputs);

const COMMANDS: [(&str, i32, Run); 13] = [
    ("ping", -1, ping),
    ("sentinel", -2, Sentinel::command),
    ("subscribe", -2, |_, client, args, _| subscribe(client, args, Kind::Channel)),
    ("unsubscribe", -1, |_, client, args, _| unsubscribe(client, args, Kind::Channel)),
    ("psubscribe", -2, |_, client, args, _| subscribe(client, args, Kind::Pattern)),
    ("punsubscribe", -1, |_, client, args, _| unsubscribe(client, args, Kind::Pattern)),
    ("publish", 3, publish),
    ("info", -1, |sentinel, client, args, _| sentinel.info(client, args)),
    ("role", 1, |sentinel, client, _, _| sentinel.role(client)),
    ("client", -2, |_, client, args, _| client_command(client, args)),
    ("auth", -2, |_, client, args, _| auth(client, args)),
    ("hello", -1, |_, client, args, _| hello(client, args)),
    ("quit", -1, |_, client, _, _| quit(client)),
];

/// Commands that a subscribed RESP2 client may send (`processCommand`).
const MAY_LISTEN: [&str; 6] =
    ["ping", "subscribe", "unsubscribe", "psubscribe", "punsubscribe", "quit"];

fn refuse_while_listening(client: &mut Client, name: &[u8]) {
    let name = String::from_utf8_lossy(name);
    let text = format!(
        "ERR Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET \
         are allowed in this context"
    );
    client.reply.error(text.as_bytes());
}

fn unknown_command(client: &mut Client, args: Args<'_>) {
    let mut text =
        [b"ERR unknown command '", args.get(0), b"', with args beginning with: "].concat();
    for word in args.from(1).iter() {
        text.extend_from_slice(&[b"'", word, b"' "].concat());
    }
    client.reply.error(&text);
}

fn ping(_: &mut Sentinel, client: &mut Client, args: Args<'_>, _: &mut Outputs) {
    let listening = client.subscriptions() > 0 && client.reply.protocol == Protocol::Resp2;
    let message = (args.len() > 1).then(|| args.get(1));
    if listening {
        client.reply.array(2);
        client.reply.bulk(b"pong");
        return client.reply.bulk(message.unwrap_or_default());
    }
    match message {
        Some(message) => client.reply.bulk(message),
        None => client.reply.status("PONG"),
    }
}

fn publish(sentinel: &mut Sentinel, client: &mut Client, args: Args<'_>, out: &mut Outputs) {
    if args.get(1) != HELLO_CHANNEL.as_bytes() {
        return client.reply.error(b"ERR Only HELLO messages are accepted by Sentinel instances.");
    }
    sentinel.take_hello(args.get(2), out);
    client.reply.integer(1);
}

#[derive(Clone, Copy)]
enum Kind {
    Channel,
    Pattern,
}

fn subscribe(client: &mut Client, args: Args<'_>, kind: Kind) {
    for name in args.from(1).iter() {
        let name = Bytes::copy_from_slice(name);
        let word = match kind {
            Kind::Channel => {
                client.channels.insert(name.clone());
                "subscribe"
            }
            Kind::Pattern => {
                client.patterns.insert(name.clone());
                "psubscribe"
            }
        };
        confirm(client, word, Some(&name));
    }
}

fn unsubscribe(client: &mut Client, args: Args<'_>, kind: Kind) {
    let word = match kind {
        Kind::Channel => "unsubscribe",
        Kind::Pattern => "punsubscribe",
    };
    let set = |client: &mut Client| match kind {
        Kind::Channel => std::mem::take(&mut client.channels),
        Kind::Pattern => std::mem::take(&mut client.patterns),
    };
    let mut heard = set(client);
    let named: Vec<Bytes> = args.from(1).iter().map(Bytes::copy_from_slice).collect();
    let leaving = if args.len() > 1 { named } else { heard.iter().cloned().collect() };
    if leaving.is_empty() {
        confirm(client, word, None);
    }
    for name in leaving {
        heard.remove(&name);
        restore(client, kind, &mut heard);
        confirm(client, word, Some(&name));
        heard = set(client);
    }
    restore(client, kind, &mut heard);
}

fn restore(client: &mut Client, kind: Kind, heard: &mut std::collections::BTreeSet<Bytes>) {
    match kind {
        Kind::Channel => client.channels = std::mem::take(heard),
        Kind::Pattern => client.patterns = std::mem::take(heard),
    }
}

fn confirm(client: &mut Client, word: &str, name: Option<&[u8]>) {
    client.reply.push(3);
    client.reply.bulk(word.as_bytes());
    client.reply.bulk_or_null(name);
    client.reply.count(client.subscriptions());
}

fn client_command(client: &mut Client, args: Args<'_>) {
    match (args.get(1).to_ascii_lowercase().as_slice(), args.len()) {
        (b"setname", 3) => {
            client.name = Bytes::copy_from_slice(args.get(2));
            client.reply.ok();
        }
        (b"getname", 2) if client.name.is_empty() => client.reply.null(),
        (b"getname", 2) => client.reply.bulk(&client.name),
        (b"id", 2) => client.reply.integer(client.id),
        _ => {
            let name = String::from_utf8_lossy(args.get(1));
            client
                .reply
                .error(format!("ERR unknown subcommand '{name}'. Try CLIENT HELP.").as_bytes());
        }
    }
}

/// Accepts the default user with any password, as Redis does without `requirepass`.
fn auth(client: &mut Client, args: Args<'_>) {
    match args.len() {
        2 => client.reply.error(
            b"ERR AUTH <password> called without any password configured for the default user. \
             Are you sure your configuration is correct?",
        ),
        3 if args.get(1) == b"default" => client.reply.ok(),
        3 => client.reply.error(b"WRONGPASS invalid username-password pair or user is disabled."),
        _ => client.reply.error(b"ERR syntax error"),
    }
}

fn hello(client: &mut Client, args: Args<'_>) {
    let protocol = match (args.len() > 1).then(|| args.get(1)) {
        None => client.reply.protocol,
        Some(b"2") => Protocol::Resp2,
        Some(b"3") => Protocol::Resp3,
        Some(_) => return client.reply.error(b"NOPROTO unsupported protocol version"),
    };
    let mut rest = args.from(2);
    while rest.len() > 0 {
        rest = match (rest.get(0).to_ascii_lowercase().as_slice(), rest.len()) {
            (b"auth", 3..) if rest.get(1) == b"default" => rest.from(3),
            (b"auth", 3..) => {
                return client
                    .reply
                    .error(b"WRONGPASS invalid username-password pair or user is disabled.");
            }
            (b"setname", 2..) => {
                client.name = Bytes::copy_from_slice(rest.get(1));
                rest.from(2)
            }
            _ => return client.reply.error(b"ERR Syntax error in HELLO"),
        };
    }
    client.reply.protocol = protocol;
    let (id, version) = (client.id, if protocol == Protocol::Resp3 { 3 } else { 2 });
    let reply = &mut client.reply;
    reply.map(6);
    for (name, value) in [("server", "redis"), ("version", "7.0.15")] {
        reply.bulk(name.as_bytes());
        reply.bulk(value.as_bytes());
    }
    for (name, value) in [("proto", version), ("id", id)] {
        reply.bulk(name.as_bytes());
        reply.integer(value);
    }
    reply.bulk(b"mode");
    reply.bulk(b"sentinel");
    reply.bulk(b"modules");
    reply.array(0);
}

fn quit(client: &mut Client) {
    client.reply.ok();
    client.leaving = true;
}
