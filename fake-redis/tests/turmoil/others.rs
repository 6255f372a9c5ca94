use crate::simulation::{Setup, node, simulation};
use fake_redis::host::{GuestHardware, SharedDisk, serve};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use turmoil::net::TcpStream;

async fn late_reader(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> turmoil::Result {
    const REPLIES: usize = 300;
    let value = "x".repeat(50_000);
    stream.write_all(format!("SET big {value}\r\n").as_bytes()).await?;
    stream.write_all("GET big\r\n".repeat(REPLIES).as_bytes()).await?;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut replies =
        vec![0; "+OK\r\n".len() + REPLIES * "$50000\r\n\r\n".len() + REPLIES * 50_000];
    stream.read_exact(&mut replies).await?;
    assert!(replies.ends_with(b"xxx\r\n"));
    stream.write_all(b"QUIT\r\n").await?;
    let mut end = Vec::new();
    stream.read_to_end(&mut end).await?;
    assert_eq!(end, b"+OK\r\n");
    Ok(())
}

#[test]
fn a_client_that_reads_late_gets_everything() {
    let mut sim = simulation(1);
    Setup::new(1).add(&mut sim, node("redis-1", None), &SharedDisk::default());
    sim.client("late", async { late_reader(TcpStream::connect(("redis-1", 6379)).await?).await });
    sim.run().unwrap();
}

#[test]
fn a_server_runs_on_real_tcp_too() {
    use tokio::net::{TcpListener, TcpStream};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let accept = async move || listener.accept().await;
        let connect = async |host: String, port| TcpStream::connect((host.as_str(), port)).await;
        let hardware =
            GuestHardware { disk: SharedDisk::default(), clock: || Duration::from_secs(1) };
        tokio::select! {
            biased;
            ended = serve(node("redis-1", None), 1, hardware, accept, connect) => ended.unwrap(),
            done = async { late_reader(TcpStream::connect(address).await?).await } => done.unwrap(),
        }
    });
}
