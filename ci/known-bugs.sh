#!/usr/bin/env bash
# Tests lock libraries in a version with a known bug and in the version with the fix. The old
# version must break the rule within some seeds, and the new version must never break it.
#
#   ci/known-bugs.sh [NAME]
#
# Needs python3 with pip, python3.8 (or PYTHON38) for celery-redbeat, celery-once and aiozk, node
# with npm, go, a JDK with Maven, and the network. Skips a case whose packages cannot be installed,
# with a message. Installs everything into $FOLDER. Takes half an hour. docs/known-bugs.md describes
# each case.
set -euo pipefail
cd "$(dirname "$0")/.."
FOLDER=${FOLDER:-target/known-bugs}
mkdir -p "$FOLDER"
FOLDER=$(cd "$FOLDER" && pwd)
only=${1:-}
failed=0
if [ -z "${FENCEPOST:-}" ]; then
  cargo build --release --locked --quiet -p fencepost --bin fencepost
  FENCEPOST=$PWD/target/release/fencepost
fi

# Prints a Python interpreter with these packages: PYTHON PACKAGE==VERSION[,...]
python_with() {
  local folder="$FOLDER/${2//[=,]/-}"
  if [ ! -e "$folder/done" ]; then
    "$1" -m venv "$folder" || return 1
    # shellcheck disable=SC2086 # several packages
    "$folder/bin/pip" install -q setuptools ${2//,/ } >&2 || return 1
    touch "$folder/done"
  fi
  echo "$folder/bin/python"
}

# Prints a folder of Node modules with these packages: PACKAGE@VERSION[,...]
modules_with() {
  local folder="$FOLDER/${1//[@,:\/]/-}"
  if [ ! -e "$folder/done" ]; then
    # shellcheck disable=SC2086 # several packages
    npm install --silent --no-audit --no-fund --prefix "$folder" ${1//,/ } >&2 || return 1
    touch "$folder/done"
  fi
  echo "$folder/node_modules"
}

# Prints a program built from a Go source with these modules: WORKER MODULE@VERSION[,...]
built_with() {
  local folder="$FOLDER/${2//[@,:\/]/-}"
  if [ ! -e "$folder/worker" ]; then
    mkdir -p "$folder"
    cp "$1" "$folder/worker.go"
    # shellcheck disable=SC2086 # several modules
    (cd "$folder" && go mod init worker && go get ${2//,/ } && CGO_ENABLED=0 go build -o worker .) >&2 || return 1
  fi
  echo "$folder/worker"
}

# Prints the command that runs a Java class with these libraries: WORKER
# GROUP:ARTIFACT:VERSION[,...]
class_with() {
  local folder="$FOLDER/${2//[:,]/-}" name group artifact version one
  name=$(basename "$1" .java)
  if [ ! -e "$folder/done" ]; then
    mkdir -p "$folder"
    {
      echo "<project><modelVersion>4.0.0</modelVersion><groupId>workers</groupId>"
      echo "<artifactId>workers</artifactId><version>1</version><dependencies>"
      for one in ${2//,/ }; do
        IFS=: read -r group artifact version <<< "$one"
        echo "<dependency><groupId>$group</groupId><artifactId>$artifact</artifactId>"
        echo "<version>$version</version></dependency>"
      done
      echo "</dependencies></project>"
    } > "$folder/pom.xml"
    mvn -q -B -f "$folder/pom.xml" dependency:copy-dependencies -DoutputDirectory="$folder" \
      -DincludeScope=runtime >&2 || return 1
    touch "$folder/done"
  fi
  javac -cp "$folder/*" -sourcepath "$(dirname "$1")" -d "$folder/$name" "$1" >&2 || return 1
  echo "java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp $folder/*:$folder/$name $name"
}

# Prints the number of runs that broke a rule, the number of exercised runs, and the first seed:
# COMMAND RULE OPTIONS...
broken() {
  local command=$1 rule=$2 status=0
  shift 2
  "$FENCEPOST" sweep --program "worker=$command" --no-shrink --quiet --format json "$@" \
    > "$FOLDER/sum.$$.json" || status=$?
  [ "$status" -ne 2 ] || exit 2
  python3 - "$FOLDER/sum.$$.json" "$rule" <<'PYTHON'
import json
import sys

cell = json.load(open(sys.argv[1]))["cells"][0]
broke = cell["violations_by_kind"].get(sys.argv[2], 0)
print(broke, cell["runs"] - cell["unknown"], cell["first_seed"].get(sys.argv[2], "-"))
PYTHON
}

# Tests one bug: NAME RULE OLD NEW WORKER OPTIONS... OLD and NEW are the packages of the two
# versions.
known() {
  local name=$1 rule=$2 old=$3 new=$4 worker=examples/programs/known-bugs/$5
  local packages installed command found broke exercised seed language=${PYTHON:-python3} modules=()
  shift 5
  case ${worker##*.} in
    js) language=node ;;
    go) language=go ;;
    java) language=mvn ;;
  esac
  [ -z "$only" ] || [ "$only" = "$name" ] || return 0
  if ! command -v "$language" > /dev/null 2>&1; then
    echo "$name: skipped, there is no $language"
    return 0
  fi
  for packages in "$old" "$new"; do
    case $language in
      node) installed=$(modules_with "$packages") ;;
      go) installed=$(built_with "$worker" "$packages") ;;
      mvn) installed=$(class_with "$worker" "$packages") ;;
      *) installed=$(python_with "$language" "$packages") ;;
    esac || { echo "$name: skipped, $packages could not be installed" && return 0; }
    case $language in
      node) command="node $worker" modules=(--env "NODE_PATH=$installed") ;;
      go | mvn) command=$installed ;;
      *) command="$installed $worker" ;;
    esac
    found=$(broken "$command" "$rule" "$@" "${modules[@]}")
    read -r broke exercised seed <<< "$found"
    echo "$name: $packages: $rule in $broke of $exercised runs, first in seed $seed"
    if [ "$packages" = "$old" ] && [ "$broke" -eq 0 ]; then
      failed=1
      echo "  the bug was not found"
    elif [ "$packages" = "$new" ] && { [ "$broke" -gt 0 ] || [ "$exercised" -eq 0 ]; }; then
      failed=1
      echo "  expected quiet runs that were exercised"
    fi
  done
}

short=(--strategy aimed --processes 2 --cycles 4 --set fault-window=0s..12s)
known redis-py-554 stuck redis==2.10.6 redis==3.0.1 redis_py_lock.py \
  --fault lost-reply --seeds 0..16 "${short[@]}"
known redis-py-415 foreign-release redis==2.9.1 redis==2.10.0 redis_py_old_lock.py \
  --fault pause --seeds 0..16 "${short[@]}" --set pause=10s..20s
known beaker-164 stuck Beaker==1.10.0,redis==2.10.6 Beaker==1.10.1,redis==2.10.6 \
  beaker_synchronizer.py --fault lost-reply --seeds 0..16 "${short[@]}" \
  --lock-key beaker_lock:orders
known sherlock-66 overlap sherlock==0.4.0,redis==4.5.1 sherlock==0.4.1,redis==4.5.1 \
  sherlock_renew.py --fault none --seeds 0..8 --processes 2 --cycles 4
PYTHON=${PYTHON38:-python3.8} known redbeat-127 lost-update \
  celery-redbeat==1.0.0,celery==4.4.7,redis==3.5.3 \
  celery-redbeat==2.0.0,celery==4.4.7,redis==3.5.3 redbeat_scheduler.py \
  --fault pause --seeds 0..12 "${short[@]}" --hold 2s..6s --set pause=10s..20s
known rq-1914 foreign-release rq==1.14.1,redis==4.5.1 rq==1.15.0,redis==4.5.1 rq_scheduler.py \
  --fault none --seeds 0..8 --processes 2 --cycles 4 --ttl 61s \
  --lock-key rq:scheduler-lock:orders
known rq-2458 foreign-release rq==2.10.0,redis==5.2.1 rq==2.11.0,redis==5.2.1 rq_scheduler.py \
  --fault pause --seeds 0..16 "${short[@]}" --ttl 61s --hold 2s..6s --set pause=65s..90s \
  --lock-key rq:scheduler-lock:orders
known cashews-387 wrong-answer cashews==7.4.3,redis==5.2.1 cashews==7.4.4,redis==5.2.1 \
  cashews_lock.py --fault none --seeds 0..8 --processes 2 --cycles 4
known redis-py-2665 duplicate-number redis==4.5.3 redis==4.5.4 redis_py_cancelled.py \
  --fault storage-delay --seeds 0..16 --strategy aimed --processes 2 --cycles 8 \
  --set fault-window=0s..12s --set storage-delay=500ms..2s --ttl 60s --hold 500ms..2s \
  --workload sequence
known redis-semaphore-175 lost-update redis-semaphore@5.3.0,ioredis@5.3.2 \
  redis-semaphore@5.3.1,ioredis@5.3.2 redis_semaphore.js \
  --fault pause --seeds 0..32 --strategy aimed --processes 2 --cycles 2 \
  --set fault-window=0s..12s --set pause=12s..20s --ttl 3s --hold 2s..6s --lock-key mutex:orders
known python-redis-lock-35 overlap python-redis-lock==2.3.0,redis==2.10.6 \
  python-redis-lock==3.0.0,redis==2.10.6 python_redis_lock.py \
  --fault none --seeds 0..8 --processes 2 --cycles 4 --ttl 3s
known redis-py-3847 stuck redis==7.1.1 redis==7.2.0 redis_py_released.py \
  --fault none --seeds 0..8 --processes 2 --cycles 4 --hold 10ms..500ms --max-time 10m
known redlock-169 wrong-answer redlock@5.0.0-beta.2,ioredis@5.11.1 \
  redlock@npm:@sesamecare-oss/redlock@1.4.0,ioredis@5.11.1 redlock_using.js \
  --fault none --seeds 0..4 --processes 2 --cycles 3 --ttl 3s --hold 2s..6s
PYTHON=${PYTHON38:-python3.8} known redbeat-238 overlap \
  celery-redbeat==2.0.0,celery==5.2.7,redis==3.5.3 \
  celery-redbeat==2.1.0,celery==5.2.7,redis==3.5.3 redbeat_started.py \
  --fault lost-request --seeds 0..8 "${short[@]}"
PYTHON=${PYTHON38:-python3.8} known celery-once-7 overlap \
  celery-once==1.3.0,celery==4.4.7,redis==3.5.3,six \
  celery-once==2.0.1,celery==4.4.7,redis==3.5.3,six celery_once_backend.py \
  --fault none --seeds 0..4 --processes 2 --cycles 4
redigo=github.com/gomodule/redigo@v2.0.0+incompatible
known redsync-38 lost-update "github.com/go-redsync/redsync@v1.2.0,$redigo" \
  "github.com/go-redsync/redsync@v1.3.0,$redigo" redsync_extend.go \
  --fault pause --seeds 0..16 "${short[@]}" --ttl 3s --hold 2s..6s --set pause=6s..12s
known redsync-61 lost-update "github.com/go-redsync/redsync/v4@v4.0.3,$redigo" \
  "github.com/go-redsync/redsync/v4@v4.0.4,$redigo" redsync_v4_extend.go \
  --fault pause --seeds 0..16 "${short[@]}" --ttl 3s --hold 2s..6s --set pause=6s..12s
redigo_1=github.com/gomodule/redigo@v1.8.9
known redsync-151 overlap "github.com/go-redsync/redsync/v4@v4.12.0,$redigo_1" \
  "github.com/go-redsync/redsync/v4@v4.12.1,$redigo_1" redsync_v4_extend.go \
  --deployment independent --fault lost-reply --seeds 0..8 "${short[@]}" --ttl 3s --hold 2s..6s
known kazoo-649 stuck kazoo==2.8.0,redis==4.5.1 kazoo==2.9.0,redis==4.5.1 kazoo_read_write.py \
  --coordinator zookeeper --fault none --seeds 0..2 --processes 3 --cycles 4 --max-time 5m
PYTHON=${PYTHON38:-python3.8} known aiozk-34 stuck aiozk==0.15.0,redis==5.0.8 \
  aiozk==0.21.0,redis==5.0.8 aiozk_lock.py --coordinator zookeeper --fault none --seeds 0..3 \
  --processes 2 --cycles 3 --hold 2s..6s --env WAIT=1 --max-time 5m
quiet=(--fault none --processes 2 --cycles 3)
spring=org.springframework.integration:spring-integration-redis nop=org.slf4j:slf4j-nop:2.0.17
known spring-11146 wrong-answer "$spring:7.1.0,redis.clients:jedis:7.2.0,$nop" \
  "$spring:6.5.3,redis.clients:jedis:5.2.0,$nop" SpringNested.java --fault none --seeds 0..4 \
  --processes 2 --cycles 2 --hold 100ms..1s --max-time 2m --lock-key lock:orders
for use in 11044:evicted 11049:interrupted; do
  known "spring-${use%:*}" overlap "$spring:7.0.4,redis.clients:jedis:7.2.0,$nop" \
    "$spring:7.0.5,redis.clients:jedis:7.2.0,$nop" SpringThreads.java "${quiet[@]}" --seeds 0..2 \
    --max-time 3m --env "USE=${use#*:}" --lock-key lock:orders
done
shedlock=net.javacrumbs.shedlock:shedlock-provider
known shedlock-2593 foreign-release "$shedlock-redis-spring:6.6.0,redis.clients:jedis:5.2.0,$nop" \
  "$shedlock-redis-spring:6.7.0,redis.clients:jedis:6.0.0,$nop" ShedLockRedis.java "${quiet[@]}" \
  --seeds 0..4 --ttl 3s --hold 2s..6s --lock-key job-lock:default:orders
redisson=org.redisson:redisson nop=org.slf4j:slf4j-nop:1.7.36
postgresql=org.postgresql:postgresql:42.7.7
known shedlock-243 overlap "$shedlock-jdbc-template:4.9.2,$postgresql,$nop" \
  "$shedlock-jdbc-template:4.9.3,$postgresql,$nop" ShedLockJdbc.java "${quiet[@]}" --seeds 0..2 \
  --max-time 3m --coordinator postgresql
# Tests one bug of Redisson: ISSUE RULE OLD NEW USE OPTIONS...
known_redisson() {
  local name=redisson-$1 rule=$2 old=$redisson:$3,$nop new=$redisson:$4,$nop use=$5
  shift 5
  known "$name" "$rule" "$old" "$new" RedissonLocks.java "${quiet[@]}" --seeds 0..2 --env "USE=$use" "$@"
}
known_redisson 1110 overlap 3.5.4 3.5.5 write-twice --hold 2s..8s
known_redisson 1593 overlap 3.10.5 3.10.6 lock-interrupted --env AFTER=500
known_redisson 2172 overlap 3.11.0 3.11.1 multi-once
known_redisson 4033 stuck 3.17.0 3.17.1 multi-now --max-time 1m
known_redisson 4184 stuck 3.16.8 3.17.0 multi-spin --max-time 2m
known_redisson 4197 wrong-answer 3.17.0 3.17.1 spin --hold 100ms..1s
known_redisson 4217 overlap 3.17.0 3.17.1 write-then-read --hold 4s..8s
known_redisson 5484 overlap 3.25.0 3.25.1 multi-seconds --hold 100ms..1s
known_redisson 5623 overlap 3.27.1 3.27.2 thrice --hold 4s..8s
known_redisson 6144 overlap 3.45.1 3.46.0 twice-in-a-thread --hold 4s..8s
exit $failed
