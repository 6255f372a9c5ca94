//! Four-letter words: an operator's commands to a server.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct About {
    /// `standalone`, `leader` or `follower`; `None` while the server serves no clients.
    pub(crate) mode: Option<&'static str>,
    pub(crate) zxid: i64,
    pub(crate) node_count: usize,
    pub(crate) connections: usize,
    pub(crate) received: u64,
    pub(crate) sent: u64,
    pub(crate) outstanding: usize,
}

const WORDS: [&[u8; 4]; 18] = [
    b"conf", b"cons", b"crst", b"dirs", b"dump", b"envi", b"gtmk", b"ruok", b"stmk", b"srvr",
    b"srst", b"stat", b"wchc", b"wchp", b"wchs", b"mntr", b"isro", b"hash",
];

/// Answers a four-letter word. As with the real server's default, only `srvr` is allowed.
pub(crate) fn answer(word: &[u8], about: About) -> Option<String> {
    let word = WORDS.iter().find(|known| known.as_slice() == word)?;
    if *word != b"srvr" {
        let word = String::from_utf8_lossy(*word);
        return Some(format!("{word} is not executed because it is not in the whitelist.\n"));
    }
    let Some(mode) = about.mode else {
        return Some("This ZooKeeper instance is not currently serving requests\n".to_owned());
    };
    let About { zxid, node_count, connections, received, sent, outstanding, .. } = about;
    Some(format!(
        "Zookeeper version: 3.8.0-fencepost\nLatency min/avg/max: 0/0.0/0\nReceived: {received}\n\
         Sent: {sent}\nConnections: {connections}\nOutstanding: {outstanding}\nZxid: {zxid:#x}\n\
         Mode: {mode}\nNode count: {node_count}\n"
    ))
}
