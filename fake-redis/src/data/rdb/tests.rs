use super::{Origin, RdbError, Snapshot, read, writer::About};
use crate::data::keyspace::{Entry, Keyspace};
use crate::data::value::{End, Hash, List, Set, SortedSet, Stream, StreamId, Value};

fn text(text: &[u8]) -> Value {
    Value::String(text.to_vec())
}

fn hash(pairs: &[(&str, &str)]) -> Value {
    let mut hash = Hash::default();
    pairs.iter().for_each(|(field, value)| _ = hash.set(field.as_bytes(), value.as_bytes()));
    Value::Hash(Box::new(hash))
}

fn list(elements: &[&str]) -> Value {
    let mut list = List::default();
    elements.iter().for_each(|element| list.push(End::Right, element.as_bytes()));
    Value::List(Box::new(list))
}

fn set(members: &[&str]) -> Value {
    let mut set = Set::default();
    members.iter().for_each(|member| _ = set.add(member.as_bytes()));
    Value::Set(Box::new(set))
}

fn sorted_set(members: &[(&str, f64)]) -> Value {
    let mut set = SortedSet::default();
    members.iter().for_each(|(member, score)| _ = set.set(member.as_bytes(), *score));
    Value::SortedSet(Box::new(set))
}

fn stream(length: u64) -> Value {
    let mut stream = Stream::default();
    let numbers = [0, 127, -1, 4_095, -4_097, 70_000, -9_000_000, 3_000_000_000, i64::MIN];
    for sequence in 1..=length {
        let id = StreamId { ms: 5 + sequence / 7, sequence };
        let number = numbers[sequence as usize % numbers.len()].to_string();
        let field: &[u8] = if sequence % 3 == 0 { b"other" } else { b"field" };
        let long = vec![b'x'; sequence as usize * 3];
        let pairs: [(&[u8], &[u8]); 2] = [(field, number.as_bytes()), (b"long", &long)];
        stream.append(id, pairs.map(|(field, value)| (field.into(), value.into())).into());
        if sequence % 5 == 0 {
            stream.remove(id);
        }
    }
    Value::Stream(Box::new(stream))
}

fn write(keyspace: &Keyspace, origin: Option<&Origin>) -> Vec<u8> {
    super::write(keyspace, &About { version: "7.0.15", seconds: 1_700_000_000, origin }).to_vec()
}

#[test]
fn all_that_is_written_is_read_back() {
    let mut keyspace = Keyspace::new(16);
    let long = "x".repeat(70_000);
    let values = [
        text(b""),
        text(b"0"),
        text(b"-128"),
        text(b"127"),
        text(b"128"),
        text(b"-32769"),
        text(b"2147483647"),
        text(b"2147483648"),
        text(b"007"),
        text(b"\0\xff\r\n"),
        text(&[b'a'; 63]),
        text(&[b'a'; 64]),
        text(long.as_bytes()),
        hash(&[("field", "value"), ("count", "3")]),
        hash(&[("big", &long)]),
        list(&["a", "1", "", &long]),
        set(&["3", "-1"]),
        set(&["3", "x", ""]),
        sorted_set(&[("a", 1.5), ("b", f64::INFINITY), ("c", -0.1)]),
        stream(0),
        stream(250),
    ];
    for (number, value) in values.iter().enumerate() {
        let expires_at_ms = (number % 2 == 0).then_some(1_700_000_000_000 + number as i64);
        let key = format!("key-{number}");
        keyspace
            .database_mut(number % 3)
            .insert(key.as_bytes(), Entry::new(value.clone(), expires_at_ms));
    }
    let origin = Origin { id: "a".repeat(40), offset: 1_234, stream_db: 2 };
    let snapshot = read(&write(&keyspace, Some(&origin))).unwrap();
    assert_eq!(snapshot.origin, Some(origin));
    assert_eq!(snapshot.keys.len(), values.len());
    for saved in snapshot.keys {
        let entry = keyspace.database(saved.db).get(&saved.key).unwrap();
        assert_eq!(
            (saved.value, saved.expires_at_ms),
            (entry.value.clone(), entry.expires_at_ms())
        );
    }
}

#[test]
fn an_empty_keyspace_is_a_snapshot_too() {
    assert_eq!(read(&write(&Keyspace::new(16), None)), Ok(Snapshot::default()));
}

#[test]
fn rejects_damage() {
    let mut keyspace = Keyspace::new(1);
    keyspace.database_mut(0).insert(b"key", Entry::new(text(b"value"), None));
    let good = write(&keyspace, None);
    assert!(read(&good).is_ok());
    for length in 0..good.len() {
        assert!(read(&good[..length]).is_err(), "cut to {length} bytes");
    }
    let mut flipped = good.clone();
    let last = flipped.len() - 12;
    flipped[last] ^= 1;
    assert_eq!(read(&flipped), Err(RdbError::Checksum));
    assert_eq!(read(b"REDIS0099\xff"), Err(RdbError::Version(99)));
    assert_eq!(read(b"SIDER0010\xff"), Err(RdbError::Signature));
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_an_error_and_never_a_panic(
        mut bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
    ) {
        bytes.splice(0..0, *b"REDIS0010");
        let _ = read(&bytes);
    }
}
