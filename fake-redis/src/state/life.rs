//! How far a server is between its start and its end.

/// How far a server is between its start and its end.
#[derive(Debug)]
pub(crate) struct Life {
    run_id: String,
    has_booted: bool,
    is_loading: bool,
    is_over: bool,
    is_asleep: bool,
}

impl Life {
    /// The life of a server that starts; `run_id` is forty hexadecimal digits that are new in every
    /// process.
    pub(crate) fn new(run_id: String) -> Self {
        Life { run_id, has_booted: false, is_loading: false, is_over: false, is_asleep: false }
    }

    /// What tells this process from those before it.
    pub(crate) fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Boots unless it has; whether it does so now.
    pub(crate) fn boot(&mut self) -> bool {
        !std::mem::replace(&mut self.has_booted, true)
    }

    /// From now on data is loaded: nothing expires, is refused or is propagated.
    pub(crate) fn begin_loading(&mut self) {
        self.is_loading = true;
    }

    /// All data is loaded.
    pub(crate) fn end_loading(&mut self) {
        self.is_loading = false;
    }

    /// Whether data is being loaded.
    pub(crate) fn is_loading(&self) -> bool {
        self.is_loading
    }

    /// Whether clients are served.
    pub(crate) fn is_ready(&self) -> bool {
        self.has_booted && !self.is_loading && !self.is_over
    }

    /// SHUTDOWN: nobody is served any more.
    pub(crate) fn end(&mut self) {
        self.is_over = true;
    }

    /// Whether nobody is served any more.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// DEBUG SLEEP: nothing is served and nothing is sent until [`Life::wake`].
    pub(crate) fn sleep(&mut self) {
        self.is_asleep = true;
    }

    /// The sleep is over.
    pub(crate) fn wake(&mut self) {
        self.is_asleep = false;
    }

    /// Whether nothing is served and nothing is sent just now.
    pub(crate) fn is_asleep(&self) -> bool {
        self.is_asleep
    }
}
