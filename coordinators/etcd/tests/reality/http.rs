use std::collections::BTreeMap;

pub(crate) trait Server {
    fn ask_on_new_connection(&mut self, bytes: &[u8], answers: usize) -> Vec<u8>;
    fn ask(&mut self, bytes: &[u8]) -> Vec<u8>;
}

pub(crate) fn post(path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{body}").into()
}

pub(crate) fn whole(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|it| it == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    if text.contains("http/1.1 100") {
        return Some(head);
    }
    if let Some((_, rest)) = text.split_once("content-length: ") {
        let length: usize = rest.lines().next()?.trim().parse().ok()?;
        return (bytes.len() >= head + length).then_some(head + length);
    }
    if !text.contains("transfer-encoding: chunked") {
        return None;
    }
    let mut at = head;
    loop {
        let line = bytes[at..].windows(2).position(|it| it == b"\r\n")?;
        let size =
            usize::from_str_radix(&String::from_utf8_lossy(&bytes[at..at + line]), 16).ok()?;
        at += line + 2;
        if size == 0 {
            let rest = &bytes[at..];
            if rest.starts_with(b"\r\n") {
                return Some(at + 2);
            }
            return Some(at + rest.windows(4).position(|it| it == b"\r\n\r\n")? + 4);
        }
        at += size + 2;
        if at > bytes.len() {
            return None;
        }
    }
}

pub(crate) fn items(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().filter(|line| line.starts_with("{\"result\"")).map(str::to_owned).collect()
}

#[derive(Default)]
pub(crate) struct Plain {
    leases: BTreeMap<String, usize>,
}

impl Plain {
    pub(crate) fn show(&mut self, answer: &[u8]) -> String {
        let text = String::from_utf8_lossy(answer);
        let text: Vec<&str> = text.split("\r\n").filter(|it| !it.starts_with("Date: ")).collect();
        let mut text = text.join("\n");
        for name in ["cluster_id", "member_id", "raft_term", "raftTerm", "raftIndex"] {
            text = replace(&text, name, |_| "N".to_owned());
        }
        for name in ["raftAppliedIndex", "dbSize", "dbSizeInUse", "leader"] {
            text = replace(&text, name, |_| "N".to_owned());
        }
        for name in ["ID", "lease"] {
            text = replace(&text, name, |value| self.lease(value));
        }
        if text.contains("\"N\"") {
            text = text
                .lines()
                .filter(|line| {
                    !line.starts_with("Content-Length") && usize::from_str_radix(line, 16).is_err()
                })
                .collect::<Vec<_>>()
                .join("\n");
        }
        text
    }

    fn lease(&mut self, value: &str) -> String {
        if value.len() < 10 {
            return value.to_owned();
        }
        let next = self.leases.len();
        format!("lease {}", self.leases.entry(value.to_owned()).or_insert(next))
    }
}

fn replace(text: &str, name: &str, mut with: impl FnMut(&str) -> String) -> String {
    let pattern = format!("\"{name}\":\"");
    let (mut plain, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(&pattern) {
        let (value, behind) = after.split_once('"').unwrap_or((after, ""));
        plain.push_str(before);
        plain.push_str(&format!("{pattern}{}\"", with(value)));
        rest = behind;
    }
    plain + rest
}
