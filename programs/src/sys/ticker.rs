//! A timer that interrupts the tracer's waits, so that the tracer notices stuck threads.

use std::cell::OnceCell;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::Once;

const TICK_NS: i64 = 20_000_000;

thread_local! {
    static TIMER: OnceCell<Timer> = const { OnceCell::new() };
}
static HANDLER: Once = Once::new();

struct Timer(libc::timer_t);

extern "C" fn on_tick(_: libc::c_int) {}

fn signal() -> libc::c_int {
    libc::SIGRTMIN() + 7
}

impl Timer {
    fn new() -> Timer {
        HANDLER.call_once(|| {
            // SAFETY: a zeroed `sigaction` is valid, and the handler does nothing.
            unsafe {
                let mut action: libc::sigaction = zeroed();
                action.sa_sigaction = on_tick as extern "C" fn(libc::c_int) as usize;
                libc::sigaction(signal(), &action, null_mut());
            }
        });
        let mut timer: libc::timer_t = null_mut();
        // SAFETY: a zeroed `sigevent` is valid, and the timer signals only the calling thread.
        unsafe {
            let mut event: libc::sigevent = zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = signal();
            event.sigev_notify_thread_id = libc::gettid();
            libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer);
        }
        Timer(timer)
    }

    fn set(&self, interval_ns: i64) {
        let interval = libc::timespec { tv_sec: 0, tv_nsec: interval_ns };
        let value = libc::itimerspec { it_interval: interval, it_value: interval };
        // SAFETY: this thread created the timer, and the timer exists as long as the thread.
        unsafe { libc::timer_settime(self.0, 0, &value, null_mut()) };
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: the timer is deleted only once.
        unsafe { libc::timer_delete(self.0) };
    }
}

pub(crate) struct Ticking;

impl Ticking {
    pub(crate) fn start() -> Ticking {
        TIMER.with(|timer| timer.get_or_init(Timer::new).set(TICK_NS));
        Ticking
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        TIMER.with(|timer| timer.get_or_init(Timer::new).set(0));
    }
}
