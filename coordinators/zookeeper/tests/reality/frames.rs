use crate::fake::Fake;
use crate::protocol::*;
use crate::real::{self, Real};

fn oddities() -> Vec<(&'static str, bool, Vec<u8>)> {
    let new = Record::default;
    let path = |path: &str| new().text(path).bool(false);
    vec![
        ("a negative length first", false, vec![255, 255, 255, 254]),
        ("a length beyond the limit first", false, (0x10_0000_i32).to_be_bytes().to_vec()),
        ("a question for a session that ends early", false, new().int(0).long(0).framed()),
        ("an empty question for a session", false, new().framed()),
        ("an unknown session", false, connect(77, &[0; 16], 4_000, 0)),
        ("a client that has seen the future", false, connect(0, &[0; 16], 4_000, 1 << 50)),
        ("a password that is null", false, {
            new().int(0).long(0).int(4_000).long(77).bytes(None).bool(false).framed()
        }),
        ("an old client", false, {
            new().int(0).long(0).int(4_000).long(77).bytes(Some(&[0; 16])).framed()
        }),
        ("the word ruok", false, b"ruok".to_vec()),
        ("a negative length", true, vec![255, 255, 255, 255]),
        ("a length beyond the limit", true, (0x10_0000_i32).to_be_bytes().to_vec()),
        ("an empty frame", true, new().framed()),
        ("half a header", true, new().int(1).framed()),
        ("an unknown operation", true, request(1, 99, new())),
        ("a notification", true, request(1, 0, new())),
        ("no path", true, request(1, EXISTS, new())),
        ("a path that is null", true, request(1, EXISTS, new().bytes(None).bool(false))),
        ("no watch flag", true, request(1, GET_DATA, new().text("/zookeeper"))),
        ("a path longer than the frame", true, request(1, GET_DATA, new().int(900))),
        ("a path of negative length", true, request(1, GET_DATA, new().int(-7))),
        ("more than a record", true, request(1, GET_CHILDREN, path("/zookeeper").long(7))),
        ("no access control list", true, {
            request(1, CREATE, new().text("/odd").bytes(None).int(-1).int(0))
        }),
        ("an empty access control list", true, {
            request(1, CREATE, new().text("/odd").bytes(None).int(0).int(0))
        }),
        ("a strange scheme", true, {
            let acl = new().text("/odd").bytes(None).int(1).int(31);
            request(1, CREATE, acl.text("nobody").text("x").int(0))
        }),
        ("half a multi", true, request(1, MULTI, new().int(1).bool(false))),
        ("a multi of something else", true, {
            request(1, MULTI, new().int(9).bool(false).int(-1).text("/a"))
        }),
        ("a time to live", true, {
            let record = new().text("/odd").bytes(None).world(31).int(5).long(1_000);
            request(1, CREATE_TTL, record)
        }),
        ("deletion of the root", true, request(1, DELETE, new().text("/").int(-1))),
        ("deletion of nothing", true, request(1, DELETE, new().text("").int(-1))),
        ("deletion of the quota", true, {
            request(1, DELETE, new().text("/zookeeper/quota").int(-1))
        }),
        ("data for the configuration", true, {
            request(1, SET_DATA, new().text("/zookeeper/config").bytes(None).int(-1))
        }),
        ("the root again", true, request(1, CREATE, new().text("/").bytes(None).world(31).int(0))),
        ("an unknown way to show who one is", true, {
            request(-4, 100, new().int(0).text("nobody").bytes(Some(b"x")))
        }),
        ("the children of the root", true, request(1, GET_CHILDREN2, path("/"))),
        ("a reconfiguration", true, {
            request(1, 16, new().bytes(None).bytes(None).bytes(None).long(-1))
        }),
    ]
}

fn first_frame(mut bytes: Vec<u8>, has_session: bool) -> Vec<u8> {
    let length = bytes.first_chunk::<4>().map(|length| u32::from_be_bytes(*length) as usize);
    if has_session && let Some(length) = length {
        bytes.truncate(4 + length);
    }
    if has_session && bytes.len() >= 20 {
        bytes.drain(8..16);
    }
    bytes
}

#[test]
fn odd_frames_are_answered_as_by_a_real_server() {
    if !real::is_there() {
        return;
    }
    let real = Real::alone(2_000);
    for (name, has_session, bytes) in oddities() {
        let (mut reality, mut fake) = (real.connect(), Fake::alone(2_000));
        let ours = fake.connect();
        if has_session {
            let asked = connect(0, &[0; 16], 30_000, 0);
            reality.send(&asked);
            fake.send(ours, &asked);
            assert!(reality.frame().is_some() && fake.frame(ours).is_some());
        }
        // CLOSE ends the server's replies, unless the server closes the connection first.
        let closing = request(2, CLOSE, Record::default());
        let all = if has_session { [bytes, closing].concat() } else { bytes };
        reality.send(&all);
        fake.send(ours, &all);
        // A server that closes the connection may still answer earlier requests.
        let expected = first_frame(reality.rest(), has_session);
        let answered = fake.rest(ours).expect(name);
        let answered = first_frame(answered, has_session);
        assert_eq!(expected, answered, "{name}");
    }
}
