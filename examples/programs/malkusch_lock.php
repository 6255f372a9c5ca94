<?php
// malkusch/lock on phpredis, over independent masters, as fencepost runs it: see docs/own-programs.md.
require "Malkusch/Lock/autoload.php";

use malkusch\lock\exception\{ExecutionOutsideLockException, PhpLockException, TimeoutException};
use malkusch\lock\mutex\PHPRedisMutex;

function connect(string $name): Redis
{
    $url = parse_url(getenv("FENCEPOST_$name"));
    $redis = new Redis();
    $redis->connect($url["host"], $url["port"]);
    $redis->setOption(Redis::OPT_READ_TIMEOUT, str_starts_with($name, "REDIS") ? 1 : 100);
    return $redis;
}

[$storage, $judge] = array_map("connect", ["STORAGE", "JUDGE"]);
$masters = array_map(fn ($number) => connect("REDIS_$number"), range(1, getenv("FENCEPOST_MASTERS")));
// The key of a mutex is lock_ and its name, and outlasts the timeout by a second.
$mutex = new PHPRedisMutex($masters, substr(getenv("FENCEPOST_LOCK"), 5), getenv("FENCEPOST_TTL_MS") / 1000 - 1);
for ($cycle = getenv("FENCEPOST_CYCLES"); $cycle > 0; $cycle--) {
    $judge->rawCommand("ACQUIRING", "orders");
    $is_ours = false;
    try {
        $mutex->synchronized(function () use ($storage, $judge, &$is_ours) {
            $is_ours = true;
            $hold_ms = $judge->rawCommand("ACQUIRED", "orders");
            $value = (int) $storage->get("orders");
            usleep($hold_ms * 1000);
            $storage->set("orders", $value + 1);
            $judge->rawCommand("RELEASING", "orders");
        });
    } catch (PhpLockException $error) {
        $is_lost = $error instanceof ExecutionOutsideLockException;
        $word = $error instanceof TimeoutException ? "REFUSED" : ($is_lost ? "LOST" : "UNKNOWN");
        $judge->rawCommand($word, "orders", $error->getMessage());
    }
    if ($is_ours) $judge->rawCommand("RELEASED", "orders");
}
