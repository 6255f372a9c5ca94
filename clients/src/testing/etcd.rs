//! An etcd member for tests. It answers calls about leases, but stores no leases.

pub(super) const ETCD_PORT: u16 = 2_379;

/// Returns the request's path below `/v3/`, and its body.
pub(super) fn words_of(request: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(request);
    let (head, body) = text.split_once("\r\n\r\n").expect("a request is one write");
    let path = head.split(' ').nth(1).and_then(|path| path.strip_prefix("/v3/"));
    vec![path.unwrap_or_default().to_owned(), body.to_owned()]
}

pub(super) fn run(words: &[String]) -> String {
    let body = match words[0].as_str() {
        "lease/grant" => r#"{"ID":"7","TTL":"10"}"#,
        "lease/keepalive" => r#"{"result":{"ID":"7","TTL":"10"}}"#,
        _ => "{}",
    };
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}
