use crate::protocol::args::ArgumentVector;
use crate::protocol::reply::Reply;

#[derive(Debug, Default)]
pub(crate) struct SpareBuffers {
    replies: Vec<Reply>,
    pub(crate) arguments: ArgumentVector,
}

impl SpareBuffers {
    pub(crate) fn reply(&mut self) -> Reply {
        let mut reply = self.replies.pop().unwrap_or_default();
        reply.truncate(0);
        reply
    }

    pub(crate) fn keep_reply(&mut self, reply: Reply) {
        self.replies.push(reply);
    }

    pub(crate) fn arguments(&mut self) -> ArgumentVector {
        std::mem::take(&mut self.arguments)
    }
}
