use libc::{c_long, c_ulong, c_void, pid_t, user_regs_struct};
use std::io;

#[cfg(target_env = "musl")]
type Request = libc::c_int;
#[cfg(not(target_env = "musl"))]
type Request = libc::c_uint;

/// Number of the register set that XSAVE writes (`linux/elf.h`).
const NT_X86_XSTATE: c_ulong = 0x202;
const EXTENDED_REGISTERS_MAX: usize = 16 << 10;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Tracee(pub(crate) pid_t);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    Call,
    Boundary,
    Exec,
    /// The thread created a thread or process with the real id `child`.
    Made {
        child: pid_t,
        waits_for_it: bool,
    },
    Event,
    Signal(i32),
    Spin,
    Exited(i32),
    Killed(i32),
}

/// The 32-bit words of a `siginfo_t`: signal, error number and code, then data that depends on the
/// signal and the code.
pub(crate) struct SignalInfo([u32; 32]);

impl SignalInfo {
    pub(crate) fn from_bytes(bytes: &[u8]) -> SignalInfo {
        let mut info = SignalInfo([0; 32]);
        for (word, bytes) in info.0.iter_mut().zip(bytes.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        info
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    pub(crate) fn signal(&self) -> i32 {
        self.0[0] as i32
    }

    pub(crate) fn code(&self) -> i32 {
        self.0[2] as i32
    }

    pub(crate) fn call(&self) -> u32 {
        self.0[6]
    }

    pub(crate) fn sender(&self) -> Option<i32> {
        let is_of_child = self.0[0] as i32 == libc::SIGCHLD && self.code() > 0;
        let is_sent = matches!(self.code(), libc::SI_USER | libc::SI_TKILL | libc::SI_QUEUE);
        (is_of_child || is_sent).then_some(self.0[4] as i32)
    }

    pub(crate) fn replace_sender(&mut self, number: u32) {
        self.0[4] = number;
        if self.0[0] as i32 == libc::SIGCHLD && self.code() > 0 {
            self.0[8..12].fill(0);
        }
    }
}

impl Tracee {
    pub(crate) fn set_options(self) -> io::Result<()> {
        let options = libc::PTRACE_O_TRACECLONE
            | libc::PTRACE_O_TRACEFORK
            | libc::PTRACE_O_TRACEVFORK
            | libc::PTRACE_O_TRACEEXEC
            | libc::PTRACE_O_TRACESECCOMP
            | libc::PTRACE_O_EXITKILL
            | libc::PTRACE_O_TRACESYSGOOD;
        self.request(libc::PTRACE_SETOPTIONS, c_long::from(options))
    }

    fn request(self, what: Request, data: c_long) -> io::Result<()> {
        // SAFETY: every request of this function takes a number and no pointer.
        match unsafe { libc::ptrace(what, self.0, 0, data) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    pub(crate) fn resume(self, signal: i32) {
        let _ = self.request(libc::PTRACE_CONT, c_long::from(signal));
    }

    pub(crate) fn resume_to_call(self) {
        let _ = self.request(libc::PTRACE_SYSCALL, 0);
    }

    pub(crate) fn step(self) -> Option<Stop> {
        let _ = self.request(libc::PTRACE_SINGLESTEP, 0);
        self.wait()
    }

    pub(crate) fn wait_once(self) -> Option<Stop> {
        let mut status = 0;
        // SAFETY: the status is a live integer.
        let got = unsafe { libc::waitpid(self.0, &mut status, libc::__WALL) };
        if got >= 0 {
            return Some(self.read(status));
        }
        match io::Error::last_os_error().raw_os_error() {
            Some(libc::EINTR) => None,
            _ => Some(Stop::Killed(libc::SIGKILL)),
        }
    }

    pub(crate) fn wait(self) -> Option<Stop> {
        loop {
            if let Some(stop) = self.wait_once() {
                return Some(stop);
            }
        }
    }

    pub(crate) fn wait_for_exit(self) -> i32 {
        loop {
            match self.wait() {
                Some(Stop::Exited(status)) => return (status & 0xff) << 8,
                Some(Stop::Killed(signal)) => return signal,
                _ => self.resume(0),
            }
        }
    }

    pub(crate) fn reap(self) {
        // SAFETY: the status pointer may be null.
        unsafe { libc::waitpid(self.0, std::ptr::null_mut(), libc::__WALL | libc::WNOHANG) };
    }

    pub(crate) fn is_there(self) -> bool {
        // SAFETY: `kill` takes no pointers, and signal 0 is not sent.
        unsafe { libc::kill(self.0, 0) == 0 }
    }

    pub(crate) fn is_32_bit(self) -> bool {
        const USER_CODE_32: u64 = 0x23;
        self.registers().cs == USER_CODE_32
    }

    pub(crate) fn signal_info(self) -> SignalInfo {
        let mut info = SignalInfo([0; 32]);
        // SAFETY: the kernel writes 128 bytes, the size of the live structure.
        unsafe { libc::ptrace(libc::PTRACE_GETSIGINFO, self.0, 0, info.0.as_mut_ptr()) };
        info
    }

    pub(crate) fn set_signal_info(self, info: &SignalInfo) {
        // SAFETY: the kernel reads 128 bytes, the size of the live structure.
        unsafe { libc::ptrace(libc::PTRACE_SETSIGINFO, self.0, 0, info.0.as_ptr()) };
    }

    pub(crate) fn wait_if_there(self) -> bool {
        let mut status = 0;
        // SAFETY: the status is a live integer.
        unsafe { libc::waitpid(self.0, &mut status, libc::__WALL) == self.0 }
    }

    fn read(self, status: i32) -> Stop {
        if libc::WIFEXITED(status) {
            return Stop::Exited(libc::WEXITSTATUS(status));
        }
        if libc::WIFSIGNALED(status) {
            return Stop::Killed(libc::WTERMSIG(status));
        }
        let signal = libc::WSTOPSIG(status);
        match status >> 16 {
            libc::PTRACE_EVENT_SECCOMP => Stop::Call,
            libc::PTRACE_EVENT_EXEC => Stop::Exec,
            libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK => {
                Stop::Made { child: self.message() as pid_t, waits_for_it: false }
            }
            libc::PTRACE_EVENT_VFORK => {
                Stop::Made { child: self.message() as pid_t, waits_for_it: true }
            }
            0 if signal == libc::SIGTRAP | 0x80 => Stop::Boundary,
            0 => Stop::Signal(signal),
            _ => Stop::Event,
        }
    }

    pub(crate) fn end_of_call(self) {
        self.resume_to_call();
        while !matches!(self.wait(), Some(Stop::Boundary | Stop::Killed(_) | Stop::Exited(_))) {
            self.resume_to_call();
        }
    }

    pub(crate) fn peek(self, at: u64) -> u64 {
        let mut word: u64 = 0;
        // SAFETY: the kernel writes one word to the live `word`.
        unsafe {
            libc::syscall(libc::SYS_ptrace, libc::PTRACE_PEEKDATA, self.0, at, &raw mut word);
        }
        word
    }

    pub(crate) fn poke(self, at: u64, word: u64) {
        // SAFETY: the kernel checks the address in the other process.
        unsafe { libc::ptrace(libc::PTRACE_POKEDATA, self.0, at, word) };
    }

    pub(crate) fn message(self) -> u64 {
        let mut message: c_ulong = 0;
        // SAFETY: the kernel writes one long to the live `message`.
        unsafe {
            libc::ptrace(libc::PTRACE_GETEVENTMSG, self.0, 0, &mut message as *mut c_ulong);
        }
        message
    }

    pub(crate) fn no_registers(self) -> user_regs_struct {
        // SAFETY: zeroed registers are a valid value.
        unsafe { std::mem::zeroed() }
    }

    pub(crate) fn registers(self) -> user_regs_struct {
        // SAFETY: zeroed registers are a valid value, and the kernel writes exactly one structure.
        unsafe {
            let mut registers: user_regs_struct = std::mem::zeroed();
            libc::ptrace(
                libc::PTRACE_GETREGS,
                self.0,
                0,
                (&mut registers as *mut user_regs_struct).cast::<c_void>(),
            );
            registers
        }
    }

    pub(crate) fn extended_registers(self) -> Vec<u8> {
        let mut bytes = vec![0; EXTENDED_REGISTERS_MAX];
        let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        // SAFETY: the kernel writes at most `iov_len` bytes to the live buffer.
        let result =
            unsafe { libc::ptrace(libc::PTRACE_GETREGSET, self.0, NT_X86_XSTATE, &raw mut part) };
        bytes.truncate(if result < 0 { 0 } else { part.iov_len });
        bytes
    }

    pub(crate) fn set_registers(self, registers: &user_regs_struct) {
        // SAFETY: the kernel reads exactly one live structure.
        unsafe {
            libc::ptrace(
                libc::PTRACE_SETREGS,
                self.0,
                0,
                (registers as *const user_regs_struct).cast::<c_void>(),
            );
        }
    }

    /// Makes the thread execute a system call. Returns the result, and the signals that arrived.
    pub(crate) fn inject(
        self,
        registers: &user_regs_struct,
        is_before: bool,
        (number, arguments): (c_long, [u64; 6]),
    ) -> (i64, Vec<i32>) {
        let mut ours = *registers;
        let [a, b, c, d, e, f] = arguments;
        (ours.rdi, ours.rsi, ours.rdx, ours.r10, ours.r8, ours.r9) = (a, b, c, d, e, f);
        let mut boundaries = if is_before {
            ours.orig_rax = number as u64;
            ours.rax = -i64::from(libc::ENOSYS) as u64;
            1
        } else {
            ours.orig_rax = u64::MAX;
            ours.rax = number as u64;
            ours.rip -= 2;
            2
        };
        self.set_registers(&ours);
        let mut signals = Vec::new();
        while boundaries > 0 {
            self.resume_to_call();
            match self.wait() {
                Some(Stop::Boundary) => boundaries -= 1,
                Some(Stop::Signal(signal)) => signals.push(signal),
                Some(Stop::Exited(_) | Stop::Killed(_)) => {
                    return (-i64::from(libc::ESRCH), signals);
                }
                _ => {}
            }
        }
        (self.registers().rax as i64, signals)
    }
}
