use std::collections::VecDeque;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    Left,
    Right,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct List {
    elements: VecDeque<Box<[u8]>>,
    bytes: usize,
}

impl List {
    pub(crate) fn len(&self) -> usize {
        self.elements.len()
    }

    pub(super) fn memory(&self) -> usize {
        64 + self.bytes + 16 * self.len()
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + DoubleEndedIterator {
        self.elements.iter().map(|element| &**element)
    }

    pub(crate) fn range(
        &self,
        positions: std::ops::Range<usize>,
    ) -> impl ExactSizeIterator<Item = &[u8]> {
        self.elements.range(positions).map(|element| &**element)
    }

    pub(crate) fn get(&self, position: usize) -> Option<&[u8]> {
        self.elements.get(position).map(|element| &**element)
    }

    pub(crate) fn push(&mut self, end: End, element: &[u8]) {
        self.bytes += element.len();
        match end {
            End::Left => self.elements.push_front(element.into()),
            End::Right => self.elements.push_back(element.into()),
        }
    }

    pub(crate) fn pop(&mut self, end: End) -> Option<Box<[u8]>> {
        let element = match end {
            End::Left => self.elements.pop_front(),
            End::Right => self.elements.pop_back(),
        }?;
        self.bytes -= element.len();
        Some(element)
    }

    pub(crate) fn set(&mut self, position: usize, element: &[u8]) -> bool {
        let Some(place) = self.elements.get_mut(position) else { return false };
        self.bytes = self.bytes - place.len() + element.len();
        *place = element.into();
        true
    }

    pub(crate) fn insert(&mut self, position: usize, element: &[u8]) {
        self.bytes += element.len();
        self.elements.insert(position, element.into());
    }

    pub(crate) fn remove(&mut self, position: usize) {
        if let Some(element) = self.elements.remove(position) {
            self.bytes -= element.len();
        }
    }

    pub(crate) fn keep(&mut self, positions: std::ops::Range<usize>) {
        self.elements.truncate(positions.end);
        self.elements.drain(..positions.start.min(self.elements.len()));
        self.bytes = self.elements.iter().map(|element| element.len()).sum();
    }
}
