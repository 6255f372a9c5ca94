use super::entry::Entry;

pub(super) static ENTRY: Entry = Entry {
    how: "A server that cannot make writes durable must not acknowledge them. Databases, etcd, \
          ZooKeeper and Redis with appendfsync always stop. Redis with everysec answers every \
          write with MISCONF until a later sync succeeds, and it syncs only after it has written \
          something, such as the expiry of a key.",
    helps: "Watch the disks, and replicate to other machines: a failover replaces a server that \
            stopped. For Redis with everysec, restart the server after the disk is repaired.",
    ..Entry::PLAIN
};
