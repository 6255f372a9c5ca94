//! `beside PORT COUNT SEED` runs scripts on fake-redis and on the redis-server at PORT, and
//! compares their results. The program deletes the data of that redis-server.

use arbitrary::Unstructured;
use fake_redis::{DiskImage, NodeConfig};
use fencepost_fuzz::bench::{Bench, encode};
use fencepost_fuzz::programs::comparable_program;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

const SHOWN_MAX: usize = 20;

struct Real(BufReader<TcpStream>);

impl Real {
    fn ask(&mut self, words: &[&[u8]]) -> Vec<u8> {
        self.0.get_mut().write_all(&encode(words)).expect("the server takes commands");
        let mut reply = Vec::new();
        self.read(&mut reply);
        reply
    }

    fn read(&mut self, reply: &mut Vec<u8>) {
        let start = reply.len();
        self.0.read_until(b'\n', reply).expect("the server answers");
        let line = reply[start..].to_vec();
        assert!(!line.is_empty(), "the server is gone");
        let number = || std::str::from_utf8(&line[1..]).ok()?.trim_end().parse::<i64>().ok();
        match (line[0], number()) {
            (b'$', Some(length @ 0..)) => {
                let end = reply.len();
                reply.resize(end + length as usize + 2, 0);
                self.0.read_exact(&mut reply[end..]).expect("a whole answer");
            }
            (b'*' | b'~' | b'>', Some(count)) => (0..count).for_each(|_| self.read(reply)),
            (b'%', Some(count)) => (0..2 * count).for_each(|_| self.read(reply)),
            _ => {}
        }
    }
}

fn comparable(answer: &[u8]) -> String {
    let text = String::from_utf8_lossy(answer).into_owned();
    let mut parts = text.split("0x");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept.push_str("0x_");
        kept.push_str(part.trim_start_matches(|letter: char| letter.is_ascii_hexdigit()));
    }
    kept
}

fn bytes_of(mut seed: u64) -> Vec<u8> {
    let mut next = || {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    (0..64).flat_map(|_| next().to_le_bytes()).collect()
}

fn main() {
    let numbers: Vec<u64> =
        std::env::args().skip(1).map(|word| word.parse().expect("a number")).collect();
    let [port, count, seed] = numbers[..] else { panic!("wanted: PORT COUNT SEED") };
    let port = u16::try_from(port).expect("a port");
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("a server listens");
    let mut real = Real(BufReader::new(stream));
    let mut differing = 0;
    for number in seed..seed + count {
        let bytes = bytes_of(number);
        let script = comparable_program(&mut Unstructured::new(&bytes)).into_bytes();
        real.ask(&[b"FLUSHALL"]);
        real.ask(&[b"SCRIPT", b"FLUSH", b"SYNC"]);
        let mut fake = Bench::server(NodeConfig::default(), DiskImage::default());
        let words: [&[u8]; 6] = [b"EVAL", &script, b"2", b"k1", b"k2", b"a1"];
        let (expected, answered) = (real.ask(&words), fake.ask(&words));
        if comparable(&expected) != comparable(&answered) {
            differing += 1;
            println!(
                "program {number}\n{}\nreal {}\nfake {}\n",
                String::from_utf8_lossy(&script)
                    .split_once("return a end ")
                    .map_or("", |cut| cut.1),
                comparable(&expected),
                comparable(&answered)
            );
        }
        if differing >= SHOWN_MAX {
            break;
        }
    }
    println!("{count} programs beside a real server, {differing} differ");
    std::process::exit(i32::from(differing > 0));
}
