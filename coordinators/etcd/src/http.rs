//! The gateway's HTTP/1.1 server. Its messages and the order of its headers match Go's server.

use bytes::{Buf, Bytes, BytesMut};
use fencepost_machine::WallTime;
use std::fmt::Write as _;

/// Maximum size of a request's head in bytes: `DefaultMaxHeaderBytes` plus the slack that Go adds.
const HEAD_MAX: usize = (1 << 20) + 4096;
const HEADERS_MAX: usize = 256;
/// Maximum size of a body, in bytes. The real server reads bodies of any size.
const BODY_MAX: usize = 16 << 20;
/// Maximum length in bytes of the first line, by which `cmux` recognises HTTP.
const LINE_MAX: usize = 4096;
/// Size of Go's buffer, in bytes. Go sends longer responses in chunks.
const BUFFER: usize = 2048;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: Bytes,
    pub(crate) style: Style,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Style {
    pub(crate) closes: bool,
    head_only: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Parsed {
    Partial,
    Continue,
    Request(Request),
    Refused(Bytes),
}

pub(crate) enum Payload {
    Json(String),
    /// JSON for a call that failed behind the gateway. The server sends this payload in chunks.
    Failure(String),
    /// JSON from the server itself, without the gateway's header.
    Bare(String),
    Sniffed(String),
    Text(&'static str),
    NotAllowed,
    Nothing,
}

fn refused(status: &str) -> Parsed {
    let head = "Content-Type: text/plain; charset=utf-8\r\nConnection: close";
    Parsed::Refused(format!("HTTP/1.1 {status}\r\n{head}\r\n\r\n{status}").into())
}

pub(crate) fn is_http(input: &[u8]) -> Option<bool> {
    let Some(end) = input.iter().position(|byte| *byte == b'\n') else {
        return (input.len() >= LINE_MAX).then_some(false);
    };
    let line = String::from_utf8_lossy(&input[..end]);
    let mut words = line.trim_end_matches('\r').splitn(3, ' ');
    let version = words.nth(2).unwrap_or_default();
    let is_minor = |minor: &str| minor.len() == 1 && minor.bytes().all(|it| it.is_ascii_digit());
    Some(end < LINE_MAX && version.strip_prefix("HTTP/1.").is_some_and(is_minor))
}

pub(crate) fn parse(input: &mut BytesMut, told: bool) -> Parsed {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Request::new(&mut headers);
    let length = match head.parse(input) {
        Ok(httparse::Status::Complete(length)) if length <= HEAD_MAX => length,
        Ok(httparse::Status::Partial) if input.len() <= HEAD_MAX => return Parsed::Partial,
        Ok(_) | Err(httparse::Error::TooManyHeaders) => {
            return refused("431 Request Header Fields Too Large");
        }
        Err(_) => return refused("400 Bad Request"),
    };
    let about = match About::read(&head) {
        Ok(about) => about,
        Err(refusal) => return refusal,
    };
    let (method, path) = (head.method.unwrap_or_default(), head.path.unwrap_or_default());
    let (method, path) = (method.to_owned(), decode_path(path));
    if about.length > BODY_MAX {
        return refused("413 Request Entity Too Large");
    }
    match input.get(length..length + about.length).map(Bytes::copy_from_slice) {
        None if about.expects && !told => Parsed::Continue,
        None => Parsed::Partial,
        Some(body) => {
            input.advance(length + about.length);
            let style = Style { closes: about.closes, head_only: method == "HEAD" };
            Parsed::Request(Request { method, path, body, style })
        }
    }
}

struct About {
    length: usize,
    closes: bool,
    expects: bool,
}

impl About {
    fn read(head: &httparse::Request<'_, '_>) -> Result<About, Parsed> {
        let values = |name: &'static str| {
            let named = head.headers.iter().filter(move |it| it.name.eq_ignore_ascii_case(name));
            named.map(|header| String::from_utf8_lossy(header.value).trim().to_ascii_lowercase())
        };
        if head.version != Some(1) {
            return Err(refused("505 HTTP Version Not Supported"));
        }
        let mut hosts = values("host");
        match (hosts.next(), hosts.next()) {
            (None, _) => {
                return Err(refused("400 Bad Request: missing required Host header"));
            }
            (_, Some(_)) => return Err(refused("400 Bad Request: too many Host headers")),
            _ => {}
        }
        let mut lengths = values("content-length");
        let length = lengths.next();
        if lengths.any(|other| Some(other) != length) {
            return Err(refused("400 Bad Request"));
        }
        if values("transfer-encoding").next().is_some() {
            let head = "HTTP/1.1 501 Not Implemented\r\nContent-Type: text/plain; charset=utf-8";
            let text = format!("{head}\r\nConnection: close\r\n\r\nUnsupported transfer encoding");
            return Err(Parsed::Refused(text.into()));
        }
        let length = match length {
            None => 0,
            Some(length) => {
                let is_number = length.bytes().all(|byte| byte.is_ascii_digit());
                let length = length.parse().ok().filter(|_| is_number);
                length.ok_or_else(|| refused("400 Bad Request"))?
            }
        };
        let closes =
            values("connection").any(|value| value.split(',').any(|it| it.trim() == "close"));
        let expects = values("expect").any(|value| value == "100-continue");
        Ok(About { length, closes, expects })
    }
}

fn decode_path(target: &str) -> String {
    let target = target
        .strip_prefix("http://")
        .map_or(target, |rest| rest.find('/').map_or("/", |at| &rest[at..]));
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let (mut plain, mut rest) = (Vec::new(), path.as_bytes());
    while let Some((first, others)) = rest.split_first() {
        let escaped = others.get(..2).filter(|_| *first == b'%');
        let escaped = escaped.and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                plain.push(byte);
                rest = &others[2..];
            }
            None => {
                plain.push(*first);
                rest = others;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

const CORS: &str = "Access-Control-Allow-Headers: accept, content-type, authorization\r\n\
    Access-Control-Allow-Methods: POST, GET, OPTIONS, PUT, DELETE\r\n\
    Access-Control-Allow-Origin: *\r\n";
const TEXT: &str = "Content-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n";
const TRAILER: &str = "Grpc-Trailer-Content-Type: application/grpc\r\n";

pub(crate) const CONTINUE: Bytes = Bytes::from_static(b"HTTP/1.1 100 Continue\r\n\r\n");

fn begin(status: u16) -> String {
    format!("HTTP/1.1 {status} {}\r\n{CORS}", reason(status))
}

pub(crate) fn answer(style: Style, status: u16, payload: Payload, now: WallTime) -> Bytes {
    let mut text = begin(status);
    let date = date(now);
    let (body, headers, after) = match payload {
        Payload::Json(body) => {
            let gateway =
                if status == 200 { "Grpc-Metadata-Content-Type: application/grpc\r\n" } else { "" };
            (body, format!("Content-Type: application/json\r\n{gateway}"), String::new())
        }
        Payload::Failure(body) => {
            let _ = write!(
                text,
                "Content-Type: application/json\r\nTrailer: Grpc-Trailer-Content-Type\r\n"
            );
            return chunked(text, &date, &body, style);
        }
        Payload::Bare(body) => {
            (body, "Content-Type: application/json\r\n".to_owned(), String::new())
        }
        Payload::Sniffed(body) => {
            (body, String::new(), "Content-Type: text/plain; charset=utf-8\r\n".to_owned())
        }
        Payload::Text(body) => (body.to_owned(), TEXT.to_owned(), String::new()),
        Payload::NotAllowed => {
            ("Method Not Allowed\n".to_owned(), format!("Allow: GET\r\n{TEXT}"), String::new())
        }
        Payload::Nothing => (String::new(), String::new(), String::new()),
    };
    text.push_str(&headers);
    if body.len() > BUFFER {
        let _ =
            write!(text, "Date: {date}\r\n{}Transfer-Encoding: chunked\r\n\r\n", connection(style));
        let _ = write!(text, "{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
        return text.into();
    }
    let length = body.len();
    let _ = write!(
        text,
        "Date: {date}\r\nContent-Length: {length}\r\n{after}{}\r\n",
        connection(style)
    );
    if !style.head_only {
        text.push_str(&body);
    }
    text.into()
}

fn connection(style: Style) -> &'static str {
    if style.closes { "Connection: close\r\n" } else { "" }
}

fn chunked(mut text: String, date: &str, body: &str, style: Style) -> Bytes {
    let _ = write!(
        text,
        "Date: {date}\r\n{}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n{TRAILER}\r\n",
        connection(style),
        body.len()
    );
    text.into()
}

pub(crate) fn stream_head(style: Style, is_served: bool, now: WallTime) -> String {
    head_of_stream(style, 200, is_served, now)
}

pub(crate) fn failed_stream_head(style: Style, status: u16, now: WallTime) -> String {
    head_of_stream(style, status, false, now)
}

fn head_of_stream(style: Style, status: u16, is_served: bool, now: WallTime) -> String {
    let mut text = begin(status);
    text.push_str("Content-Type: application/json\r\n");
    if is_served {
        text.push_str("Grpc-Metadata-Content-Type: application/grpc\r\n");
    }
    let _ = write!(
        text,
        "Date: {}\r\n{}Transfer-Encoding: chunked\r\n\r\n",
        date(now),
        connection(style)
    );
    text
}

pub(crate) fn stream_item(message: &str) -> String {
    if message.len() < BUFFER {
        return format!("{:x}\r\n{message}\n\r\n", message.len() + 1);
    }
    format!("{:x}\r\n{message}\r\n1\r\n\n\r\n", message.len())
}

pub(crate) fn stream_failure(message: &str) -> String {
    format!("{:x}\r\n{message}\r\n", message.len())
}

pub(crate) const STREAM_END: &str = "0\r\n\r\n";

pub(crate) fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        412 => "Precondition Failed",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

fn date(now: WallTime) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let seconds = now.0.div_euclid(1_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = year_of_era + era * 400 + i64::from(month >= 10);
    let pick = |names: &[&'static str], at: i64| names[usize::try_from(at).unwrap_or(0)];
    format!(
        "{}, {day:02} {} {year:04} {:02}:{:02}:{:02} GMT",
        pick(&DAYS, days.rem_euclid(7)),
        pick(&MONTHS, (month + 2) % 12),
        second / 3_600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(WallTime(0)), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(date(WallTime(1_795_401_623_000_000)), "Mon, 23 Nov 2026 02:40:23 GMT");
        assert_eq!(date(WallTime(951_782_400_000_000)), "Tue, 29 Feb 2000 00:00:00 GMT");
    }

    #[test]
    fn a_request_is_whole_once_its_body_is() {
        let whole = b"POST /v3/kv/%72ange?x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}rest";
        for length in 0..whole.len() - 4 {
            assert_eq!(parse(&mut BytesMut::from(&whole[..length]), false), Parsed::Partial);
        }
        let mut input = BytesMut::from(&whole[..]);
        let Parsed::Request(request) = parse(&mut input, false) else { panic!("a request") };
        assert_eq!((request.path.as_str(), &input[..]), ("/v3/kv/range", &b"rest"[..]));
        assert_eq!(request.body, "{}");
    }

    #[test]
    fn old_and_chunked_requests_are_refused() {
        let refusal = |request: &str| match parse(&mut BytesMut::from(request), false) {
            Parsed::Refused(answer) => String::from_utf8_lossy(&answer[..12]).into_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(refusal("GET /health HTTP/1.0\r\n\r\n"), "HTTP/1.1 505");
        let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(refusal(chunked), "HTTP/1.1 501");
    }

    #[test]
    fn other_protocols_are_told_by_their_first_line() {
        assert_eq!(is_http(b"GET / HTTP/1.1\r\n"), Some(true));
        assert_eq!(is_http(b"GET  / HTTP/1.1\r\n"), Some(false));
        assert_eq!(is_http(b"PRI * HTTP/2.0\r\n"), Some(false));
        assert_eq!(is_http(b"GET / HT"), None);
    }
}
