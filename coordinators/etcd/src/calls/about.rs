use crate::config::{CLUSTER_ID, member_id};
use crate::reply::Message;
use crate::request::Call;
use crate::server::Etcd;

impl Etcd {
    pub(super) fn about(&self, call: &Call) -> String {
        let (who, revision) = (self.responder(), self.state.store.revision());
        match call {
            Call::LeaseLeases => {
                let ids = self.state.lessor.ids();
                let leases = ids.into_iter().map(|id| Message::new().int("ID", id).end()).collect();
                Message::new().message("header", who.header(revision)).list("leases", leases).end()
            }
            Call::MemberList => {
                let header = Message::new()
                    .number("cluster_id", CLUSTER_ID)
                    .number("member_id", member_id(who.member))
                    .number("raft_term", who.term);
                Message::new().message("header", header).list("members", self.members()).end()
            }
            _ => {
                let leader = self.raft.leader;
                let leader = if leader == 0 { 0 } else { member_id(leader) };
                Message::new()
                    .message("header", who.header(revision))
                    .text("version", "3.4.23")
                    .int("dbSize", 20_480)
                    .number("leader", leader)
                    .number("raftIndex", self.raft.hard.commit)
                    .number("raftTerm", who.term)
                    .number("raftAppliedIndex", self.applied)
                    .int("dbSizeInUse", 16_384)
                    .end()
            }
        }
    }

    fn members(&self) -> Vec<String> {
        let describe = |id: u8, host: &str, port: u16| {
            let urls = || vec![format!("\"http://{host}:{port}\"")];
            Message::new()
                .number("ID", member_id(id))
                .text("name", host)
                .list("peerURLs", urls())
                .list("clientURLs", urls())
                .end()
        };
        if self.config.members.is_empty() {
            return vec![describe(self.config.me, "localhost", 2_379)];
        }
        let members = self.config.members.iter();
        members.map(|member| describe(member.id, &member.host, member.port)).collect()
    }
}
