#[derive(Debug)]
pub(crate) struct Life {
    run_id: String,
    has_booted: bool,
    is_loading: bool,
    is_over: bool,
    is_asleep: bool,
}

impl Life {
    pub(crate) fn new(run_id: String) -> Self {
        Life { run_id, has_booted: false, is_loading: false, is_over: false, is_asleep: false }
    }

    pub(crate) fn run_id(&self) -> &str {
        &self.run_id
    }

    pub(crate) fn boot(&mut self) -> bool {
        !std::mem::replace(&mut self.has_booted, true)
    }

    pub(crate) fn begin_loading(&mut self) {
        self.is_loading = true;
    }

    pub(crate) fn end_loading(&mut self) {
        self.is_loading = false;
    }

    pub(crate) fn is_loading(&self) -> bool {
        self.is_loading
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.has_booted && !self.is_loading && !self.is_over
    }

    pub(crate) fn end(&mut self) {
        self.is_over = true;
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    pub(crate) fn sleep(&mut self) {
        self.is_asleep = true;
    }

    pub(crate) fn wake(&mut self) {
        self.is_asleep = false;
    }

    pub(crate) fn is_asleep(&self) -> bool {
        self.is_asleep
    }
}
