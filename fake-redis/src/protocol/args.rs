//! Command arguments as spans of one byte buffer.

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

#[derive(Clone, Copy)]
pub(crate) struct Args<'a> {
    bytes: &'a [u8],
    spans: &'a [Span],
}

impl<'a> Args<'a> {
    pub(crate) fn new(bytes: &'a [u8], spans: &'a [Span]) -> Self {
        Args { bytes, spans }
    }

    pub(crate) fn len(self) -> usize {
        self.spans.len()
    }

    pub(crate) fn get(self, index: usize) -> &'a [u8] {
        let span = self.spans[index];
        &self.bytes[span.start as usize..span.end as usize]
    }

    pub(crate) fn from(self, first: usize) -> Args<'a> {
        Args { bytes: self.bytes, spans: self.spans.get(first..).unwrap_or_default() }
    }

    pub(crate) fn up_to(self, count: usize) -> Args<'a> {
        Args { bytes: self.bytes, spans: &self.spans[..count.min(self.spans.len())] }
    }

    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = &'a [u8]> + DoubleEndedIterator {
        let bytes = self.bytes;
        self.spans.iter().map(move |span| &bytes[span.start as usize..span.end as usize])
    }

    pub(crate) fn pairs(self) -> impl ExactSizeIterator<Item = (&'a [u8], &'a [u8])> {
        let (bytes, part) = (self.bytes, |bytes: &'a [u8], span: &Span| {
            &bytes[span.start as usize..span.end as usize]
        });
        self.spans.chunks_exact(2).map(move |pair| (part(bytes, &pair[0]), part(bytes, &pair[1])))
    }

    pub(crate) fn is(self, index: usize, word: &str) -> bool {
        self.get(index).eq_ignore_ascii_case(word.as_bytes())
    }
}

#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub(crate) struct ArgumentVector {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

impl ArgumentVector {
    pub(crate) fn of<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> Self {
        let mut vector = ArgumentVector::default();
        parts.into_iter().for_each(|part| vector.push(part));
        vector
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
    }

    pub(crate) fn push(&mut self, part: &[u8]) {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(part);
        self.spans.push(Span { start, end: self.bytes.len() as u32 });
    }

    pub(crate) fn as_args(&self) -> Args<'_> {
        Args::new(&self.bytes, &self.spans)
    }
}
