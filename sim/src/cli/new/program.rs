use super::write_new;
use crate::cli::arguments::NewProgramArguments;
use crate::cli::options::unknown;
use crate::cli::output::print;
use crate::cli::{Failure, Outcome};

struct Worker {
    language: &'static str,
    on: &'static str,
    #[cfg(test)]
    source: &'static str,
    file: &'static str,
    text: &'static str,
    setup: &'static str,
    command: &'static str,
    /// Maven coordinates of the libraries to copy to the folder `lib`.
    libraries: &'static [&'static str],
    /// Text of `Harness.java`, if the program needs it.
    harness: Option<&'static str>,
}

const HARNESS: &str = include_str!("../../../../examples/programs/known-bugs/Harness.java");

macro_rules! harness {
    () => {
        None
    };
    ($harness:ident) => {
        Some($harness)
    };
}

macro_rules! workers {
    ($($language:literal $on:literal $source:literal $file:literal $setup:literal $command:literal
        $([$($library:literal)*] $($harness:ident)?)?,)*) => {
        &[$(Worker {
            language: $language,
            on: $on,
            #[cfg(test)]
            source: $source,
            file: $file,
            text: include_str!(concat!("../../../../examples/programs/", $source)),
            setup: $setup,
            command: $command,
            libraries: &[$($($library),*)?],
            harness: harness!($($($harness)?)?),
        }),*]
    };
}

impl Worker {
    /// Returns the template with a new heading: the old one names files that the user lacks.
    fn program(&self) -> String {
        let old = self.heading();
        let marker = old.split(' ').next().unwrap_or_default();
        let (on, command, servers) = (self.on, self.command, self.servers());
        let run = format!("fencepost{servers} --program '{command}'");
        let new = format!("{marker} A lock on {on}. Run it with `{run}`.");
        self.text.replacen(old, &new, 1)
    }

    /// Returns the first comment, or an empty text.
    fn heading(&self) -> &'static str {
        let is_heading =
            |line: &&str| ["# ", "// ", "//! "].iter().any(|mark| line.starts_with(mark));
        self.text.lines().find(is_heading).unwrap_or_default()
    }

    /// Returns the options that select the worker's servers.
    fn servers(&self) -> String {
        match self.on {
            "redis" => String::new(),
            "redis-masters" => " --deployment independent".to_owned(),
            // The simulated etcd does not serve the gRPC that these clients speak.
            "etcd" if matches!(self.language, "go" | "java") => {
                " --coordinator etcd --deployment single --servers real".to_owned()
            }
            coordinator => format!(" --coordinator {coordinator}"),
        }
    }
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
    "java" "redis" "Redisson.java" "Redisson.java"
        "mvn -q dependency:copy-dependencies -DoutputDirectory=lib -DincludeScope=runtime \
         && javac -cp 'lib/*:.' Redisson.java"
        "java -cp lib/*:. Redisson watchdog"
        ["org.redisson:redisson:4.7.0" "org.slf4j:slf4j-nop:2.0.17"] HARNESS,
    "java" "redis-masters" "Redisson.java" "Redisson.java"
        "mvn -q dependency:copy-dependencies -DoutputDirectory=lib -DincludeScope=runtime \
         && javac -cp 'lib/*:.' Redisson.java"
        "java -cp lib/*:. Redisson red"
        ["org.redisson:redisson:4.7.0" "org.slf4j:slf4j-nop:2.0.17"] HARNESS,
    "java" "etcd" "Jetcd.java" "Jetcd.java"
        "mvn -q dependency:copy-dependencies -DoutputDirectory=lib -DincludeScope=runtime \
         && javac -cp 'lib/*:.' Jetcd.java"
        "java -cp lib/*:. Jetcd"
        ["io.etcd:jetcd-core:0.8.5" "org.slf4j:slf4j-nop:1.7.36"] HARNESS,
    "java" "zookeeper" "Curator.java" "Curator.java"
        "mvn -q dependency:copy-dependencies -DoutputDirectory=lib -DincludeScope=runtime \
         && javac -cp 'lib/*' Curator.java"
        "java -cp lib/*:. Curator"
        ["org.apache.curator:curator-recipes:5.9.0" "redis.clients:jedis:3.10.0"
         "org.slf4j:slf4j-nop:1.7.36"],
    "java" "postgresql" "SpringJdbc.java" "SpringJdbc.java"
        "mvn -q dependency:copy-dependencies -DoutputDirectory=lib -DincludeScope=runtime \
         && javac -cp 'lib/*' SpringJdbc.java"
        "java -cp lib/*:. SpringJdbc"
        ["org.springframework.integration:spring-integration-jdbc:6.5.3"
         "org.postgresql:postgresql:42.7.7" "redis.clients:jedis:3.10.0"
         "org.slf4j:slf4j-nop:1.7.36"],
    "go" "redis" "redigo.go" "worker.go"
        "go mod init worker && go mod tidy && go build -o worker worker.go"
        "./worker",
    "go" "redis-masters" "redsync.go" "worker.go"
        "go mod init worker && go mod tidy && go build -o worker worker.go"
        "./worker",
    "go" "etcd" "etcd_mutex.go" "worker.go"
        "go mod init worker && go mod tidy && go build -o worker worker.go"
        "./worker",
    "rust" "redis" "plain.rs" "worker.rs"
        "rustc -O worker.rs"
        "./worker",
    "rust" "redis-masters" "rslock.rs" "worker.rs"
        "cargo init -q --name worker \
         && cargo add -q rslock@0.10.0 -F tokio-comp && cargo add -q redis@1.8.1 -F tokio-comp \
         && cargo add -q tokio -F rt-multi-thread,macros,time && cargo build -q --release"
        "target/release/worker",
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
    let mut files = vec![(worker.file, worker.program())];
    let harness = worker.harness.map(|text| text.replace(" See docs/known-bugs.md.", ""));
    files.extend(harness.map(|text| ("Harness.java", text)));
    if !worker.libraries.is_empty() {
        files.push(("pom.xml", maven_project(worker.libraries)));
    }
    write_new(&files, "a folder without this file")?;
    let servers = worker.servers();
    let (setup, command) = (worker.setup, worker.command);
    let names: String = files.iter().map(|(file, _)| format!("{file}\n")).collect();
    print(&format!(
        "{names}{setup}\nfencepost --seed 7 --fault pause{servers} --program '{command}'\n"
    ))?;
    Ok(Outcome::AsExpected)
}

fn maven_project(libraries: &[&str]) -> String {
    let dependency = |library: &&str| {
        let mut parts = library.split(':');
        let mut tag =
            |name: &str| format!("      <{name}>{}</{name}>\n", parts.next().unwrap_or_default());
        let tags = [tag("groupId"), tag("artifactId"), tag("version")].concat();
        format!("    <dependency>\n{tags}    </dependency>\n")
    };
    let dependencies: String = libraries.iter().map(dependency).collect();
    format!(
        "<project>\n  <modelVersion>4.0.0</modelVersion>\n  <groupId>worker</groupId>\n  \
         <artifactId>worker</artifactId>\n  <version>1</version>\n  <dependencies>\n\
         {dependencies}  </dependencies>\n</project>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::WORKERS;

    #[test]
    fn a_template_comes_with_the_harness_that_it_needs() {
        for worker in WORKERS {
            let needs = worker.text.to_lowercase().contains("harness");
            assert_eq!(needs, worker.harness.is_some(), "{} on {}", worker.language, worker.on);
            assert!(!needs || worker.setup.contains("javac -cp 'lib/*:.'"), "{}", worker.setup);
        }
    }

    #[test]
    fn a_program_names_no_file_that_its_user_does_not_have() {
        for worker in WORKERS {
            let program = worker.program();
            assert!(!worker.heading().is_empty(), "{}", worker.source);
            let is_foreign = worker.source != worker.file && program.contains(worker.source);
            assert!(!is_foreign && !program.contains("docs/"), "{program}");
            assert_eq!(program.lines().count(), worker.text.lines().count());
            let (servers, command) = (worker.servers(), worker.command);
            let own = format!("Run it with `fencepost{servers} --program '{command}'`.");
            assert!(program.contains(&own), "{program}");
        }
    }
}
