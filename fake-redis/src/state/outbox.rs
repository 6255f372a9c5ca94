use fencepost_machine::{Output, Outputs};

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    pub(crate) outputs: Outputs,
    waiting: Vec<Output>,
}

impl Outbox {
    pub(crate) fn swap(&mut self, drivers: &mut Outputs) {
        std::mem::swap(&mut self.outputs, drivers);
    }

    pub(crate) fn push_output(&mut self, output: Output) {
        self.outputs.list.push(output);
    }

    pub(crate) fn outputs(&mut self) -> &mut Outputs {
        &mut self.outputs
    }

    pub(crate) fn send(&mut self, message: Output) {
        self.waiting.push(message);
    }

    pub(crate) fn release(&mut self) {
        self.outputs.list.append(&mut self.waiting);
    }

    pub(crate) fn hold(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.waiting)
    }

    pub(crate) fn release_held(&mut self, held: Vec<Output>) {
        self.outputs.list.extend(held);
    }
}
