use bytes::{Buf, BytesMut};

#[derive(Default)]
pub(super) struct Answers {
    received: BytesMut,
    body: Option<Body>,
}

#[derive(Clone, Copy)]
enum Body {
    Length(usize),
    Chunks,
}

impl Answers {
    pub(super) fn receive(&mut self, bytes: &[u8]) {
        self.received.extend_from_slice(bytes);
    }

    pub(super) fn next(&mut self) -> Option<BytesMut> {
        loop {
            let body = match self.body {
                Some(body) => body,
                None => self.head()?,
            };
            self.body = Some(body);
            match body {
                Body::Length(length) if self.received.len() < length => return None,
                Body::Length(length) => {
                    self.body = None;
                    return Some(self.received.split_to(length));
                }
                Body::Chunks => {
                    let end = position(&self.received, b"\r\n")?;
                    let size = String::from_utf8_lossy(&self.received[..end]).into_owned();
                    let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
                    if self.received.len() < end + 2 + size + 2 {
                        return None;
                    }
                    self.received.advance(end + 2);
                    let piece = self.received.split_to(size);
                    self.received.advance(2);
                    if size > 0 {
                        return Some(piece);
                    }
                    self.body = None;
                }
            }
        }
    }

    fn head(&mut self) -> Option<Body> {
        let end = position(&self.received, b"\r\n\r\n")?;
        let head = self.received.split_to(end + 4);
        let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        Some(match length.and_then(|length| length.trim().parse().ok()) {
            Some(length) => Body::Length(length),
            None => Body::Chunks,
        })
    }
}

fn position(bytes: &[u8], end: &[u8]) -> Option<usize> {
    bytes.windows(end.len()).position(|window| window == end)
}

pub(super) fn post(path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nHost: fencepost\r\nContent-Length: {length}\r\n\r\n{body}")
        .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_and_pieces_come_once_they_are_whole() {
        let mut answers = Answers::default();
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\n\
                    Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n";
        let mut found = Vec::new();
        for byte in text.bytes() {
            answers.receive(&[byte]);
            found.extend(answers.next().map(|piece| piece.to_vec()));
        }
        assert_eq!(found, [b"{}".to_vec(), b"abc".to_vec(), b"defg".to_vec()]);
    }
}
