//! Prints the first panic as one line on stderr, unless RUST_BACKTRACE is `full`.

use fencepost::cli;
use std::any::Any;
use std::panic::{self, PanicHookInfo};
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) fn report_in_one_line() {
    if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value == "full") {
        return;
    }
    static HAS_REPORTED: AtomicBool = AtomicBool::new(false);
    panic::set_hook(Box::new(|about: &PanicHookInfo<'_>| {
        if !HAS_REPORTED.swap(true, Ordering::Relaxed) {
            let place = about.location().map(|place| format!(" ({place})")).unwrap_or_default();
            cli::log(format_args!("error: internal error: {}{place}", message(about.payload())));
        }
    }));
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic")
}
