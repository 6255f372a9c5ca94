use crate::real::Client;
use fake_redis::serve::{ServeOptions, start};
use std::sync::mpsc;
use std::thread::JoinHandle;
use tokio::sync::oneshot;

pub(crate) struct Fakes {
    pub(crate) ports: Vec<u16>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Fakes {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Fakes {
    pub(crate) fn start(options: ServeOptions) -> Fakes {
        let (tell, told) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let serving = start(&ServeOptions { port: 0, ..options }).unwrap();
                tell.send(serving.addresses().map(|address| address.port()).collect()).unwrap();
                serving.until(async { drop(stopped.await) }).await.unwrap();
            });
        });
        Fakes { ports: told.recv().unwrap(), stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn client(&self, index: usize) -> Client {
        Client::of(self.ports[index])
    }
}
