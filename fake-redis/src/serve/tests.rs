use super::{ServeOptions, start};
use crate::config::{Fsync, NodeConfig, Persistence};
use std::future::Future;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

fn serve<R, F: Future<Output = R>>(
    options: ServeOptions,
    body: impl FnOnce(Vec<SocketAddr>) -> F,
) -> R {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        let serving = start(&ServeOptions { port: 0, ..options }).unwrap();
        let addresses = serving.addresses().collect();
        let result = body(addresses).await;
        serving.until(std::future::ready(())).await.unwrap();
        result
    })
}

async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.unwrap()
}

async fn ask(stream: &mut TcpStream, line: &str, reply: &str) {
    stream.write_all(format!("{line}\r\n").as_bytes()).await.unwrap();
    expect(stream, reply).await;
}

async fn expect(stream: &mut TcpStream, reply: &str) {
    let mut bytes = vec![0; reply.len()];
    stream.read_exact(&mut bytes).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&bytes), reply);
}

#[test]
fn a_client_is_served_and_keys_expire_by_the_real_clock() {
    serve(ServeOptions::default(), |servers| async move {
        let mut client = connect(servers[0]).await;
        ask(&mut client, "SET lock me NX PX 50", "+OK\r\n").await;
        ask(&mut client, "SET lock you NX PX 50", "$-1\r\n").await;
        ask(&mut client, "DEBUG SLEEP 0.06", "+OK\r\n").await;
        ask(&mut client, "SET lock you NX PX 50", "+OK\r\n").await;
    });
}

#[test]
fn masters_are_independent_and_a_replica_follows() {
    serve(ServeOptions { nodes: 2, ..ServeOptions::default() }, |servers| async move {
        ask(&mut connect(servers[0]).await, "SET k v", "+OK\r\n").await;
        ask(&mut connect(servers[1]).await, "GET k", "$-1\r\n").await;
    });
    serve(ServeOptions { replicas: 1, ..ServeOptions::default() }, |servers| async move {
        let mut master = connect(servers[0]).await;
        let mut asked = 0;
        loop {
            ask(&mut master, "SET k v", "+OK\r\n").await;
            master.write_all(b"WAIT 1 100\r\n").await.unwrap();
            let mut reply = [0; 4];
            master.read_exact(&mut reply).await.unwrap();
            if reply == *b":1\r\n" {
                break;
            }
            asked += 1;
            assert!(asked < 100, "the replica never comes");
        }
        ask(&mut connect(servers[1]).await, "GET k", "$1\r\nv\r\n").await;
    });
}

#[test]
fn too_many_connections_are_refused_with_redis_own_words() {
    let node = NodeConfig { max_clients: 1, ..NodeConfig::default() };
    serve(ServeOptions { node, ..ServeOptions::default() }, |servers| async move {
        let mut first = connect(servers[0]).await;
        ask(&mut first, "PING", "+PONG\r\n").await;
        expect(&mut connect(servers[0]).await, "-ERR max number of clients reached\r\n").await;
        ask(&mut first, "PING", "+PONG\r\n").await;
    });
}

#[test]
fn a_client_that_floods_and_never_reads_does_not_keep_others_waiting() {
    serve(ServeOptions::default(), |servers| async move {
        let mut polite = connect(servers[0]).await;
        ask(&mut polite, &format!("SET big {}", "x".repeat(60_000)), "+OK\r\n").await;
        let mut hostile = connect(servers[0]).await;
        let flood = "GET big\r\n".repeat(500);
        hostile.write_all(flood.as_bytes()).await.unwrap();
        hostile.write_all(b"*1\r\n$4\r\nPI").await.unwrap();
        for _ in 0..100 {
            ask(&mut polite, "PING", "+PONG\r\n").await;
        }
        drop(hostile);
        ask(&mut polite, "PING", "+PONG\r\n").await;
    });
}

#[test]
fn nonsense_is_answered_with_redis_protocol_error_and_a_closed_connection() {
    serve(ServeOptions::default(), |servers| async move {
        let mut client = connect(servers[0]).await;
        client.write_all(b"*1\r\nPING\r\n").await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer, "-ERR Protocol error: expected '$', got 'P'\r\n");
    });
}

#[test]
fn what_an_append_only_file_holds_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let node = NodeConfig {
        persistence: Persistence::Aof { fsync: Fsync::Always },
        databases: 2,
        ..NodeConfig::default()
    };
    let options =
        ServeOptions { dir: Some(folder.path().to_owned()), node, ..ServeOptions::default() };
    serve(options.clone(), |servers| async move {
        ask(&mut connect(servers[0]).await, "SET k v", "+OK\r\n").await;
    });
    serve(options.clone(), |servers| async move {
        let mut client = connect(servers[0]).await;
        ask(&mut client, "GET k", "$1\r\nv\r\n").await;
        ask(&mut client, "BGREWRITEAOF", "+Background append only file rewriting started\r\n")
            .await;
        ask(&mut client, "SET l w", "+OK\r\n").await;
    });
    serve(options, |servers| async move {
        ask(&mut connect(servers[0]).await, "MGET k l", "*2\r\n$1\r\nv\r\n$1\r\nw\r\n").await;
    });
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let refused = |options: ServeOptions| start(&options).err().map(|error| error.to_string());
    let options = ServeOptions { nodes: 3, replicas: 1, ..ServeOptions::default() };
    assert!(refused(options).unwrap().starts_with("--nodes '3': expected --nodes 1 with"));
    let node = NodeConfig { persistence: Persistence::Rdb, ..NodeConfig::default() };
    assert!(
        refused(ServeOptions { node, ..ServeOptions::default() })
            .unwrap()
            .contains("expected --dir")
    );
}

#[test]
fn idle_and_half_open_connections_keep_nobody_waiting() {
    serve(ServeOptions::default(), |servers| async move {
        let mut crowd = Vec::new();
        for number in 0..300 {
            let mut stream = connect(servers[0]).await;
            match number % 3 {
                0 => {}
                1 => stream.write_all(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100\r\nhalf").await.unwrap(),
                _ => stream.shutdown().await.unwrap(),
            }
            crowd.push(stream);
        }
        let mut polite = connect(servers[0]).await;
        for _ in 0..100 {
            ask(&mut polite, "PING", "+PONG\r\n").await;
        }
        ask(&mut polite, "EXISTS k", ":0\r\n").await;
        drop(crowd);
        ask(&mut polite, "PING", "+PONG\r\n").await;
    });
}

#[test]
fn a_listener_that_does_not_read_is_disconnected_at_its_limit() {
    serve(ServeOptions::default(), |servers| async move {
        let mut polite = connect(servers[0]).await;
        ask(&mut polite, "CONFIG SET client-output-buffer-limit 'pubsub 1mb 0 0'", "+OK\r\n").await;
        let mut deaf = connect(servers[0]).await;
        ask(&mut deaf, "SUBSCRIBE news", "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n").await;
        let message = "x".repeat(60_000);
        let mut heard = 0;
        for _ in 0..4_000 {
            polite.write_all(format!("PUBLISH news {message}\r\n").as_bytes()).await.unwrap();
            let mut reply = [0; 4];
            polite.read_exact(&mut reply).await.unwrap();
            if reply == *b":0\r\n" {
                break;
            }
            heard += 1;
        }
        assert!(heard < 4_000, "it was never disconnected");
        ask(&mut polite, "PUBSUB NUMSUB news", "*2\r\n$4\r\nnews\r\n:0\r\n").await;
    });
}

#[test]
fn shutdown_ends_one_server_and_the_last_one_ends_it_all() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        let serving =
            start(&ServeOptions { port: 0, nodes: 2, ..ServeOptions::default() }).unwrap();
        let servers: Vec<SocketAddr> = serving.addresses().collect();
        let clients = async {
            let (mut first, mut second) = (connect(servers[0]).await, connect(servers[1]).await);
            ask(&mut second, "PING", "+PONG\r\n").await;
            first.write_all(b"SHUTDOWN NOSAVE\r\n").await.unwrap();
            assert_eq!(first.read(&mut [0; 10]).await.unwrap(), 0, "no reply but the end");
            ask(&mut second, "PING", "+PONG\r\n").await;
            second.write_all(b"SHUTDOWN\r\n").await.unwrap();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            () = clients => {}
            ended = serving.until(std::future::pending()) => ended.unwrap(),
        }
    });
}

async fn keep_busy(server: SocketAddr, script: &str) -> TcpStream {
    let mut caller = connect(server).await;
    ask(&mut caller, "CONFIG SET busy-reply-threshold 1", "+OK\r\n").await;
    caller.write_all(format!("EVAL \"{script}\" 1 k\r\n").as_bytes()).await.unwrap();
    let mut other = connect(server).await;
    loop {
        other.write_all(b"ECHO x\r\n").await.unwrap();
        let mut answer = [0; 7];
        other.read_exact(&mut answer).await.unwrap();
        if answer.starts_with(b"-BUSY") {
            return caller;
        }
    }
}

#[test]
fn a_busy_server_leaves_others_alone_and_ends_when_it_is_told_to() {
    serve(ServeOptions { nodes: 2, ..ServeOptions::default() }, |servers| async move {
        let _caller = keep_busy(servers[0], "while true do end").await;
        ask(&mut connect(servers[1]).await, "EVAL 'return 1' 0", ":1\r\n").await;
    });
}

#[test]
fn a_script_that_shutdown_ended_is_not_in_the_append_only_file() {
    let folder = tempfile::tempdir().unwrap();
    let node = NodeConfig {
        persistence: Persistence::Aof { fsync: Fsync::Always },
        ..NodeConfig::default()
    };
    let options =
        ServeOptions { dir: Some(folder.path().to_owned()), node, ..ServeOptions::default() };
    serve(options.clone(), |servers| async move {
        ask(&mut connect(servers[0]).await, "SET before 1", "+OK\r\n").await;
        let mut caller =
            keep_busy(servers[0], "redis.call('SET', KEYS[1], 1) while true do end").await;
        connect(servers[0]).await.write_all(b"SHUTDOWN NOSAVE\r\n").await.unwrap();
        assert_eq!(caller.read(&mut [0; 10]).await.unwrap(), 0, "no reply but the end");
    });
    serve(options, |servers| async move {
        ask(&mut connect(servers[0]).await, "MGET before k", "*2\r\n$1\r\n1\r\n$-1\r\n").await;
    });
}
