//! Real PostgreSQL servers. The console queries the holders of advisory, row and table-based locks.

mod console;

use super::RealSetup;
use super::kind::{Kind, NOBODY, Part, Recipe, Template, command, version_after};
use crate::hosts::coordinators::postgresql::schema;
use crate::setup::scenario::Standby;
use console::PostgresqlConsole;
use fencepost_clients::Coordinator;
use fencepost_faults::setting::Topology;
use fencepost_faults::{Micros, Node};
use std::path::Path;

const PORT: u16 = 5_432;
const NAME: &str = "fencepost";

pub(super) const KIND: Kind = Kind {
    coordinator: Coordinator::PostgreSql,
    program: "postgres",
    expected: "a PostgreSQL server",
    version: |path| command(&[path, "--version"]),
    name_and_version: |said| version_after(said, "PostgreSQL", "(PostgreSQL) "),
    template: Some(template),
    recipe,
    console: |part| Box::new(PostgresqlConsole::of(part)),
};

fn template(part: &Part) -> Template {
    let path = Path::new(&part.binary.path);
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let initdb = path.with_file_name("initdb");
    let roles = format!("CREATE ROLE {NAME} SUPERUSER LOGIN;\nCREATE DATABASE {NAME};\n");
    let tables = schema(&part.lock).replace('\n', " ").replace(';', ";\n") + "\n";
    let script = "\"$1\" -D data -U postgres -A trust -E UTF8 --locale=C --wal-segsize=1 -N \
                  --no-instructions && \"$2\" --single -D data template1 < roles.sql && \
                  \"$2\" --single -D data fencepost < tables.sql";
    let (path, initdb) = (path.display().to_string(), initdb.display().to_string());
    Template {
        files: vec![("roles.sql", roles), ("tables.sql", tables)],
        command: command(&["/bin/sh", "-c", script, "sh", &initdb, &path]),
        folder: "data",
        user: Some(NOBODY),
    }
}

fn recipe(setup: &RealSetup<'_>, node: Node) -> Recipe {
    let mut settings = vec![
        "listen_addresses=*".to_owned(),
        "unix_socket_directories=".to_owned(),
        // The default (`posix`) leaves files in /dev/shm after a SIGKILL.
        "dynamic_shared_memory_type=mmap".to_owned(),
        // A standby may need this much log to catch up after a partition.
        "wal_keep_size=64MB".to_owned(),
    ];
    let hosts = "host all all 0.0.0.0/0 trust\nhost replication all 0.0.0.0/0 trust\n";
    let mut files = vec![("pg_hba.conf", hosts.to_owned())];
    match (setup.topology, node) {
        (Topology::Standby { .. }, Node::Server(2)) => {
            files.push(("standby.signal", String::new()));
            let primary = setup.world.addresses.get(&Node::Server(1).to_string());
            let primary = primary.map_or_else(String::new, ToString::to_string);
            settings.push(format!("primary_conninfo=host={primary} port={PORT} user={NAME}"));
        }
        (Topology::Standby { .. }, _)
            if setup.scenario.servers.standby == Some(Standby::Synchronous) =>
        {
            settings.push("synchronous_standby_names=*".to_owned());
        }
        _ => {}
    }
    let mut command = command(&[&setup.binary.path, "-D", "."]);
    command.extend(settings.into_iter().flat_map(|setting| ["-c".to_owned(), setting]));
    Recipe {
        command,
        files,
        port: PORT,
        boot: Micros::from_millis(500),
        user: Some(NOBODY),
        ..Recipe::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_its_version() {
        let said = "postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)\n";
        let version = (KIND.name_and_version)(said);
        assert_eq!(version, Some(("PostgreSQL".to_owned(), "15.20".to_owned())));
    }

    #[test]
    fn each_table_is_one_line() {
        let part = Part::for_tests(&KIND, Node::Server(1));
        let files = template(&part).files;
        let tables: Vec<&str> = files[1].1.lines().map(str::trim).collect();
        let is_whole = |line: &&&str| line.starts_with("CREATE TABLE") && line.ends_with(';');
        assert_eq!(tables.iter().filter(is_whole).count(), 4, "{tables:?}");
    }
}
