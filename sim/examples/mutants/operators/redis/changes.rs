use crate::operators::resp::{Call, Purpose, grant, number};

pub(crate) const WITHOUT_OWNER_CHECK: [(&str, &str); 3] = [
    ("redis.call(\"get\",KEYS[1]) == ARGV[1]", "true"),
    ("redis.call(\"hexists\",KEYS[1],ARGV[3]) == 0", "false"),
    ("redis.call(\"hexists\",KEYS[1],ARGV[2]) == 1", "true"),
];

pub(crate) fn without_nx(call: &mut Call) -> bool {
    match call.name().as_str() {
        "SETNX" => {
            let [key, value] = [1, 2].map(|place| call.words[place].clone());
            let script = b"redis.call('set',KEYS[1],ARGV[1]) return 1".to_vec();
            call.words = vec![b"EVAL".to_vec(), script, b"1".to_vec(), key, value];
            true
        }
        "SET" => {
            let before = call.words.len();
            call.words.retain(|word| !word.eq_ignore_ascii_case(b"NX"));
            call.words.len() < before
        }
        _ => {
            call.purpose == Purpose::Take
                && call.edit(&[
                    ("redis.call(\"exists\",KEYS[1]) == 1", "false"),
                    ("redis.call(\"exists\",KEYS[1]) == 0", "true"),
                    ("elseif not holder", "else if true"),
                    ("\n    return 1\nend\nreturn 0", "\n    return 1\nend end\nreturn 0"),
                    ("\"NX\",", ""),
                ])
        }
    }
}

pub(crate) fn without_ttl(call: &mut Call) -> bool {
    if call.purpose != Purpose::Take {
        return false;
    }
    if call.is_script() {
        return call.edit(&[
            ("redis.call(\"pexpire\",KEYS[1],ARGV[1])", ""),
            ("redis.call(\"pexpire\",KEYS[1],ARGV[2])", "redis.call(\"exists\",KEYS[1])"),
            (",\"PX\",ARGV[2]", ""),
        ]);
    }
    match call.ttl_at() {
        Some((at, _)) => {
            call.words.drain(at - 1..=at);
            true
        }
        None => false,
    }
}

pub(crate) fn taken(call: &mut Call, times: u64, by: u64) -> bool {
    call.purpose == Purpose::Take && scaled(call, times, by)
}

pub(crate) fn scaled(call: &mut Call, times: u64, by: u64) -> bool {
    let Some((at, _)) = call.ttl_at() else { return false };
    let Some(ttl) = call.words.get(at).and_then(|word| number(word)) else { return false };
    let changed = (ttl * times / by).max(1);
    call.words[at] = changed.to_string().into_bytes();
    changed != ttl
}

pub(crate) fn longer(call: &mut Call, ms: i64) -> bool {
    let Some((at, unit)) = call.ttl_at() else { return false };
    let Some(ttl) = call.words.get(at).and_then(|word| number(word)) else { return false };
    let changed = (ttl as i64 + ms / unit as i64).max(1);
    call.words[at] = changed.to_string().into_bytes();
    true
}

pub(crate) fn stamped(call: &mut Call, ms: i64) -> bool {
    let is_value = matches!(call.name().as_str(), "SETNX" | "GETSET" | "SET");
    let Some(time) = call.words.get(2).filter(|_| is_value).and_then(|word| number(word)) else {
        return false;
    };
    let ms = if time > 10_000_000_000 { ms } else { ms / 1_000 };
    call.words[2] = (time as i64 + ms).to_string().into_bytes();
    true
}

pub(crate) fn other_key(call: &mut Call) -> bool {
    let place = if call.is_script() { 3 } else { 1 };
    match call.words.get_mut(place) {
        Some(key) => {
            key.push(b'x');
            true
        }
        None => false,
    }
}

pub(crate) fn granted(call: &Call, reply: &[u8]) -> Option<&'static str> {
    let is_refusal = match call.name().as_str() {
        "SET" => reply == b"$-1\r\n",
        "SETNX" => reply == b":0\r\n",
        "GETSET" => false,
        _ if call.does("pttl") => reply.starts_with(b":"),
        _ => matches!(reply, b":0\r\n" | b"$-1\r\n"),
    };
    (call.purpose == Purpose::Take && is_refusal).then(|| grant(call))
}

pub(crate) fn refused(call: &Call, reply: &[u8]) -> Option<&'static str> {
    let (is_grant, refusal) = match call.name().as_str() {
        "SET" => (reply == b"+OK\r\n", "$-1\r\n"),
        "SETNX" => (reply == b":1\r\n", ":0\r\n"),
        "GETSET" => (false, ""),
        _ if call.does("pttl") => (reply == b"$-1\r\n", ":1000\r\n"),
        _ if call.does("incr") => (reply.starts_with(b":"), "$-1\r\n"),
        _ => (reply == b":1\r\n", ":0\r\n"),
    };
    (call.purpose == Purpose::Take && is_grant).then_some(refusal)
}

pub(crate) fn given_back(call: &Call) -> Option<&'static str> {
    (call.purpose == Purpose::Release).then_some(":1\r\n")
}
