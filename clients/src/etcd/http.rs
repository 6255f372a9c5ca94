use crate::call_error::CallError;
use crate::env::{Address, Env};
use crate::stream::{Stream, no_connection};
use bytes::{Buf, BytesMut};
use std::time::Duration;

const HEAD_MAX: usize = 64 << 10;
const PIECE_MAX: usize = 64 << 20;

pub struct Link {
    stream: Stream,
    timeout: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    pub status: u16,
    body: Body,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Body {
    Length(usize),
    Chunks,
}

impl Link {
    pub async fn open(env: &Env, to: &Address, timeout: Duration) -> Result<Link, CallError> {
        let none = |reason: String| no_connection(to, reason);
        match env.timeout(timeout, env.connect(to)).await {
            None => Err(none(format!("no answer within {} ms", timeout.as_millis()))),
            Some(Err(error)) => Err(none(error.to_string())),
            Some(Ok(socket)) => Ok(Link { stream: Stream::new(socket, timeout), timeout }),
        }
    }

    pub async fn ask(&mut self, path: &str, body: &str) -> Result<(u16, Vec<u8>), CallError> {
        let head = self.begin(path, body).await?;
        self.read_body(head).await
    }

    pub async fn ask_without_timeout(
        &mut self,
        path: &str,
        body: &str,
    ) -> Result<(u16, Vec<u8>), CallError> {
        self.stream.limit(self.timeout);
        self.send(path, body).await?;
        self.stream.lift_limit();
        let head = self.head().await?;
        self.read_body(head).await
    }

    async fn read_body(&mut self, head: Head) -> Result<(u16, Vec<u8>), CallError> {
        let mut whole = Vec::new();
        while let Some(piece) = self.read_piece(head).await? {
            whole.extend_from_slice(&piece);
            if matches!(head.body, Body::Length(_)) {
                break;
            }
        }
        self.stream.lift_limit();
        Ok((head.status, whole))
    }

    pub async fn begin(&mut self, path: &str, body: &str) -> Result<Head, CallError> {
        self.stream.limit(self.timeout);
        self.send(path, body).await?;
        self.head().await
    }

    async fn send(&mut self, path: &str, body: &str) -> Result<(), CallError> {
        let request = format!(
            "POST /v3/{path} HTTP/1.1\r\nHost: etcd\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.send(request.as_bytes()).await
    }

    async fn head(&mut self) -> Result<Head, CallError> {
        loop {
            if let Some((length, head)) = head_of(&self.stream.input)? {
                self.stream.input.advance(length);
                return Ok(head);
            }
            self.stream.read().await?;
        }
    }

    pub fn wait_for_ever(&mut self) {
        self.stream.lift_limit();
    }

    pub async fn read_piece(&mut self, head: Head) -> Result<Option<BytesMut>, CallError> {
        let length = match head.body {
            Body::Length(0) => return Ok(None),
            Body::Length(length) => length,
            Body::Chunks => {
                let line = self.line().await?;
                let size = usize::from_str_radix(line.trim(), 16).ok();
                let size = size.filter(|size| *size <= PIECE_MAX);
                size.ok_or_else(|| CallError::Malformed(format!("a chunk of length {line}")))?
            }
        };
        if length == 0 {
            while !self.line().await?.is_empty() {}
            return Ok(None);
        }
        while self.stream.input.len() < length {
            self.stream.read().await?;
        }
        let piece = self.stream.input.split_to(length);
        if head.body == Body::Chunks {
            self.line().await?;
        }
        Ok(Some(piece))
    }

    async fn line(&mut self) -> Result<String, CallError> {
        loop {
            if let Some(end) = self.stream.input.iter().position(|byte| *byte == b'\n') {
                let line = self.stream.input.split_to(end + 1);
                return Ok(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            if self.stream.input.len() > HEAD_MAX {
                return Err(CallError::Malformed("a line without a line break".to_owned()));
            }
            self.stream.read().await?;
        }
    }
}

fn head_of(input: &[u8]) -> Result<Option<(usize, Head)>, CallError> {
    let nonsense = |what: String| CallError::Malformed(format!("no answer of HTTP: {what}"));
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut response = httparse::Response::new(&mut headers);
    let length = match response.parse(input) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if input.len() <= HEAD_MAX => return Ok(None),
        Ok(httparse::Status::Partial) => return Err(nonsense("its head is too long".to_owned())),
        Err(error) => return Err(nonsense(error.to_string())),
    };
    let value = |name: &str| {
        let found = response.headers.iter().find(|it| it.name.eq_ignore_ascii_case(name));
        found.map(|header| String::from_utf8_lossy(header.value).into_owned())
    };
    let body = match value("content-length").map(|length| length.parse()) {
        Some(Ok(length)) if length <= PIECE_MAX => Body::Length(length),
        Some(_) => return Err(nonsense("its length".to_owned())),
        None if value("transfer-encoding").as_deref() == Some("chunked") => Body::Chunks,
        None => return Err(nonsense("it does not state the length of its body".to_owned())),
    };
    Ok(Some((length, Head { status: response.code.unwrap_or(0), body })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_how_its_body_ends() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{";
        for length in 0..head.len() - 1 {
            assert_eq!(head_of(&head[..length]), Ok(None));
        }
        let whole = Head { status: 200, body: Body::Length(7) };
        assert_eq!(head_of(head), Ok(Some((head.len() - 1, whole))));
        let chunks = b"HTTP/1.1 503 X\r\nTransfer-Encoding: chunked\r\n\r\n";
        let head = Head { status: 503, body: Body::Chunks };
        assert_eq!(head_of(chunks), Ok(Some((chunks.len(), head))));
    }

    #[test]
    fn nonsense_is_no_answer() {
        for text in
            ["HTTP/1.1 200 OK\r\n\r\n", "+OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"]
        {
            assert!(matches!(head_of(text.as_bytes()), Err(CallError::Malformed(_))), "{text}");
        }
    }
}
