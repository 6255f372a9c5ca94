<?php
// Symfony's lock on Redis, as fencepost runs it: see docs/own-programs.md.
require "Symfony/Component/Lock/autoload.php";

use Symfony\Component\Lock\Exception\ExceptionInterface;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\RedisStore;

function connect(string $name): Redis
{
    $url = parse_url(getenv("FENCEPOST_$name"));
    $redis = new Redis();
    $redis->connect($url["host"], $url["port"]);
    return $redis;
}

[$server, $storage, $judge] = array_map("connect", ["REDIS", "STORAGE", "JUDGE"]);
$locks = new LockFactory(new RedisStore($server));
for ($cycle = getenv("FENCEPOST_CYCLES"); $cycle > 0; $cycle--) {
    $lock = $locks->createLock(getenv("FENCEPOST_LOCK"), getenv("FENCEPOST_TTL_MS") / 1000, false);
    $judge->rawCommand("ACQUIRING", "orders");
    try {
        $lock->acquire(true);
    } catch (ExceptionInterface | RedisException $error) {
        $judge->rawCommand("UNKNOWN", "orders", $error->getMessage());
        continue;
    }
    $hold_ms = $judge->rawCommand("ACQUIRED", "orders");
    $value = (int) $storage->get("orders");
    usleep($hold_ms * 1000);
    $storage->set("orders", $value + 1);
    $judge->rawCommand("RELEASING", "orders");
    try {
        if (!$lock->isAcquired()) $judge->rawCommand("LOST", "orders");
        $lock->release();
    } catch (ExceptionInterface | RedisException $error) {
        $judge->rawCommand("UNKNOWN", "orders");
    }
    $judge->rawCommand("RELEASED", "orders");
}
