//! Starts a program so that it is traced from its first instruction on.

use super::filter::filter;
use super::trace::{Stop, Tracee};
use crate::interface::StartError;
use libc::{c_char, pid_t, sock_fprog};
use std::ffi::CString;
use std::io;
use std::path::Path;

const DESCRIPTORS_MAX: libc::rlim_t = 1024;

/// Maximum size of a process's data in bytes (`RLIMIT_DATA`). Further allocations fail.
const MEMORY_MAX: libc::rlim_t = 4 << 30;
/// Maximum size of a file in bytes, enforced with SIGXFSZ.
const FILE_MAX: u64 = 1 << 30;

pub(crate) struct Image {
    pub(crate) path: CString,
    pub(crate) arguments: Vec<CString>,
    pub(crate) environment: Vec<CString>,
    pub(crate) folder: CString,
    pub(crate) user: Option<libc::uid_t>,
}

pub(crate) fn spawn(image: &Image) -> Result<Tracee, StartError> {
    let pointers = |texts: &[CString]| -> Vec<*const c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (arguments, environment) = (pointers(&image.arguments), pointers(&image.environment));
    let filter = filter();
    let program =
        sock_fprog { len: filter.len() as u16, filter: filter.as_ptr() as *mut libc::sock_filter };
    // SAFETY: after the fork, the child makes only signal-safe calls on prepared memory.
    let child = unsafe { libc::fork() };
    if child < 0 {
        return Err(io::Error::last_os_error().into());
    }
    if child == 0 {
        // SAFETY: the arguments are live and null-terminated, and the call never returns.
        unsafe { become_program(image, &arguments, &environment, &program) }
    }
    let tracee = Tracee(child);
    match tracee.wait() {
        Some(Stop::Signal(libc::SIGSTOP)) => {
            tracee.set_options().map_err(|error| StartError::NotAllowed(error.to_string()))?;
            Ok(tracee)
        }
        Some(Stop::Exited(RANDOM_ADDRESSES)) => Err(StartError::RandomAddresses),
        Some(Stop::Exited(NO_FOLDER)) => {
            Err(StartError::Folder(image.folder.to_string_lossy().into_owned()))
        }
        Some(Stop::Exited(NO_USER)) => Err(StartError::User(image.user.unwrap_or_default())),
        other => Err(StartError::NotAllowed(format!("the child said {other:?}"))),
    }
}

/// Exit statuses of a child that could not become the program, by the step that failed.
const NO_FOLDER: i32 = 121;
const NO_TRACER: i32 = 122;
const NO_FILTER: i32 = 123;
const NO_USER: i32 = 124;
const RANDOM_ADDRESSES: i32 = 125;
const NO_PROGRAM: i32 = 127;

/// Replaces the child with the program.
unsafe fn become_program(
    image: &Image,
    arguments: &[*const c_char],
    environment: &[*const c_char],
    program: &sock_fprog,
) -> ! {
    // SAFETY: all pointers point to live, NUL-terminated memory.
    unsafe {
        libc::setsid();
        // The default profile of Docker forbids this call.
        if libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) < 0 {
            libc::_exit(RANDOM_ADDRESSES);
        }
        prepare_descriptors();
        prepare_signals();
        if let Some(user) = image.user
            && (libc::setgroups(0, std::ptr::null()) != 0
                || libc::setresgid(user, user, user) != 0
                || libc::setresuid(user, user, user) != 0)
        {
            libc::_exit(NO_USER);
        }
        if libc::chdir(image.folder.as_ptr()) != 0 {
            libc::_exit(NO_FOLDER);
        }
        libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV);
        // The kernel kills the child when the tracer's thread ends.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) != 0 {
            libc::_exit(NO_TRACER);
        }
        libc::raise(libc::SIGSTOP);
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, program) != 0 {
            libc::_exit(NO_FILTER);
        }
        libc::execve(image.path.as_ptr(), arguments.as_ptr(), environment.as_ptr());
        libc::_exit(NO_PROGRAM);
    }
}

unsafe fn prepare_descriptors() {
    // SAFETY: the calls affect only the child's descriptors and resource limits, and all pointers
    // are live.
    unsafe {
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY);
        libc::dup2(null, 0);
        for (descriptor, name) in [(1, c"stdout"), (2, c"stderr")] {
            libc::dup2(libc::memfd_create(name.as_ptr(), 0), descriptor);
        }
        libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0);
        let limit = libc::rlimit { rlim_cur: DESCRIPTORS_MAX, rlim_max: DESCRIPTORS_MAX };
        libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        let memory = libc::rlimit { rlim_cur: MEMORY_MAX, rlim_max: MEMORY_MAX };
        libc::setrlimit(libc::RLIMIT_DATA, &memory);
        let file = libc::rlimit { rlim_cur: FILE_MAX, rlim_max: FILE_MAX };
        libc::setrlimit(libc::RLIMIT_FSIZE, &file);
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &none);
    }
}

unsafe fn prepare_signals() {
    // SAFETY: a zeroed signal set is valid.
    unsafe {
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
    }
}

pub(crate) fn adopt_orphans() {
    // SAFETY: this `prctl` operation takes no pointers.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
}

pub(crate) fn is_root() -> bool {
    // SAFETY: `geteuid` takes no pointers.
    unsafe { libc::geteuid() == 0 }
}

pub(crate) fn is_executable(path: &Path) -> bool {
    let Ok(text) = CString::new(path.as_os_str().as_encoded_bytes()) else { return false };
    // SAFETY: the path is NUL-terminated.
    path.is_file() && unsafe { libc::access(text.as_ptr(), libc::X_OK) } == 0
}

pub(crate) fn signal_thread(process: pid_t, thread: pid_t, signal: i32) {
    // SAFETY: `tgkill` takes no pointers.
    unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signal) };
}

pub(crate) fn signal_process(process: pid_t, signal: i32) -> i64 {
    // SAFETY: `kill` takes no pointers.
    match unsafe { libc::kill(process, signal) } {
        0 => 0,
        _ => -i64::from(io::Error::last_os_error().raw_os_error().unwrap_or(libc::ESRCH)),
    }
}

pub(crate) fn signal_of_timer(
    (process, thread): (pid_t, Option<pid_t>),
    signal: i32,
    (timer, overrun, value): (i32, u32, u64),
) {
    // A timer's `siginfo_t`: signal and error, code and padding, timer and overrun, value.
    let mut told = [0u64; 16];
    told[0] = signal as u32 as u64;
    told[1] = libc::SI_TIMER as u32 as u64;
    told[2] = timer as u32 as u64 | u64::from(overrun) << 32;
    told[3] = value;
    let at = told.as_ptr();
    // SAFETY: the kernel reads 128 bytes, the size of the live array.
    unsafe {
        match thread {
            Some(thread) => libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, signal, at),
            None => libc::syscall(libc::SYS_rt_sigqueueinfo, process, signal, at),
        };
    }
}

/// Pins this thread and its children to one core, because wake-ups between cores are slow.
pub(crate) fn stay_on_one_core() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    thread_local! { static DONE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) }; }
    if DONE.replace(true) {
        return;
    }
    // SAFETY: the sets are live and have the stated size.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        if libc::sched_getaffinity(0, size, &mut allowed) != 0 {
            return;
        }
        let cores: Vec<usize> = (0..libc::CPU_SETSIZE as usize)
            .filter(|core| libc::CPU_ISSET(*core, &allowed))
            .collect();
        // Spread the tracer threads over the cores.
        let here = usize::try_from(libc::sched_getcpu()).unwrap_or(0);
        let first = cores.iter().position(|core| *core == here).unwrap_or(0);
        let core = cores[(first + STARTED.fetch_add(1, Ordering::Relaxed)) % cores.len()];
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut one);
        libc::sched_setaffinity(0, size, &one);
    }
}
