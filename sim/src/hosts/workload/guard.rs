//! A process's connection to the storage. A request with an unknown outcome closes the connection.

use crate::setup::places::STORAGE_PORT;
use bytes::{Bytes, BytesMut};
use fencepost_clients::env::Socket;
use fencepost_clients::{Address, Env, FencingToken};
use redis_protocol::resp2::decode::decode_bytes_mut;
use redis_protocol::resp2::encode::extend_encode;
use redis_protocol::resp2::types::BytesFrame;
use std::time::Duration;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Value(i64),
    Written,
    Rejected(String),
    Unknown(&'static str),
}

pub(crate) struct Guard {
    env: Env,
    socket: Option<Socket>,
    buffer: BytesMut,
}

impl Guard {
    pub(crate) fn new(env: Env) -> Guard {
        Guard { env, socket: None, buffer: BytesMut::new() }
    }

    pub(crate) async fn request(&mut self, request: &Request, timeout: Duration) -> Answer {
        let env = self.env.clone();
        let answer = env.timeout(timeout, self.exchange(request)).await;
        let answer = answer.unwrap_or(Answer::Unknown("no answer from the storage in time"));
        if matches!(answer, Answer::Unknown(_)) {
            self.socket = None;
            self.buffer.clear();
        }
        answer
    }

    async fn exchange(&mut self, request: &Request) -> Answer {
        if self.socket.is_none() {
            let address = Address { host: "storage".to_owned(), port: STORAGE_PORT };
            match self.env.connect(&address).await {
                Ok(socket) => self.socket = Some(socket),
                Err(_) => return Answer::Unknown("no connection to the storage"),
            }
        }
        let Some(socket) = self.socket.as_mut() else {
            return Answer::Unknown("no connection to the storage");
        };
        if socket.write_all(&request.encode()).await.is_err() {
            return Answer::Unknown("the connection to the storage broke");
        }
        loop {
            match decode_bytes_mut(&mut self.buffer) {
                Ok(Some((frame, _, _))) => return read_answer(frame),
                Ok(None) => {}
                Err(_) => return Answer::Unknown("the storage sent an invalid answer"),
            }
            match socket.read(&mut self.buffer).await {
                Ok(0) | Err(_) => return Answer::Unknown("the connection to the storage broke"),
                Ok(_) => {}
            }
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    pub(crate) operation: u64,
    pub(crate) acquisition: u64,
    pub(crate) token: Option<FencingToken>,
    pub(crate) write: Option<(i64, i64)>,
}

impl Request {
    fn encode(&self) -> BytesMut {
        let bulk = |text: String| BytesFrame::BulkString(Bytes::from(text));
        let token = self.token.map_or_else(|| "-".to_owned(), |token| token.0.to_string());
        let name = if self.write.is_some() { "WRITE" } else { "READ" };
        let mut items = vec![
            BytesFrame::BulkString(Bytes::from_static(name.as_bytes())),
            bulk(self.operation.to_string()),
            bulk(self.acquisition.to_string()),
            bulk(token),
        ];
        if let Some((value, based_on)) = self.write {
            items.extend([bulk(value.to_string()), bulk(based_on.to_string())]);
        }
        let mut bytes = BytesMut::with_capacity(96);
        extend_encode(&mut bytes, &BytesFrame::Array(items), false)
            .expect("a growing buffer holds any frame");
        bytes
    }
}

fn read_answer(frame: BytesFrame) -> Answer {
    match frame {
        BytesFrame::Integer(value) => Answer::Value(value),
        BytesFrame::SimpleString(_) => Answer::Written,
        BytesFrame::Error(text) => Answer::Rejected(text.to_string()),
        _ => Answer::Unknown("the storage sent an invalid answer"),
    }
}
