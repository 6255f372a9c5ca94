<?php
// Laravel's cache lock on phpredis, as fencepost runs it: see docs/own-programs.md.
require "Illuminate/Redis/autoload.php";
require "Illuminate/Cache/autoload.php";

use Illuminate\Cache\RedisStore;
use Illuminate\Contracts\Cache\LockTimeoutException;
use Illuminate\Redis\RedisManager;

function place(string $name): array
{
    return array_intersect_key(parse_url(getenv("FENCEPOST_$name")), ["host" => 0, "port" => 0]);
}

$names = ["REDIS", "STORAGE", "JUDGE"];
$redis = new RedisManager(null, "phpredis", array_combine($names, array_map("place", $names)));
[$storage, $judge] = [$redis->connection("STORAGE")->client(), $redis->connection("JUDGE")->client()];
$store = new RedisStore($redis, "", "REDIS");
for ($cycle = getenv("FENCEPOST_CYCLES"); $cycle > 0; $cycle--) {
    $lock = $store->lock(getenv("FENCEPOST_LOCK"), getenv("FENCEPOST_TTL_MS") / 1000);
    $judge->rawCommand("ACQUIRING", "orders");
    try {
        $lock->block(60);
    } catch (LockTimeoutException | RedisException $error) {
        $judge->rawCommand($error instanceof RedisException ? "UNKNOWN" : "REFUSED", "orders");
        continue;
    }
    $hold_ms = $judge->rawCommand("ACQUIRED", "orders");
    $value = (int) $storage->get("orders");
    usleep($hold_ms * 1000);
    $storage->set("orders", $value + 1);
    $judge->rawCommand("RELEASING", "orders");
    try {
        if (!$lock->release()) $judge->rawCommand("LOST", "orders");
    } catch (RedisException $error) {
        $judge->rawCommand("UNKNOWN", "orders");
    }
    $judge->rawCommand("RELEASED", "orders");
}
