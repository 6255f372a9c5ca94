use super::entry::Entry;
use crate::explain::scene::Scene;

pub(super) static ENTRY: Entry = Entry {
    how: "A primary keeps advisory locks and row locks in memory. They are not replicated, not \
          even to a synchronous replica. The promoted server has none of them and grants the lock \
          to the next process, while the holder keeps working.",
    helps: "Keep the lock in a row that a synchronous replica has before the commit is \
            acknowledged. Or write the guarded data on the same connection, in the transaction \
            that holds the lock, so that the write fails together with the lock. Otherwise use \
            fencing tokens that the storage checks.",
    is_of_failover: true,
    between: Some(between),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let (holder, held_at, taken_at) = (scene.holder.process, scene.held_at(), scene.taken_at());
    format!(
        "{holder} held the lock on its connection to {held_at}. A failover promoted {taken_at}, \
         which did not have that lock: locks that belong to a connection are not replicated."
    )
}
