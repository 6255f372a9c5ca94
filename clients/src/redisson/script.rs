use crate::script::Script;

pub const UNLOCK_MESSAGE: &str = "0";

/// Takes the lock, or increments the count of a caller that holds it. KEYS: lock. ARGV: ttl,
/// `uuid:thread`. Returns nil if the caller now holds the lock, otherwise the remaining ttl.
pub static ACQUIRE: Script = Script::new(
    r#"if redis.call("exists",KEYS[1]) == 0 or redis.call("hexists",KEYS[1],ARGV[2]) == 1 then
    redis.call("hincrby",KEYS[1],ARGV[2],1)
    redis.call("pexpire",KEYS[1],ARGV[1])
    return nil
end
return redis.call("pttl",KEYS[1])"#,
);

/// Releases the lock once. KEYS: lock, channel, latch. ARGV: message, ttl, `uuid:thread`, the
/// latch's ttl. Returns nil if the caller does not hold the lock, 0 if it still holds it, and 1 if
/// the lock is free. If the latch exists, only returns the latch's value, the result of an earlier
/// release.
pub static RELEASE: Script = Script::new(
    r#"local result = redis.call("get",KEYS[3])
if result ~= false then
    return tonumber(result)
end
if redis.call("hexists",KEYS[1],ARGV[3]) == 0 then
    return nil
end
if redis.call("hincrby",KEYS[1],ARGV[3],-1) > 0 then
    redis.call("pexpire",KEYS[1],ARGV[2])
    redis.call("set",KEYS[3],0,"px",ARGV[4])
    return 0
end
redis.call("del",KEYS[1])
redis.call("publish",KEYS[2],ARGV[1])
redis.call("set",KEYS[3],1,"px",ARGV[4])
return 1"#,
);

/// KEYS: lock. ARGV: ttl, `uuid:thread`. Returns 1 if the caller held the lock, otherwise 0.
pub static RENEW: Script = Script::new(
    r#"if redis.call("hexists",KEYS[1],ARGV[2]) == 1 then
    redis.call("pexpire",KEYS[1],ARGV[1])
    return 1
end
return 0"#,
);

/// KEYS: lock. ARGV: ttl. Sets the expiry without checking the owner (`RedissonExpirable`).
pub static EXPIRE: Script = Script::new(r#"return redis.call("pexpire",KEYS[1],ARGV[1])"#);

/// Takes the fair lock or joins its queue. KEYS: lock, queue, timeouts. ARGV: ttl, `uuid:thread`,
/// `wait`, the wall clock. Returns nil if the caller now holds the lock, else the wait in ms.
pub static FAIR_ACQUIRE: Script = Script::new(
    r#"while true do
    local first = redis.call("lindex",KEYS[2],0)
    if first == false then break end
    local timeout = redis.call("zscore",KEYS[3],first)
    if timeout ~= false and tonumber(timeout) <= tonumber(ARGV[4]) then
        redis.call("zrem",KEYS[3],first)
        redis.call("lpop",KEYS[2])
    else
        break
    end
end
if redis.call("exists",KEYS[1]) == 0
    and (redis.call("exists",KEYS[2]) == 0 or redis.call("lindex",KEYS[2],0) == ARGV[2]) then
    redis.call("lpop",KEYS[2])
    redis.call("zrem",KEYS[3],ARGV[2])
    for _, waiter in ipairs(redis.call("zrange",KEYS[3],0,-1)) do
        redis.call("zincrby",KEYS[3],-tonumber(ARGV[3]),waiter)
    end
    redis.call("hset",KEYS[1],ARGV[2],1)
    redis.call("pexpire",KEYS[1],ARGV[1])
    return nil
end
if redis.call("hexists",KEYS[1],ARGV[2]) == 1 then
    redis.call("hincrby",KEYS[1],ARGV[2],1)
    redis.call("pexpire",KEYS[1],ARGV[1])
    return nil
end
if redis.call("zscore",KEYS[3],ARGV[2]) ~= false then
    return math.max(0,redis.call("pttl",KEYS[1]))
end
local last = redis.call("lindex",KEYS[2],-1)
local ttl
if last ~= false and last ~= ARGV[2] and redis.call("zscore",KEYS[3],last) ~= false then
    ttl = tonumber(redis.call("zscore",KEYS[3],last)) - tonumber(ARGV[4])
else
    ttl = redis.call("pttl",KEYS[1])
end
if redis.call("zadd",KEYS[3],ttl + tonumber(ARGV[3]) + tonumber(ARGV[4]),ARGV[2]) == 1 then
    redis.call("rpush",KEYS[2],ARGV[2])
end
return ttl"#,
);

/// Releases the fair lock once. KEYS: lock, queue, timeouts, channel, latch. ARGV: message, ttl,
/// `uuid:thread`, the wall clock, the latch's ttl. Returns nil if another owner holds the lock, 0
/// if the caller still holds it, and 1 if the lock is free. Uses a latch like [`RELEASE`].
pub static FAIR_RELEASE: Script = Script::new(
    r#"local result = redis.call("get",KEYS[5])
if result ~= false then
    return tonumber(result)
end
while true do
    local first = redis.call("lindex",KEYS[2],0)
    if first == false then break end
    local timeout = redis.call("zscore",KEYS[3],first)
    if timeout ~= false and tonumber(timeout) <= tonumber(ARGV[4]) then
        redis.call("zrem",KEYS[3],first)
        redis.call("lpop",KEYS[2])
    else
        break
    end
end
if redis.call("exists",KEYS[1]) == 1 then
    if redis.call("hexists",KEYS[1],ARGV[3]) == 0 then
        return nil
    end
    if redis.call("hincrby",KEYS[1],ARGV[3],-1) > 0 then
        redis.call("pexpire",KEYS[1],ARGV[2])
        redis.call("set",KEYS[5],0,"px",ARGV[5])
        return 0
    end
    redis.call("del",KEYS[1])
end
redis.call("set",KEYS[5],1,"px",ARGV[5])
local first = redis.call("lindex",KEYS[2],0)
if first ~= false then
    redis.call("publish",KEYS[4] .. ":" .. first,ARGV[1])
end
return 1"#,
);

/// Removes a waiter. KEYS: queue, timeouts. ARGV: the waiter's `uuid:thread` and `wait`.
pub static FAIR_LEAVE: Script = Script::new(
    r#"local queue = redis.call("lrange",KEYS[1],0,-1)
local place = 1
while place <= #queue and queue[place] ~= ARGV[1] do
    place = place + 1
end
for behind = place + 1, #queue do
    redis.call("zincrby",KEYS[2],-tonumber(ARGV[2]),queue[behind])
end
redis.call("zrem",KEYS[2],ARGV[1])
redis.call("lrem",KEYS[1],0,ARGV[1])
return 1"#,
);
