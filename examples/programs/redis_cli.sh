#!/bin/sh
# A lock by redis-cli, one process for each command: see docs/own-programs.md.
ask() { redis-cli -u "$@" 2>/dev/null; }
judge() { ask "$FENCEPOST_JUDGE" "$@"; }
UNLOCK='if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end'

cycle=0
while [ "$cycle" -lt "$FENCEPOST_CYCLES" ]; do
  cycle=$((cycle + 1))
  owner="$FENCEPOST_PROCESS-$cycle-$$"
  judge ACQUIRING orders >/dev/null
  attempt=0
  until [ "$(ask "$FENCEPOST_REDIS" set "$FENCEPOST_LOCK" "$owner" nx px "$FENCEPOST_TTL_MS")" = OK ]; do
    attempt=$((attempt + 1))
    [ "$attempt" -lt 200 ] || break
    sleep 0.1
  done
  if [ "$attempt" -eq 200 ]; then
    judge REFUSED orders >/dev/null
    continue
  fi
  hold_ms=$(judge ACQUIRED orders)
  value=$(ask "$FENCEPOST_STORAGE" get orders)
  sleep "$(printf '%d.%03d' $((hold_ms / 1000)) $((hold_ms % 1000)))"
  ask "$FENCEPOST_STORAGE" set orders $((value + 1)) >/dev/null
  judge RELEASING orders >/dev/null
  case "$(ask "$FENCEPOST_REDIS" eval "$UNLOCK" 1 "$FENCEPOST_LOCK" "$owner")" in
    1) ;;
    0) judge LOST orders >/dev/null ;;
    *) judge UNKNOWN orders >/dev/null ;;
  esac
  judge RELEASED orders >/dev/null
done
