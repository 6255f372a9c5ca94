use super::*;
use bytes::BytesMut;

/// The ACL that grants everyone all permissions, in frames captured from a real client.
const OPEN_ACL: &str = "000000010000001f00000005776f726c6400000006616e796f6e65";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn frame(digits: &str) -> Decoder {
    let bytes: Vec<u8> = (0..digits.len() / 2)
        .map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    Decoder::take_from(&mut BytesMut::from(bytes.as_slice())).unwrap().unwrap()
}

fn check(request: Request, xid: i32, sent: &str, answered: &str, expected: Expected) {
    assert_eq!(hex(&request.encode(xid)), sent, "{request:?}");
    let mut reply = frame(answered);
    let header = ReplyHeader::decode(&mut reply).unwrap();
    assert_eq!(header.xid, xid, "{request:?}");
    let outcome = match header.error {
        None => Ok(request.decode(&mut reply).unwrap()),
        Some(error) => Err(error),
    };
    assert_eq!(outcome, expected, "{request:?}");
}

type Expected = Result<Response, ZooKeeperError>;

fn path(text: &str) -> String {
    text.to_owned()
}

#[test]
fn a_session_begins_as_a_real_server_wants_it() {
    let sent = connect_request(0, Duration::from_secs(10), &Credentials::none());
    assert_eq!(
        hex(&sent),
        "0000002d00000000000000000000000000002710000000000000000000000010\
         0000000000000000000000000000000000"
    );
    let answered = "000000250000000000002710010000dcfeb20000\
                    000000107c88dd9f59b6d740ba65b959cab46f6e00";
    let response = ConnectResponse::decode(&mut frame(answered)).unwrap();
    let ConnectResponse::Accepted { timeout, credentials } = response else {
        panic!("{response:?}")
    };
    assert_eq!(timeout, Duration::from_secs(10));
    assert_eq!((credentials.session, credentials.password.len()), (0x0100_00dc_feb2_0000, 16));
}

#[test]
fn nodes_are_created_as_a_real_server_wants_it() {
    check(
        Request::Create { path: path("/lock"), mode: CreateMode::Container },
        1,
        &format!("000000340000000100000013000000052f6c6f636b00000000{OPEN_ACL}00000004"),
        "0000005d00000001000000000000000200000000000000052f6c6f636b0000000000000002000000000000000\
         2000001a203d7828c000001a203d7828c00000000000000000000000000000000000000000000000000000000\
         0000000000000002",
        Ok(Response::Path(path("/lock"))),
    );
    check(
        Request::Create { path: path("/keep"), mode: CreateMode::Persistent },
        2,
        &format!("000000340000000200000001000000052f6b65657000000000{OPEN_ACL}00000000"),
        "0000001900000002000000000000000300000000000000052f6b656570",
        Ok(Response::Path(path("/keep"))),
    );
    check(
        Request::Create { path: path("/lock/node-"), mode: CreateMode::EphemeralSequential },
        3,
        &format!(
            "0000003a00000003000000010000000b2f6c6f636b2f6e6f64652d00000000{OPEN_ACL}00000003"
        ),
        "0000002900000003000000000000000400000000000000152f6c6f636b2f6e6f64652d\
         30303030303030303030",
        Ok(Response::Path(path("/lock/node-0000000000"))),
    );
    check(
        Request::Create { path: path("/none/node-"), mode: CreateMode::EphemeralSequential },
        4,
        &format!(
            "0000003a00000004000000010000000b2f6e6f6e652f6e6f64652d00000000{OPEN_ACL}00000003"
        ),
        "00000010000000040000000000000005ffffff9b",
        Err(ZooKeeperError::NoNode),
    );
}

#[test]
fn nodes_are_read_and_deleted_as_a_real_server_wants_it() {
    let node = path("/lock/node-0000000000");
    let stat = Stat { czxid: 4, ephemeral_owner: 0x0100_00dc_feb2_0000 };
    check(
        Request::Exists { path: node.clone(), watch: true },
        5,
        "000000220000000500000003000000152f6c6f636b2f6e6f64652d3030303030303030303001",
        "0000005400000005000000000000000500000000000000000000000400000000000000040\
         00001a203d78501000001a203d78501000000000000000000000000010000dcfeb20000000\
         00000000000000000000000000004",
        Ok(Response::Stat(stat)),
    );
    check(
        Request::GetData { path: node.clone(), watch: true },
        6,
        "000000220000000600000004000000152f6c6f636b2f6e6f64652d3030303030303030303001",
        "0000005800000006000000000000000500000000000000000000000000000004000000000\
         0000004000001a203d78501000001a203d78501000000000000000000000000010000dcfeb\
         2000000000000000000000000000000000004",
        Ok(Response::Stat(stat)),
    );
    check(
        Request::GetChildren { path: path("/lock"), watch: true },
        7,
        "000000120000000700000008000000052f6c6f636b01",
        "0000002700000007000000000000000500000000000000010000000f6e6f64652d30303030303030303030",
        Ok(Response::Children(vec![path("node-0000000000")])),
    );
    check(
        Request::Delete { path: node },
        10,
        "000000250000000a00000002000000152f6c6f636b2f6e6f64652d30303030303030303030ffffffff",
        "000000100000000a000000000000000600000000",
        Ok(Response::Nothing),
    );
}

#[test]
fn what_a_session_needs_is_asked_as_a_real_server_wants_it() {
    check(
        Request::SetWatches {
            relative_zxid: 0,
            data: vec![path("/gone")],
            exist: vec![],
            child: vec![path("/lock")],
        },
        9,
        "0000002e0000000900000065000000000000000000000001000000052f676f6e6500000000\
         00000001000000052f6c6f636b",
        "0000001000000009000000000000000500000000",
        Ok(Response::Nothing),
    );
    check(
        Request::Ping,
        PING_XID,
        "00000008fffffffe0000000b",
        "00000010fffffffe000000000000000700000000",
        Ok(Response::Nothing),
    );
}

#[test]
fn notices_are_read_as_a_real_server_sends_them() {
    let mut reply =
        frame("00000021ffffffffffffffffffffffff000000000000000200000003000000052f676f6e65");
    assert_eq!(ReplyHeader::decode(&mut reply).unwrap().xid, NOTIFICATION_XID);
    assert_eq!(notification(&mut reply), Ok((NodeChange::Deleted, path("/gone"))));
    let mut reply =
        frame("00000021ffffffffffffffffffffffff000000000000000400000003000000052f6c6f636b");
    assert_eq!(ReplyHeader::decode(&mut reply).unwrap().xid, NOTIFICATION_XID);
    assert_eq!(notification(&mut reply), Ok((NodeChange::Children, path("/lock"))));
}
