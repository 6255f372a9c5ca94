//! CLIENT TRACKING beside a real server: the same conversation of several clients with each, and
//! what every client received in all.

use crate::fakes::Fakes;
use crate::real::{Client, RealRedis};
use fake_redis::serve::ServeOptions;

/// Each line is a client and what it sends; `@0` stands for the number of client 0, and so on. A
/// client `+` sends a PING to all, so that everything that is on its way has arrived.
const CONVERSATION: &[&str] = &[
    "0 HELLO 3",
    "1 HELLO 3",
    "3 HELLO 3",
    // What cannot be asked for.
    "0 CLIENT TRACKING maybe",
    "0 CLIENT TRACKING on BCAST OPTIN",
    "0 CLIENT TRACKING on OPTIN OPTOUT",
    "0 CLIENT TRACKING on PREFIX a",
    "0 CLIENT TRACKING on PREFIX",
    "0 CLIENT TRACKING on REDIRECT x",
    "0 CLIENT TRACKING on REDIRECT 999999",
    "0 CLIENT TRACKING on REDIRECT -1",
    "0 CLIENT TRACKING on REDIRECT @1 REDIRECT @1",
    "0 CLIENT TRACKING on NOSUCH",
    "0 CLIENT TRACKING",
    "0 CLIENT CACHING yes",
    "0 CLIENT GETREDIR",
    "0 CLIENT TRACKINGINFO",
    // Told once of each key that was read.
    "0 CLIENT TRACKING on",
    "0 CLIENT TRACKINGINFO",
    "0 CLIENT GETREDIR",
    "0 CLIENT CACHING yes",
    "0 CLIENT CACHING no",
    "0 CLIENT CACHING maybe",
    "0 GET a",
    "0 MGET b c",
    "1 SET a 1",
    "+",
    "1 SET a 2",
    "1 MSET b 1 c 1 d 1",
    "+",
    // One's own changes come after the reply.
    "0 GET a",
    "0 SET a 3",
    "+",
    "0 GET a",
    "0 INCR a",
    "+",
    // Transactions and scripts.
    "0 GET a",
    "0 GET b",
    "0 MULTI",
    "0 SET a 9",
    "0 GET c",
    "0 SET b 9",
    "0 EXEC",
    "1 DEL c",
    "+",
    "0 EVAL return{redis.call('GET','a'),redis.call('SET','b',1)} 2 a b",
    "1 SET a 1",
    "1 SET b 1",
    "+",
    "0 EVAL_RO return(redis.call('GET','a')) 2 a d",
    "1 SET a 1",
    "1 SET d 1",
    "+",
    // Expiry, deletion, renaming.
    "0 GET a",
    "1 PEXPIREAT a 1",
    "+",
    "1 SET a 1",
    "0 EXISTS a b",
    "1 RENAME a b",
    "+",
    "0 HGETALL h",
    "0 LRANGE l 0 -1",
    "0 SMEMBERS s",
    "0 ZRANGE z 0 -1",
    "1 HSET h f v",
    "1 RPUSH l x",
    "1 SADD s x",
    "1 ZADD z 1 x",
    "+",
    "0 OBJECT ENCODING s",
    "1 SADD s y",
    "+",
    // Everything at once.
    "0 GET a",
    "1 FLUSHDB",
    "+",
    "0 FLUSHALL",
    "+",
    // NOLOOP, and off.
    "0 CLIENT TRACKING on NOLOOP",
    "0 CLIENT TRACKINGINFO",
    "0 GET a",
    "0 SET a 1",
    "+",
    "0 GET a",
    "1 SET a 2",
    "+",
    "0 GET a",
    "0 CLIENT TRACKING off",
    "0 CLIENT TRACKINGINFO",
    "1 SET a 3",
    "+",
    // OPTIN and OPTOUT.
    "0 CLIENT TRACKING on OPTIN",
    "0 GET a",
    "1 SET a 4",
    "+",
    "0 CLIENT CACHING no",
    "0 CLIENT CACHING yes",
    "0 CLIENT TRACKINGINFO",
    "0 GET a",
    "0 GET b",
    "1 SET b 4",
    "1 SET a 5",
    "+",
    "0 CLIENT CACHING yes",
    "0 MULTI",
    "0 GET a",
    "0 GET b",
    "0 EXEC",
    "0 GET c",
    "1 MSET a 1 b 1 c 1",
    "+",
    "0 CLIENT TRACKING on OPTOUT",
    "0 CLIENT TRACKING on BCAST",
    "0 CLIENT TRACKING off",
    "0 CLIENT TRACKING on OPTOUT",
    "0 CLIENT CACHING yes",
    "0 GET a",
    "0 CLIENT CACHING no",
    "0 CLIENT TRACKINGINFO",
    "0 GET b",
    "1 MSET a 1 b 1",
    "+",
    "0 CLIENT TRACKING off",
    // BCAST.
    "0 CLIENT TRACKING on BCAST PREFIX user: PREFIX u",
    "0 CLIENT TRACKING on BCAST PREFIX user: PREFIX task:",
    "0 CLIENT TRACKING on BCAST PREFIX use",
    "0 CLIENT TRACKING on BCAST PREFIX x NOLOOP",
    "0 CLIENT TRACKINGINFO",
    "0 CLIENT TRACKING on",
    "1 SET user:1 a",
    "+",
    "1 SET other a",
    "0 SET x1 a",
    "+",
    "1 DEL user:1",
    "+",
    "1 MSET task:2 a task:1 b other c",
    "+",
    "0 CLIENT TRACKING off",
    "0 CLIENT TRACKING on BCAST",
    "0 CLIENT TRACKINGINFO",
    "0 SET mine 1",
    "+",
    "1 FLUSHALL",
    "+",
    "0 CLIENT TRACKING off",
    // RESP2 hears by another connection.
    "2 CLIENT TRACKING on",
    "2 GET a",
    "1 SET a 1",
    "+",
    "3 SUBSCRIBE __redis__:invalidate",
    "2 CLIENT TRACKING on REDIRECT @3",
    "2 CLIENT GETREDIR",
    "2 GET a",
    "1 SET a 2",
    "+",
    "4 SUBSCRIBE __redis__:invalidate",
    "2 CLIENT TRACKING on REDIRECT @4",
    "2 GET a",
    "2 GET b",
    "1 SET a 2",
    "2 SET b 1",
    "+",
    "1 FLUSHALL",
    "+",
    "4 UNSUBSCRIBE",
    "2 GET a",
    "1 SET a 2",
    "+",
    "2 RESET",
    "2 CLIENT TRACKINGINFO",
    // The other connection is gone.
    "0 CLIENT TRACKING on REDIRECT @4",
    "0 GET a",
    "1 CLIENT KILL ID @4",
    "1 SET a 3",
    "+",
    "0 CLIENT TRACKINGINFO",
    "0 CLIENT TRACKING on",
    "0 CLIENT TRACKINGINFO",
];

/// What a client received between its own lines, in order; the numbers of clients are left out.
fn converse(mut clients: Vec<Client>) -> Vec<String> {
    let ids: Vec<String> = clients
        .iter_mut()
        .map(|client| {
            let reply = client.run("CLIENT ID");
            reply.trim_start_matches(':').to_owned()
        })
        .collect();
    let mut told = Vec::new();
    let mut is_gone = vec![false; clients.len()];
    for line in CONVERSATION {
        if *line == "+" {
            for (number, client) in clients.iter_mut().enumerate().filter(|(n, _)| !is_gone[*n]) {
                let mut heard = until_pong(client);
                if heard.contains("broken") {
                    heard = heard.replace(&format!(":{}", ids[4]), ":@4");
                }
                told.push(format!("+ {number}: {heard}"));
            }
            continue;
        }
        let (number, words) = line.split_once(' ').unwrap();
        let number: usize = number.parse().unwrap();
        let mut sent = words.to_owned();
        for (other, id) in ids.iter().enumerate() {
            sent = sent.replace(&format!("@{other}"), id);
        }
        if sent.starts_with("CLIENT KILL") {
            is_gone[4] = true;
        }
        let mut reply = clients[number].run(&sent);
        let tells_a_number = ["REDIR", "INFO"].iter().any(|word| words.contains(word));
        if tells_a_number || reply.contains("broken") {
            for (other, id) in ids.iter().enumerate() {
                reply = reply.replace(&format!(":{id}"), &format!(":@{other}"));
            }
        }
        // HELLO tells which server it is.
        if words.starts_with("HELLO") {
            reply.truncate(1);
        }
        told.push(format!("{line} -> {reply}"));
    }
    told
}

/// All that arrived, up to the answer to a PING. Who listens gets that answer as a message.
fn until_pong(client: &mut Client) -> String {
    client.write(b"*2\r\n$4\r\nPING\r\n$4\r\nhere\r\n");
    let mut all = String::new();
    loop {
        let reply = String::from_utf8_lossy(&client.read()).replace("\r\n", "|");
        assert!(!reply.is_empty(), "the connection has ended");
        all.push_str(&reply);
        if reply.ends_with("here|") {
            return all;
        }
    }
}

#[test]
fn clients_that_track_hear_what_a_real_redis_tells_them() {
    let Some(real) = RealRedis::start(&[]) else { return };
    let fakes = Fakes::start(ServeOptions::default());
    let expected = converse((0..5).map(|_| real.connect()).collect());
    let answered = converse((0..5).map(|_| fakes.client(0)).collect());
    let differing: Vec<_> = (0..)
        .zip(expected.iter().zip(&answered))
        .filter(|(_, (one, other))| one != other)
        .map(|(place, (one, other)): (usize, _)| {
            (&expected[place.saturating_sub(6)..place], one, other)
        })
        .collect();
    assert!(differing.is_empty(), "real and fake: {differing:#?}");
    assert_eq!(expected.len(), answered.len());
    let heard = expected.iter().filter(|line| line.contains("invalidate")).count();
    assert!(heard >= 28, "{heard} messages were told");
}
