use super::{Connection, Subscription, encode};
use crate::call_error::CallError;
use crate::reply::Reply;
use crate::testing::{Answer, Call, TestWorld, at, normal};
use bytes::BytesMut;
use proptest::prelude::*;
use redis_protocol::resp2::encode::extend_encode_borrowed;
use redis_protocol::resp2::types::BorrowedFrame;
use std::io::ErrorKind;
use std::rc::Rc;
use std::time::Duration;

const LIMIT: Duration = Duration::from_millis(500);

fn world(mishaps: impl FnMut(&Call<'_>) -> Answer + 'static) -> Rc<TestWorld> {
    let world = TestWorld::new();
    world.serve("redis", mishaps);
    world
}

async fn call(world: &Rc<TestWorld>, words: &[&[u8]]) -> Result<Reply, CallError> {
    let connection = Connection::open(&world.env(), &at("redis"), LIMIT).await?;
    connection.call(words).await.map(|(reply, _)| reply)
}

fn error_of(answer: Answer) -> (CallError, bool) {
    let world =
        world(move |call| if call.name() == "CONNECT" { Answer::Normal } else { answer.clone() });
    let error = world.run(call(&world, &[b"ROLE"])).unwrap_err();
    let may_have_applied = error.may_have_applied();
    (error, may_have_applied)
}

#[test]
fn errors_tell_what_is_certain_from_what_is_not() {
    assert_eq!(error_of(Answer::Dropped), (CallError::Timeout(LIMIT), true));
    assert_eq!(error_of(Answer::ResetAfter), (CallError::Closed(ErrorKind::ConnectionReset), true));
    assert!(matches!(error_of(Answer::Says("nonsense\r\n")), (CallError::Malformed(_), true)));
    let refusing = world(|_| Answer::ResetBefore);
    let error = refusing.run(call(&refusing, &[b"ROLE"])).unwrap_err();
    assert!(matches!(error, CallError::NoConnection { .. }) && !error.may_have_applied());
}

#[test]
fn a_command_of_many_words_is_one_message() {
    let world = world(
        |call: &Call<'_>| {
            if call.name() == "DEL" { Answer::Says(":40\r\n") } else { Answer::Normal }
        },
    );
    let words: Vec<Vec<u8>> =
        std::iter::once(b"DEL".to_vec()).chain((0..40).map(|n| vec![b'a' + n % 26])).collect();
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    assert_eq!(world.run(call(&world, &words)), Ok(Reply::Integer(40)));
}

#[test]
fn a_reply_that_nobody_asked_for_closes_the_connection_before_anything_is_sent() {
    let world =
        world(
            |call: &Call<'_>| {
                if call.name() == "ROLE" { Answer::Says("+1\r\n+2\r\n") } else { Answer::Normal }
            },
        );
    let second = world.run(async {
        let connection = Connection::open(&world.env(), &at("redis"), LIMIT).await?;
        let (_, connection) = connection.call(&[b"ROLE"]).await?;
        connection.call(&[b"ROLE"]).await.map(|(reply, _)| reply)
    });
    assert_eq!(second, Err(CallError::Unsent(ErrorKind::InvalidData)));
    insta::assert_snapshot!(world.trace(), @r"
    0.000 redis #1 connect
    1.000 redis #1 < ROLE > +1 +2
    2.000 redis #1 close
    ");
}

#[test]
fn a_subscription_yields_messages_and_skips_confirmations() {
    let world = world(normal);
    let mut subscription =
        world.run(Subscription::open(&world.env(), &at("redis"), &[b"news"], LIMIT)).unwrap();
    world.publish(
        "redis",
        "*3\r\n$9\r\nsubscribe\r\n$5\r\nother\r\n:2\r\n\
         *3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$2\r\nhi\r\n",
    );
    let message = world.run(subscription.next()).unwrap();
    assert_eq!((message.channel.as_ref(), message.payload.as_ref()), (&b"news"[..], &b"hi"[..]));
    world.reset_connections("redis");
    assert_eq!(world.run(subscription.next()), Err(CallError::Closed(ErrorKind::ConnectionReset)));
}

#[test]
fn a_subscription_that_is_refused_is_an_error() {
    let world = world(|call: &Call<'_>| match call.name() {
        "SUBSCRIBE" => Answer::Says("-NOPERM no\r\n"),
        _ => Answer::Normal,
    });
    let refused =
        world.run(Subscription::open(&world.env(), &at("redis"), &[b"news"], LIMIT)).err();
    assert_eq!(refused, Some(CallError::Server("NOPERM no".to_owned())));
}

#[test]
fn a_call_leaves_no_timer_and_no_socket_behind() {
    for answer in [Answer::Normal, Answer::Dropped, Answer::ResetAfter] {
        let world = world(
            move |call| if call.name() == "CONNECT" { Answer::Normal } else { answer.clone() },
        );
        let _ = world.run(call(&world, &[b"ROLE"]));
        assert_eq!(world.pending_timers(), 0);
        let trace = world.trace();
        assert_eq!(trace.matches("connect").count(), trace.matches("close").count(), "{trace}");
    }
}

#[test]
fn a_call_that_is_dropped_halfway_closes_the_connection() {
    let world = world(|call| if call.name() == "ROLE" { Answer::Late(50) } else { Answer::Normal });
    let env = world.env();
    let outcome = world.run(env.timeout(Duration::from_millis(20), call(&world, &[b"ROLE"])));
    assert_eq!((outcome, world.pending_timers()), (None, 0));
    insta::assert_snapshot!(world.trace(), @r"
     0.000 redis #1 connect
     1.000 redis #1 < ROLE
    20.000 redis #1 close
    ");
}

proptest! {
    #[test]
    fn a_command_is_written_as_redis_protocol_writes_it(
        words in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..30),
    ) {
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        let frames: Vec<BorrowedFrame<'_>> =
            words.iter().map(|word| BorrowedFrame::BulkString(word)).collect();
        let (mut ours, mut theirs) = (b"what was there before".to_vec(), BytesMut::new());
        let length = encode(&mut ours, &words);
        extend_encode_borrowed(&mut theirs, &BorrowedFrame::Array(&frames), false).unwrap();
        prop_assert_eq!(&ours[..length], &theirs[..]);
    }
}
