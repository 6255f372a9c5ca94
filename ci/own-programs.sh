#!/usr/bin/env bash
# Installs pinned versions of what the workers of examples/programs need. Then runs all workers as
# the lock under test, each run twice, under eight families of faults.
#
#   ci/own-programs.sh                    # the tests, and a row of results for each worker
#   ci/own-programs.sh SEEDS [NAME...]    # SEEDS seeds of each worker, or of the named workers
#   ci/own-programs.sh speed [NAME...]    # the cost of a run of each worker
#   ci/own-programs.sh models [SEEDS [NAME...]]    # compares the models with the libraries
#
# Needs python3 with pip, node with npm, cargo, Maven, and apt-get for Go with redigo, a JDK, Ruby
# and PHP. If something cannot be installed, its workers are skipped, with a message. Everything is
# installed into $FOLDER, except for apt-get's packages. FENCEPOST names the program; if it is not
# set, the script builds the program.
set -euo pipefail
cd "$(dirname "$0")/.."
FOLDER=${FOLDER:-target/own-programs}
mkdir -p "$FOLDER/bin"
FOLDER=$(cd "$FOLDER" && pwd)
if [ -z "${FENCEPOST:-}" ]; then
  cargo build --release --locked --quiet -p fencepost --bin fencepost
  FENCEPOST=$PWD/target/release/fencepost
fi

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
for package in golang golang-github-gomodule-redigo-dev golang-github-hashicorp-go-multierror-dev \
  default-jdk-headless redis-tools ruby ruby-redis php-cli php-redis php-symfony-lock \
  php-illuminate-cache php-illuminate-redis php-malkusch-lock; do
  dpkg -s "$package" >/dev/null 2>&1 || "${as_root[@]}" apt-get install -y -q "$package" \
    || echo "$package could not be installed" >&2
done
# try WORKERS COMMAND...: runs a command that installs what these workers need. If the command
# fails, the workers are skipped.
export SKIPPED=
try() {
  local workers=$1
  shift
  "$@" >"$FOLDER/log" 2>&1 && return
  echo "skipped: $workers: '$1' failed: $(tail -1 "$FOLDER/log")" >&2
  SKIPPED+=" $workers"
}
# libraries NAME GROUP:ARTIFACT:VERSION...: puts the libraries and their dependencies into
# $FOLDER/jars/NAME.
libraries() {
  local folder=$FOLDER/jars/$1 group artifact version one
  shift
  [ ! -e "$folder/done" ] || return 0
  mkdir -p "$folder"
  {
    echo "<project><modelVersion>4.0.0</modelVersion><groupId>workers</groupId>"
    echo "<artifactId>workers</artifactId><version>1</version><dependencies>"
    for one in "$@"; do
      IFS=: read -r group artifact version <<<"$one"
      echo "<dependency><groupId>$group</groupId><artifactId>$artifact</artifactId>"
      echo "<version>$version</version></dependency>"
    done
    echo "</dependencies></project>"
  } >"$folder/pom.xml"
  mvn -q -B -f "$folder/pom.xml" dependency:copy-dependencies -DoutputDirectory="$folder" \
    -DincludeScope=runtime && touch "$folder/done"
}
python() {
  local folder=$FOLDER/$1
  shift
  [ -d "$folder" ] || python3 -m venv "$folder" && "$folder/bin/pip" install -q "$@"
}
try "redis-py redis-py-asyncio python-redis-lock redlock-py-1 pottery dramatiq" python python \
  redis==8.1.0 python-redis-lock==4.0.1 redlock-py==1.0.8 pottery==3.0.1 dramatiq==2.2.1
try "kazoo pg8000 psycopg pymysql pymysql-rows etcd3gw pymemcache" python python redis==8.1.0 \
  kazoo==2.11.0 pg8000==1.31.6 "psycopg[binary]==3.3.9" PyMySQL==1.2.4 etcd3gw==2.7.0 \
  pymemcache==4.0.0
# aioredlock needs a separate folder, because redis-py would use a parser that it installs.
try aioredlock python aioredlock aioredlock==0.7.3
try huey python python huey==3.5.4
try "celery-once celery-singleton kombu-mutex" python celery redis==8.1.0 celery==5.6.0 \
  celery-once==3.0.1 celery-singleton==0.3.1 packaging==26.4 six==1.17.0
try "ioredis node-redlock-4 node-redlock-5 redis-semaphore node-pg mysql2 npm-memcached \
  redlock-universal redlock-sesamecare bullmq" \
  npm install --silent --no-audit --no-fund --prefix "$FOLDER" ioredis@5.11.1 \
  redlock-universal@0.8.5 @sesamecare-oss/redlock@1.4.0 bullmq@5.81.5 \
  redis-semaphore@5.8.0 redlock4@npm:redlock@4.2.0 redlock5@npm:redlock@5.0.0-beta.2 \
  pg@8.23.1 mysql2@3.24.6 memcached@2.2.2
try "curator-mutex curator-semaphore curator-suspended curator-fencing" libraries curator \
  org.apache.curator:curator-recipes:5.9.0 redis.clients:jedis:3.10.0 org.slf4j:slf4j-nop:1.7.36
for version in 4.3.24.RELEASE 5.5.20 6.5.3 7.0.5; do
  try "spring-jdbc-${version%%.*}" libraries "spring-jdbc-${version%%.*}" \
    "org.springframework.integration:spring-integration-jdbc:$version" \
    org.postgresql:postgresql:42.7.7 redis.clients:jedis:3.10.0
done
try spring-redis libraries spring-redis redis.clients:jedis:7.2.0 org.slf4j:slf4j-nop:2.0.17 \
  org.springframework.integration:spring-integration-redis:7.0.5
try "spring-redis-5 spring-redis-5-pubsub" libraries spring-redis-5 redis.clients:jedis:3.10.0 \
  org.slf4j:slf4j-nop:1.7.36 org.springframework.integration:spring-integration-redis:5.5.20
try shedlock-redis libraries shedlock-redis redis.clients:jedis:6.0.0 \
  org.slf4j:slf4j-nop:2.0.17 net.javacrumbs.shedlock:shedlock-provider-redis-spring:6.7.0
try "shedlock shedlock-client-time" libraries shedlock org.slf4j:slf4j-nop:1.7.36 \
  org.postgresql:postgresql:42.7.7 net.javacrumbs.shedlock:shedlock-provider-jdbc-template:4.9.3
try "redisson-3 redisson-3-once redisson-3-lease redisson-3-fair redisson-3-sentinel redisson-3-multi \
  redisson-3-red" libraries redisson-3 org.redisson:redisson:3.4.3 org.slf4j:slf4j-nop:1.7.36
try "redisson-4 redisson-4-lease redisson-4-sentinel redisson-4-once redisson-4-multi redisson-4-fenced \
  redisson-4-fair redisson-4-spin redisson-4-red" \
  libraries redisson-4 org.redisson:redisson:4.7.0 org.slf4j:slf4j-nop:2.0.17
try lettuce libraries lettuce io.lettuce:lettuce-core:6.5.5.RELEASE
try jetcd libraries jetcd io.etcd:jetcd-core:0.8.5 org.slf4j:slf4j-nop:1.7.36
try "jetcd etcd-go etcd-go-done etcd-go-fencing" ci/install.sh servers
try jedis-getset libraries jedis-2 redis.clients:jedis:2.9.0

examples=examples/programs
cc -O2 -w -static -o "$FOLDER/bin/plain-c" $examples/plain.c
rustc --edition 2021 -O -o "$FOLDER/bin/plain-rust" $examples/plain.rs
CARGO_TARGET_DIR="$FOLDER/rslock" cargo build --release --locked --quiet \
  --manifest-path ci/rust-locks/Cargo.toml --bin rslock-worker
try redigo env GO111MODULE=off GOPATH=/usr/share/gocode CGO_ENABLED=0 GOCACHE="$FOLDER/cache" \
  go build -o "$FOLDER/bin/redigo" $examples/redigo.go
# built NAME SOURCE MODULE@VERSION...: builds a worker in Go with these modules.
built() {
  local name=$1 source=$2 folder=$FOLDER/$1
  shift 2
  [ ! -e "$FOLDER/bin/$name" ] || return 0
  mkdir -p "$folder"
  cp "$examples/$source" "$folder/worker.go"
  cd "$folder"
  [ -e go.mod ] || go mod init worker
  go get "$@"
  CGO_ENABLED=0 go build -o "$FOLDER/bin/$name" .
}
in_go() {
  local worker=$1
  shift
  try "$worker" bash -ec "$(declare -p FOLDER examples); $(declare -f built); built $*"
}
in_go redsync-go redsync redsync.go github.com/go-redsync/redsync/v4@v4.13.0 \
  github.com/gomodule/redigo@v1.8.9
in_go redislock redislock redislock.go github.com/bsm/redislock@v0.9.4 \
  github.com/redis/go-redis/v9@v9.7.3
in_go "etcd-go etcd-go-done etcd-go-fencing" etcd-mutex etcd_mutex.go go.etcd.io/etcd/client/v3@v3.5.21
javac -d "$FOLDER/bin" $examples/Plain.java
for worker in curator:Curator curator:CuratorUses spring-jdbc-4:SpringJdbcVersions spring-jdbc-5:SpringJdbc \
  spring-jdbc-6:SpringJdbc spring-jdbc-7:SpringJdbcVersions spring-redis:SpringRedis \
  spring-redis-5:SpringRedis shedlock-redis:known-bugs/ShedLockRedis \
  shedlock:known-bugs/ShedLockJdbc redisson-3:Redisson redisson-4:Redisson \
  lettuce:Lettuce jedis-2:JedisGetSet jetcd:Jetcd; do
  jars=$FOLDER/jars/${worker%:*}
  [ ! -e "$jars/done" ] || javac -cp "$jars/*" -sourcepath $examples/known-bugs -d "$jars" \
    "$examples/${worker#*:}.java"
done

if [ $# -eq 0 ]; then
  export PATH="$FOLDER/python/bin:$PATH" NODE_PATH="$FOLDER/node_modules"
  cargo test -p fencepost-programs --locked
  FENCEPOST_PROGRAMS=all cargo test -p fencepost --locked --test programs -- --nocapture
fi
if [ "${1:-}" = models ]; then
  shift
  python3 ci/models.py "$FENCEPOST" "$FOLDER" "$@"
else
  python3 ci/own-programs.py "$FENCEPOST" "$FOLDER" "$@"
fi
