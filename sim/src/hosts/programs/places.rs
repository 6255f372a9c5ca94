use super::{Program, ProgramDeployment};
use crate::setup::scenario::OwnServer;
use fencepost_clients::sql::advisory;
use fencepost_clients::{Address, Coordinator, Servers};
use fencepost_faults::Node;

pub(super) fn places(program: &Program, servers: &Servers) -> Vec<(String, String)> {
    if !program.servers.is_empty() {
        let own: Vec<Address> = program.servers.iter().map(own_address).collect();
        return [
            vec![("SERVERS".to_owned(), joined(&own))],
            numbered("SERVER", &own, Address::to_string),
        ]
        .concat();
    }
    match servers {
        Servers::One(address) => vec![("REDIS".to_owned(), format!("redis://{address}"))],
        Servers::Sentinels { name, sentinels } => {
            let first = Node::Redis(1);
            vec![
                ("REDIS".to_owned(), format!("redis://{first}:6379")),
                ("SENTINELS".to_owned(), joined(sentinels)),
                ("MASTER_NAME".to_owned(), name.clone()),
            ]
        }
        Servers::Independent(masters) => {
            let mut sorted = masters.clone();
            sorted.sort();
            let mut all = numbered("REDIS", &sorted, |address| format!("redis://{address}"));
            all.push(("MASTERS".to_owned(), masters.len().to_string()));
            all
        }
        Servers::Ensemble(members) => member_variables(program, members),
    }
}

fn own_address(server: &OwnServer) -> Address {
    Address { host: server.name.clone(), port: server.port }
}

fn member_variables(program: &Program, members: &[Address]) -> Vec<(String, String)> {
    let all = joined(members);
    let first = members.first().map_or(String::new(), ToString::to_string);
    let url = |address: &Address| match program.coordinator {
        Coordinator::PostgreSql => format!("postgresql://postgres@{address}/postgres"),
        Coordinator::MySql => format!("mysql://root@{address}/test"),
        Coordinator::Etcd => format!("http://{address}"),
        _ => address.to_string(),
    };
    let (name, together) = match program.coordinator {
        Coordinator::Redis | Coordinator::Memcached => ("MEMCACHED", all.clone()),
        Coordinator::ZooKeeper => ("ZOOKEEPER", all.clone()),
        Coordinator::PostgreSql => ("POSTGRESQL", postgresql(&all, members.len())),
        Coordinator::MySql => ("MYSQL", format!("mysql://root@{first}/test")),
        Coordinator::Etcd => {
            let urls: Vec<String> = members.iter().map(url).collect();
            ("ETCD", urls.join(","))
        }
        Coordinator::Chubby => ("CHUBBY", all.clone()),
        Coordinator::GemFire => ("GEMFIRE", all.clone()),
        Coordinator::Own => ("SERVER", all.clone()),
    };
    let mut found = vec![(name.to_owned(), together), ("SERVERS".to_owned(), all.clone())];
    found.extend(numbered(name, members, url));
    match program.coordinator {
        Coordinator::PostgreSql => {
            let number = advisory::number(&program.lock_key);
            let target = if members.len() > 1 { "&targetServerType=primary" } else { "" };
            let jdbc = format!("jdbc:postgresql://{all}/postgres?user=postgres{target}");
            found.push(("JDBC".to_owned(), jdbc));
            found.push(("LOCK_NUMBER".to_owned(), number.to_string()));
        }
        Coordinator::MySql => {
            found.push(("JDBC".to_owned(), format!("jdbc:mysql://{first}/test?user=root")));
        }
        _ => {}
    }
    found
}

fn postgresql(all: &str, members: usize) -> String {
    let target = if members > 1 { "?target_session_attrs=read-write" } else { "" };
    format!("postgresql://postgres@{all}/postgres{target}")
}

fn joined(addresses: &[Address]) -> String {
    let all: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    all.join(",")
}

fn numbered(
    name: &str,
    addresses: &[Address],
    url: impl Fn(&Address) -> String,
) -> Vec<(String, String)> {
    let numbered = addresses.iter().zip(1..);
    numbered.map(|(address, number)| (format!("{name}_{number}"), url(address))).collect()
}

impl ProgramDeployment {
    pub(crate) fn has_sentinels(self) -> bool {
        self == ProgramDeployment::Sentinel
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(coordinator: Coordinator, members: u16) -> Vec<String> {
        let mut program = Program::parse("sh").unwrap();
        program.set_servers(coordinator, None);
        let address = |number| Address { host: format!("server-{number}"), port: 1 };
        let servers = Servers::Ensemble((1..=members).map(address).collect());
        let told = places(&program, &servers).into_iter();
        told.map(|(name, value)| format!("{name}={value}")).collect()
    }

    #[test]
    fn members_are_named_together_and_one_by_one() {
        assert_eq!(
            settings(Coordinator::Etcd, 2),
            [
                "ETCD=http://server-1:1,http://server-2:1",
                "SERVERS=server-1:1,server-2:1",
                "ETCD_1=http://server-1:1",
                "ETCD_2=http://server-2:1",
            ]
        );
        let zookeeper = settings(Coordinator::ZooKeeper, 2);
        assert_eq!(zookeeper[0], "ZOOKEEPER=server-1:1,server-2:1");
    }

    #[test]
    fn databases_have_urls_of_their_drivers() {
        let alone = settings(Coordinator::PostgreSql, 1);
        assert_eq!(alone[0], "POSTGRESQL=postgresql://postgres@server-1:1/postgres");
        let pair = settings(Coordinator::PostgreSql, 2).join(" ");
        assert!(pair.contains("server-1:1,server-2:1/postgres?target_session_attrs=read-write"));
        assert!(pair.contains("JDBC=jdbc:postgresql://server-1:1,server-2:1/postgres?"), "{pair}");
        assert_eq!(settings(Coordinator::MySql, 1)[0], "MYSQL=mysql://root@server-1:1/test");
    }
}
