use crate::config::Persistence;
use crate::state::server::Server;
use fencepost_machine::OperatorAction;

const PORT: &str = "6379";

pub(super) fn typed(action: OperatorAction) -> Vec<Vec<Vec<u8>>> {
    let commands: Vec<String> = match action {
        OperatorAction::FlushAll => vec!["FLUSHALL".to_owned()],
        OperatorAction::Evict => vec!["DEBUG EVICT-VOLATILE".to_owned()],
        OperatorAction::Promote => vec!["REPLICAOF NO ONE".to_owned()],
        OperatorAction::ForgetScripts => vec!["SCRIPT FLUSH".to_owned()],
        OperatorAction::CloseConnections => {
            vec!["CLIENT KILL TYPE normal".to_owned(), "CLIENT KILL TYPE pubsub".to_owned()]
        }
        OperatorAction::HandOver => vec!["FAILOVER".to_owned()],
        OperatorAction::Follow { server } => vec![format!("REPLICAOF redis-{server} {PORT}")],
        OperatorAction::StopLogging => vec!["CONFIG SET appendonly no".to_owned()],
        OperatorAction::WriteAlone => vec!["CONFIG SET min-replicas-to-write 0".to_owned()],
        OperatorAction::CloseIdle => vec!["CONFIG SET timeout 1".to_owned()],
    };
    let words = |command: String| command.split(' ').map(|word| word.as_bytes().to_vec()).collect();
    commands.into_iter().map(words).collect()
}

pub(super) fn has_effect(server: &Server, action: OperatorAction) -> bool {
    match action {
        OperatorAction::FlushAll | OperatorAction::Evict => true,
        OperatorAction::Promote => false,
        OperatorAction::ForgetScripts => server.scripts.len() > 0,
        OperatorAction::CloseConnections => server.roster.connected_count() > 0,
        OperatorAction::HandOver => {
            let replication = &server.replication;
            !server.is_replica() && replication.has_replicas() && !replication.is_failing_over()
        }
        OperatorAction::Follow { .. } => true,
        OperatorAction::StopLogging => matches!(server.config.persistence, Persistence::Aof { .. }),
        OperatorAction::WriteAlone => server.config.min_replicas_to_write > 0,
        OperatorAction::CloseIdle => server.config.timeout != 1,
    }
}
