#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) run_id: String,
    has_booted: bool,
    pub(crate) is_loading: bool,
    pub(crate) is_over: bool,
    pub(crate) is_asleep: bool,
}

impl Life {
    pub(crate) fn new(run_id: String) -> Self {
        Life { run_id, has_booted: false, is_loading: false, is_over: false, is_asleep: false }
    }

    pub(crate) fn boot(&mut self) -> bool {
        !std::mem::replace(&mut self.has_booted, true)
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.has_booted && !self.is_loading && !self.is_over
    }
}
