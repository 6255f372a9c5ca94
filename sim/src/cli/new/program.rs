use super::write_new;
use crate::cli::arguments::NewProgramArguments;
use crate::cli::options::unknown;
use crate::cli::output::print;
use crate::cli::{Failure, Outcome};

struct Worker {
    language: &'static str,
    on: &'static str,
    file: &'static str,
    text: &'static str,
    setup: &'static str,
    command: &'static str,
}

macro_rules! workers {
    ($($language:literal $on:literal $source:literal $file:literal $setup:literal $command:literal,)*) => {
        &[$(Worker {
            language: $language,
            on: $on,
            file: $file,
            text: include_str!(concat!("../../../../examples/programs/", $source)),
            setup: $setup,
            command: $command,
        }),*]
    };
}

const WORKERS: &[Worker] = workers! {
    "python" "redis" "redis_py.py" "worker.py"
        "python3 -m venv venv && venv/bin/pip install redis"
        "venv/bin/python worker.py",
    "python" "redis-masters" "redlock_py.py" "worker.py"
        "python3 -m venv venv && venv/bin/pip install redis redlock-py"
        "venv/bin/python worker.py",
    "python" "memcached" "pymemcache_add.py" "worker.py"
        "python3 -m venv venv && venv/bin/pip install redis pymemcache"
        "venv/bin/python worker.py",
    "python" "postgresql" "pg8000_advisory.py" "worker.py"
        "python3 -m venv venv && venv/bin/pip install redis pg8000"
        "venv/bin/python worker.py",
    "python" "mysql" "pymysql_get_lock.py" "worker.py"
        "python3 -m venv venv && venv/bin/pip install redis pymysql"
        "venv/bin/python worker.py",
    "python" "zookeeper" "kazoo_lock.py" "worker.py"
        "python3 -m venv venv && venv/bin/pip install redis kazoo"
        "venv/bin/python worker.py",
    "python" "etcd" "etcd3gw_lock.py" "worker.py"
        "python3 -m venv venv && venv/bin/pip install redis etcd3gw"
        "venv/bin/python worker.py",
    "node" "redis" "ioredis.js" "worker.js"
        "npm install ioredis"
        "node worker.js",
    "node" "redis-masters" "redlock5.js" "worker.js"
        "npm install ioredis redlock5@npm:redlock@5.0.0-beta.2"
        "node worker.js",
    "node" "memcached" "memcached_add.js" "worker.js"
        "npm install ioredis memcached"
        "node worker.js",
    "node" "postgresql" "pg_advisory.js" "worker.js"
        "npm install ioredis pg"
        "node worker.js",
    "node" "mysql" "mysql2.js" "worker.js"
        "npm install ioredis mysql2"
        "node worker.js",
    "java" "redis" "Plain.java" "Plain.java"
        "javac Plain.java"
        "java Plain",
    "java" "zookeeper" "Curator.java" "Curator.java"
        "# put these and their dependencies into lib: org.apache.curator:curator-recipes, \
         redis.clients:jedis:3.10.0\njavac -cp 'lib/*' Curator.java"
        "java -cp lib/*:. Curator",
    "java" "postgresql" "SpringJdbc.java" "SpringJdbc.java"
        "# put these and their dependencies into lib: \
         org.springframework.integration:spring-integration-jdbc, org.postgresql:postgresql, \
         redis.clients:jedis:3.10.0\njavac -cp 'lib/*' SpringJdbc.java"
        "java -cp lib/*:. SpringJdbc",
    "go" "redis" "redigo.go" "worker.go"
        "go mod init worker && go mod tidy && go build -o worker worker.go"
        "./worker",
    "go" "redis-masters" "redsync.go" "worker.go"
        "go mod init worker && go mod tidy && go build -o worker worker.go"
        "./worker",
    "rust" "redis" "plain.rs" "worker.rs"
        "rustc -O worker.rs"
        "./worker",
    "ruby" "redis" "redis_rb.rb" "worker.rb"
        "gem install redis -v 4.8.0"
        "ruby worker.rb",
    "php" "redis" "symfony_lock.php" "worker.php"
        "apt-get install php-cli php-redis php-symfony-lock"
        "php worker.php",
};

pub(crate) fn new_program(arguments: &NewProgramArguments) -> Result<Outcome, Failure> {
    let NewProgramArguments { language, on } = arguments;
    let own: Vec<&Worker> = WORKERS.iter().filter(|one| one.language == language).collect();
    if own.is_empty() {
        let mut valid: Vec<&str> = WORKERS.iter().map(|one| one.language).collect();
        valid.dedup();
        return Err(unknown("language", language, "", valid));
    }
    let found = own.iter().find(|one| one.on == on);
    let valid = || own.iter().map(|one| one.on).collect();
    let worker = found.ok_or_else(|| unknown("--on", on, "", valid()))?;
    write_new(worker.file, worker.text, "a folder without this file")?;
    let servers = match on.as_str() {
        "redis" => String::new(),
        "redis-masters" => " --deployment independent".to_owned(),
        coordinator => format!(" --coordinator {coordinator}"),
    };
    let (file, setup, command) = (worker.file, worker.setup, worker.command);
    print(&format!(
        "{file}\n{setup}\nfencepost --seed 7 --fault pause{servers} --program '{command}'\n"
    ))?;
    Ok(Outcome::AsExpected)
}
