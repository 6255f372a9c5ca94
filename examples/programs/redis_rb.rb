# redis-rb, SET NX PX and a script, as fencepost runs it: see docs/own-programs.md.
require "redis"
require "securerandom"

UNLOCK = 'if redis.call("get", KEYS[1]) == ARGV[1] then redis.call("del", KEYS[1]) return 1 end'
# Otherwise it sends a release again whose answer was lost, and hears that the lock is gone.
options = { reconnect_attempts: 0 }
urls = %w[REDIS STORAGE JUDGE].map { |name| ENV["FENCEPOST_#{name}"] }
server, storage, judge = urls.map { |url| Redis.new(url: url, **options) }
if ENV["FENCEPOST_SENTINELS"]
  sentinels = ENV["FENCEPOST_SENTINELS"].split(",").map { |one| %i[host port].zip(one.split(":")).to_h }
  server = Redis.new(url: "redis://#{ENV["FENCEPOST_MASTER_NAME"]}", sentinels: sentinels, **options)
end
key, ttl_ms = ENV["FENCEPOST_LOCK"], ENV["FENCEPOST_TTL_MS"].to_i
ENV["FENCEPOST_CYCLES"].to_i.times do
  owner = SecureRandom.uuid
  judge.call("ACQUIRING", "orders")
  begin
    sleep 0.1 until server.set(key, owner, nx: true, px: ttl_ms)
  rescue Redis::BaseError => error
    judge.call("UNKNOWN", "orders", error.message)
    next
  end
  hold_ms = judge.call("ACQUIRED", "orders")
  value = storage.get("orders").to_i
  sleep hold_ms / 1000.0
  storage.set("orders", value + 1)
  judge.call("RELEASING", "orders")
  begin
    judge.call("LOST", "orders") if server.eval(UNLOCK, keys: [key], argv: [owner]) != 1
  rescue Redis::BaseError
    judge.call("UNKNOWN", "orders")
  end
  judge.call("RELEASED", "orders")
end
