use fencepost_clients::zookeeper::ensemble::{Client, Ensemble};
use fencepost_clients::zookeeper::shared::SessionOptions;
use fencepost_clients::{
    Coordinator, Env, Servers, Session, Settings, chubby, etcd, gemfire, memcached, mysql, sql,
};
use std::time::Duration;

pub(super) enum Holder {
    Redis(Session),
    Memcached(memcached::session::Session),
    ZooKeeper(Client),
    PostgreSql(sql::session::Session),
    MySql(mysql::session::Session),
    Etcd(etcd::gateway::Gateway),
    Chubby(chubby::cell::Cell),
    GemFire(gemfire::system::System),
}

impl Holder {
    pub(super) fn new(
        coordinator: Coordinator,
        env: &Env,
        servers: &Servers,
        settings: &Settings,
    ) -> Option<Holder> {
        match coordinator {
            Coordinator::Redis => Some(Holder::Redis(Session::primary(env, servers, settings))),
            Coordinator::Memcached => {
                let Servers::Ensemble(known) = servers else { return None };
                let (first, timeout) = (known.first()?, settings.command_timeout);
                Some(Holder::Memcached(memcached::session::Session::new(env, first, timeout)))
            }
            Coordinator::ZooKeeper => {
                let ensemble = Ensemble::new(env, servers, settings, SessionOptions::JAVA);
                Some(Holder::ZooKeeper(Client::open(ensemble)))
            }
            Coordinator::PostgreSql => {
                let Servers::Ensemble(known) = servers else { return None };
                let timeout = settings.command_timeout;
                Some(Holder::PostgreSql(sql::session::Session::new(env, known, timeout)))
            }
            Coordinator::MySql => Some(Holder::MySql(mysql::connection(env, servers, settings))),
            Coordinator::Etcd => {
                Some(Holder::Etcd(etcd::gateway::Gateway::new(env, servers, settings)))
            }
            Coordinator::Chubby => {
                Some(Holder::Chubby(chubby::cell::Cell::new(env, servers, settings)))
            }
            Coordinator::GemFire => {
                Some(Holder::GemFire(gemfire::system::System::new(env, servers, settings)))
            }
            Coordinator::Own => None,
        }
    }

    pub(super) async fn work(&mut self) {
        match self {
            Holder::Redis(session) => drop(session.call(&[b"INCR", b"sequence"]).await),
            Holder::Memcached(session) => drop(session.call(b"incr sequence 1\r\n").await),
            Holder::ZooKeeper(client) => {
                drop(client.session().get_data("/zookeeper", None).await);
            }
            Holder::PostgreSql(session) => drop(session.run("SELECT 1", &[]).await),
            Holder::MySql(session) => drop(session.run("SELECT 1", Duration::ZERO).await),
            Holder::Etcd(gateway) => {
                drop(gateway.call("kv/range", &serde_json::json!({"key": "YQ=="})).await);
            }
            Holder::Chubby(cell) => drop(cell.call("master").await),
            Holder::GemFire(system) => drop(system.ask_first_server("get nobody 0 key").await),
        }
    }
}
