//! Memory pages, one per address space, from which programs read the clocks without a system call.

use super::memory::file_in_memory;
use std::arch::global_asm;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) const PAGE: usize = 4096;
const PAGES: usize = 512;

// The functions of the vDSO. Reading a clock returns its time at the tracer's last resume plus one
// step for each read since then. If no reads are left, the function makes the system call.
global_asm!(
    ".pushsection .text.fencepost_vdso, \"ax\", @progbits",
    ".hidden fencepost_vdso_clock_gettime, fencepost_vdso_gettimeofday, fencepost_vdso_time",
    ".hidden fencepost_vdso_getcpu, fencepost_vdso_end",
    ".globl fencepost_vdso_clock_gettime, fencepost_vdso_gettimeofday, fencepost_vdso_time",
    ".globl fencepost_vdso_getcpu, fencepost_vdso_end",
    "fencepost_vdso_clock_gettime:",
    "lea r8, [rip + fencepost_vdso_clock_gettime - {page} - {code_at}]",
    "cmp edi, 11", // Clocks with higher numbers make the system call.
    "ja 3f",
    "mov rax, [r8 + 16]",
    "cmp rax, [r8 + 24]",
    "jae 3f",
    "inc rax",
    "mov [r8 + 16], rax",
    "imul rax, [r8 + 32]",
    "mov ecx, {wall}",
    "bt ecx, edi",
    "jc 1f",
    "add rax, [r8]",
    "jmp 2f",
    "1: add rax, [r8 + 8]",
    "2: xor edx, edx",
    "mov ecx, 1000000000",
    "div rcx",
    "mov [rsi], rax",
    "mov [rsi + 8], rdx",
    "xor eax, eax",
    "ret",
    "3: mov eax, {call}",
    "syscall",
    "ret",
    "fencepost_vdso_gettimeofday:",
    "push rdi",
    "sub rsp, 16",
    "xor edi, edi",
    "mov rsi, rsp",
    "call fencepost_vdso_clock_gettime",
    "mov r9, [rsp]",
    "mov rax, [rsp + 8]",
    "add rsp, 16",
    "pop rdi",
    "xor edx, edx",
    "mov ecx, 1000",
    "div rcx",
    "test rdi, rdi",
    "jz 4f",
    "mov [rdi], r9",
    "mov [rdi + 8], rax",
    "4: xor eax, eax",
    "ret",
    "fencepost_vdso_time:",
    "push rdi",
    "sub rsp, 16",
    "xor edi, edi",
    "mov rsi, rsp",
    "call fencepost_vdso_clock_gettime",
    "mov rax, [rsp]",
    "add rsp, 16",
    "pop rdi",
    "test rdi, rdi",
    "jz 5f",
    "mov [rdi], rax",
    "5: ret",
    "fencepost_vdso_getcpu:",
    "test rdi, rdi",
    "jz 6f",
    "mov dword ptr [rdi], 0",
    "6: test rsi, rsi",
    "jz 7f",
    "mov dword ptr [rsi], 0",
    "7: xor eax, eax",
    "ret",
    "fencepost_vdso_end:",
    ".popsection",
    page = const PAGE,
    code_at = const CODE_AT,
    wall = const WALL_CLOCKS,
    call = const libc::SYS_clock_gettime,
);

pub(crate) const CODE_AT: usize = 0x400;
const WALL_CLOCKS: u32 = 1 << libc::CLOCK_REALTIME
    | 1 << libc::CLOCK_REALTIME_COARSE
    | 1 << libc::CLOCK_REALTIME_ALARM
    | 1 << libc::CLOCK_TAI;

unsafe extern "C" {
    safe static fencepost_vdso_clock_gettime: u8;
    safe static fencepost_vdso_gettimeofday: u8;
    safe static fencepost_vdso_time: u8;
    safe static fencepost_vdso_getcpu: u8;
    safe static fencepost_vdso_end: u8;
}

pub(crate) fn functions() -> (&'static [u8], [(&'static str, usize); 4]) {
    let at = |label: &'static u8| std::ptr::from_ref(label);
    let begin = at(&fencepost_vdso_clock_gettime);
    let offset = |label: &'static u8| at(label).addr() - begin.addr();
    // SAFETY: both labels are in the same section, and the functions are between them.
    let bytes = unsafe { std::slice::from_raw_parts(begin, offset(&fencepost_vdso_end)) };
    let functions = [
        ("__vdso_clock_gettime", 0),
        ("__vdso_gettimeofday", offset(&fencepost_vdso_gettimeofday)),
        ("__vdso_time", offset(&fencepost_vdso_time)),
        ("__vdso_getcpu", offset(&fencepost_vdso_getcpu)),
    ];
    (bytes, functions)
}

#[repr(C)]
struct Shared {
    monotonic_ns: AtomicU64,
    wall_ns: AtomicU64,
    clock_reads: AtomicU64,
    budget: AtomicU64,
    step_ns: AtomicU64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) monotonic_ns: u64,
    pub(crate) wall_ns: u64,
    pub(crate) clock_reads: u64,
    pub(crate) step_ns: u64,
}

pub(crate) struct ClockPages {
    file: File,
    mapped: *mut u8,
    owners: Vec<u32>,
}

impl ClockPages {
    pub(crate) fn new() -> io::Result<ClockPages> {
        let file = file_in_memory()?;
        file.set_len((PAGES * PAGE) as u64)?;
        // SAFETY: the call creates a new mapping, and the file is long enough for it.
        let mapped = unsafe {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let descriptor = file.as_raw_fd();
            libc::mmap(null_mut(), PAGES * PAGE, protection, libc::MAP_SHARED, descriptor, 0)
        };
        if mapped == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(ClockPages { file, mapped: mapped.cast(), owners: vec![0; PAGES] })
    }

    pub(crate) fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    pub(crate) fn take(&mut self) -> usize {
        let page = self.owners.iter().position(|owners| *owners == 0);
        let page = page.expect("there are more pages than processes");
        self.owners[page] = 1;
        page
    }

    pub(crate) fn retain(&mut self, page: usize) {
        self.owners[page] += 1;
    }

    pub(crate) fn release(&mut self, page: usize) {
        self.owners[page] -= 1;
    }

    pub(crate) fn is_shared(&self, page: usize) -> bool {
        self.owners[page] > 1
    }

    fn shared(&self, page: usize) -> &Shared {
        assert!(page < PAGES, "page {page}");
        // SAFETY: the page is aligned and mapped while `self` lives, and all accesses are atomic.
        unsafe { &*self.mapped.add(page * PAGE).cast::<Shared>() }
    }

    pub(crate) fn set(&self, page: usize, budget: Budget) {
        let shared = self.shared(page);
        shared.monotonic_ns.store(budget.monotonic_ns, Ordering::Relaxed);
        shared.wall_ns.store(budget.wall_ns, Ordering::Relaxed);
        shared.clock_reads.store(0, Ordering::Relaxed);
        shared.budget.store(budget.clock_reads, Ordering::Relaxed);
        shared.step_ns.store(budget.step_ns, Ordering::Relaxed);
    }

    pub(crate) fn clock_reads(&self, page: usize) -> u64 {
        self.shared(page).clock_reads.load(Ordering::Relaxed)
    }
}

impl Drop for ClockPages {
    fn drop(&mut self) {
        // SAFETY: the memory is mapped once, and no reference outlives `self`.
        unsafe { libc::munmap(self.mapped.cast(), PAGES * PAGE) };
    }
}
