//! A command's arguments without an allocation each: one run of bytes and where each argument lies
//! in it.

/// Where one argument lies.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Span {
    /// The first byte.
    pub(crate) start: u32,
    /// One past the last byte.
    pub(crate) end: u32,
}

/// A borrowed list of arguments, the command's name first.
#[derive(Clone, Copy)]
pub(crate) struct Args<'a> {
    bytes: &'a [u8],
    spans: &'a [Span],
}

impl<'a> Args<'a> {
    /// Arguments that lie in `bytes` at `spans`.
    pub(crate) fn new(bytes: &'a [u8], spans: &'a [Span]) -> Self {
        Args { bytes, spans }
    }

    /// How many there are, the command's name included.
    pub(crate) fn len(self) -> usize {
        self.spans.len()
    }

    /// The argument at `index`, which must exist; the arity check has made sure of it.
    pub(crate) fn get(self, index: usize) -> &'a [u8] {
        let span = self.spans[index];
        &self.bytes[span.start as usize..span.end as usize]
    }

    /// The arguments from `first` on; none if there are fewer.
    pub(crate) fn from(self, first: usize) -> Args<'a> {
        Args { bytes: self.bytes, spans: self.spans.get(first..).unwrap_or_default() }
    }

    /// The first `count` arguments.
    pub(crate) fn up_to(self, count: usize) -> Args<'a> {
        Args { bytes: self.bytes, spans: &self.spans[..count.min(self.spans.len())] }
    }

    /// All arguments in order.
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = &'a [u8]> + DoubleEndedIterator {
        let bytes = self.bytes;
        self.spans.iter().map(move |span| &bytes[span.start as usize..span.end as usize])
    }

    /// Arguments two by two: field and value.
    pub(crate) fn pairs(self) -> impl ExactSizeIterator<Item = (&'a [u8], &'a [u8])> {
        let (bytes, part) = (self.bytes, |bytes: &'a [u8], span: &Span| {
            &bytes[span.start as usize..span.end as usize]
        });
        self.spans.chunks_exact(2).map(move |pair| (part(bytes, &pair[0]), part(bytes, &pair[1])))
    }

    /// Whether the argument at `index` is `word`, in any case.
    pub(crate) fn is(self, index: usize, word: &str) -> bool {
        self.get(index).eq_ignore_ascii_case(word.as_bytes())
    }
}

/// An owned list of arguments whose memory is reused.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub(crate) struct ArgumentVector {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

impl ArgumentVector {
    /// Copies `parts`.
    pub(crate) fn of<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> Self {
        let mut vector = ArgumentVector::default();
        parts.into_iter().for_each(|part| vector.push(part));
        vector
    }

    /// Forgets all arguments and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
    }

    /// Appends one argument. Arguments of one command stay below 4 GiB, which the query buffer
    /// limit sees to.
    pub(crate) fn push(&mut self, part: &[u8]) {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(part);
        self.spans.push(Span { start, end: self.bytes.len() as u32 });
    }

    /// The arguments, borrowed.
    pub(crate) fn as_args(&self) -> Args<'_> {
        Args::new(&self.bytes, &self.spans)
    }
}
