use bytes::Bytes;
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(crate) struct History {
    id: String,
    /// Id of the history from which this history branched off, valid up to `second_offset`.
    second_id: String,
    second_offset: Option<u64>,
    offset: u64,
    backlog: Option<Backlog>,
}

#[derive(Debug)]
struct Backlog {
    bytes: VecDeque<u8>,
    size_max: usize,
}

const NO_ID: &str = "0000000000000000000000000000000000000000";

impl History {
    pub(crate) fn new(id: String) -> Self {
        History { id, second_id: NO_ID.to_owned(), second_offset: None, offset: 0, backlog: None }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn second_id(&self) -> &str {
        &self.second_id
    }

    pub(crate) fn second_offset(&self) -> i64 {
        self.second_offset.map_or(-1, |offset| offset as i64)
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn has_backlog(&self) -> bool {
        self.backlog.is_some()
    }

    pub(crate) fn kept(&self) -> Option<(u64, usize)> {
        self.backlog
            .as_ref()
            .map(|backlog| (self.offset + 1 - backlog.bytes.len() as u64, backlog.bytes.len()))
    }

    pub(crate) fn size_max(&self) -> Option<usize> {
        self.backlog.as_ref().map(|backlog| backlog.size_max)
    }

    pub(crate) fn begin(&mut self, id: String, size_max: usize) {
        self.id = id;
        self.forget_second();
        self.keep(size_max);
    }

    pub(crate) fn keep(&mut self, size_max: usize) {
        self.backlog
            .get_or_insert_with(|| Backlog { bytes: VecDeque::new(), size_max: size_max.max(1) });
    }

    pub(crate) fn forget(&mut self, id: String) {
        self.id = id;
        self.forget_second();
        self.backlog = None;
    }

    pub(crate) fn adopt(&mut self, id: &str, offset: u64) {
        id.clone_into(&mut self.id);
        self.forget_second();
        self.offset = offset;
        self.backlog = None;
    }

    /// Begins a new history; the old id stays valid for the stream so far (`shiftReplicationId`).
    pub(crate) fn branch_off(&mut self, id: String) {
        self.second_id = std::mem::replace(&mut self.id, id);
        self.second_offset = Some(self.offset + 1);
    }

    pub(crate) fn continue_from(&mut self, id: &str, offset: u64, size_max: usize) {
        id.clone_into(&mut self.second_id);
        self.second_offset = Some(offset + 1);
        self.offset = offset;
        self.keep(size_max);
    }

    /// Without a backlog, an effect counts as one byte (`replicationFeedSlaves` in 7.2).
    pub(crate) fn count(&mut self) {
        self.offset += 1;
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) {
        self.offset += bytes.len() as u64;
        if let Some(backlog) = &mut self.backlog {
            backlog.bytes.extend(bytes);
            let excess = backlog.bytes.len().saturating_sub(backlog.size_max);
            backlog.bytes.drain(..excess);
        }
    }

    /// Returns the backlog from offset `next` on, or `None` if a snapshot is needed
    /// (`masterTryPartialResynchronization`).
    pub(crate) fn since(&self, id: &str, next: u64) -> Option<Bytes> {
        let same_past = id.eq_ignore_ascii_case(&self.id)
            || id.eq_ignore_ascii_case(&self.second_id)
                && self.second_offset.is_some_and(|last| next <= last);
        let (first, length) = self.kept().filter(|_| same_past)?;
        let skipped =
            usize::try_from(next.checked_sub(first)?).ok().filter(|skipped| *skipped <= length)?;
        let backlog = self.backlog.as_ref()?;
        Some(backlog.bytes.range(skipped..).copied().collect())
    }

    fn forget_second(&mut self) {
        NO_ID.clone_into(&mut self.second_id);
        self.second_offset = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history() -> History {
        let mut history = History::new("x".repeat(40));
        history.begin("a".repeat(40), 6);
        history.append(b"0123456789");
        history
    }

    #[test]
    fn accepts_who_asks_within_the_backlog_and_rejects_who_asks_beyond() {
        let (history, id) = (history(), "a".repeat(40));
        assert_eq!(history.since(&id, 5).unwrap(), "456789");
        assert_eq!(history.since(&id, 10).unwrap(), "9");
        assert_eq!(history.since(&id, 11).unwrap(), "", "nothing was missed");
        assert_eq!(history.since(&id, 4), None, "too old");
        assert_eq!(history.since(&id, 12), None, "from the future");
        assert_eq!(history.since(&"b".repeat(40), 8), None, "another history");
    }

    #[test]
    fn the_old_id_is_valid_up_to_the_branch_and_not_beyond() {
        let mut history = history();
        history.branch_off("b".repeat(40));
        history.append(b"xy");
        let old = "a".repeat(40);
        assert_eq!(history.since(&old, 11).unwrap(), "xy");
        assert_eq!(history.since(&old, 12), None, "its byte 11 was another one");
        assert_eq!(history.since(&"b".repeat(40), 12).unwrap(), "y");
    }

    #[test]
    fn nobody_continues_from_the_id_that_is_nobodys() {
        assert_eq!(history().since(NO_ID, 8), None);
    }
}
