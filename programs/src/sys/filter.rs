//! The seccomp filter of traced threads. By default, a call stops its thread.

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW,
    SECCOMP_RET_ERRNO, SECCOMP_RET_TRACE, SECCOMP_RET_TRAP, c_long, sock_filter,
};

/// The value of `AUDIT_ARCH_X86_64`.
const ARCHITECTURE: u32 = 0xc000_003e;
/// Offsets in `struct seccomp_data`. `ARGUMENTS_AT` is the first argument's lower half.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const ARGUMENTS_AT: u32 = 16;

pub(crate) const FIRST_QUESTION: u64 = 0x8900;

/// fencepost emulates descriptors 0 to 2, and all from this one on. The kernel handles the others.
pub(crate) const FIRST_DESCRIPTOR: i32 = 256;

#[rustfmt::skip]
const ON_DESCRIPTORS: &[c_long] = &[
    libc::SYS_read, libc::SYS_write, libc::SYS_close, libc::SYS_readv, libc::SYS_writev,
    libc::SYS_dup,
];
/// Calls that take a command. On an emulated descriptor, the thread stops if the command equals the
/// first number, or is at least the second.
const COMMANDS_ON_DESCRIPTORS: &[(c_long, u32, u32)] = &[
    (libc::SYS_fcntl, libc::F_DUPFD as u32, libc::F_DUPFD_CLOEXEC as u32),
    (libc::SYS_ioctl, libc::FIONREAD as u32, FIRST_QUESTION as u32),
];

/// Calls, and the argument that names a process. The thread stops unless that argument is 0.
#[rustfmt::skip]
const ON_PROCESSES: &[(c_long, u32)] = &[
    (libc::SYS_sched_setaffinity, 0), (libc::SYS_sched_getparam, 0),
    (libc::SYS_sched_setparam, 0), (libc::SYS_sched_getscheduler, 0),
    (libc::SYS_sched_setscheduler, 0), (libc::SYS_sched_getattr, 0),
    (libc::SYS_sched_setattr, 0), (libc::SYS_get_robust_list, 0), (libc::SYS_prlimit64, 0),
    (libc::SYS_getpriority, 1), (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_get, 1), (libc::SYS_ioprio_set, 1),
];

/// Commands of `fcntl` that wait for a lock, or report which process holds it.
const COMMANDS_ON_LOCKS: [u32; 3] =
    [libc::F_SETLKW as u32, libc::F_OFD_SETLKW as u32, libc::F_GETLK as u32];

/// Calls that the filter leaves to the kernel.
#[rustfmt::skip]
const NATIVE: &[c_long] = &[
    libc::SYS_mmap, libc::SYS_munmap, libc::SYS_mprotect, libc::SYS_madvise, libc::SYS_brk,
    libc::SYS_mremap, libc::SYS_fstat, libc::SYS_newfstatat, libc::SYS_stat, libc::SYS_lstat,
    libc::SYS_statx, libc::SYS_lseek, libc::SYS_pread64, libc::SYS_pwrite64, libc::SYS_preadv,
    libc::SYS_pwritev, libc::SYS_rt_sigprocmask, libc::SYS_rt_sigaction, libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigpending, libc::SYS_sigaltstack, libc::SYS_access, libc::SYS_faccessat,
    libc::SYS_faccessat2, libc::SYS_readlink, libc::SYS_readlinkat, libc::SYS_getcwd,
    libc::SYS_chdir, libc::SYS_fchdir, libc::SYS_getdents, libc::SYS_getdents64,
    libc::SYS_rmdir, libc::SYS_unlink, libc::SYS_unlinkat,
    libc::SYS_rename, libc::SYS_renameat, libc::SYS_renameat2, libc::SYS_link, libc::SYS_linkat,
    libc::SYS_symlink, libc::SYS_symlinkat, libc::SYS_chmod, libc::SYS_fchmod, libc::SYS_fchmodat,
    libc::SYS_chown, libc::SYS_fchown, libc::SYS_lchown, libc::SYS_fchownat, libc::SYS_umask,
    libc::SYS_truncate, libc::SYS_ftruncate, libc::SYS_fallocate, libc::SYS_msync,
    libc::SYS_sync_file_range, libc::SYS_utimensat,
    libc::SYS_statfs, libc::SYS_fstatfs, libc::SYS_fadvise64,
    libc::SYS_getxattr, libc::SYS_lgetxattr, libc::SYS_fgetxattr, libc::SYS_listxattr,
    libc::SYS_getuid, libc::SYS_geteuid, libc::SYS_getgid, libc::SYS_getegid,
    libc::SYS_getresuid, libc::SYS_getresgid, libc::SYS_getgroups, libc::SYS_setuid,
    libc::SYS_setgid, libc::SYS_setgroups, libc::SYS_setresuid, libc::SYS_setresgid,
    libc::SYS_personality, libc::SYS_arch_prctl, libc::SYS_set_robust_list,
    libc::SYS_getrlimit, libc::SYS_setrlimit,
    libc::SYS_mlock, libc::SYS_mlock2, libc::SYS_munlock, libc::SYS_mincore, libc::SYS_membarrier,
    libc::SYS_sched_get_priority_max, libc::SYS_sched_get_priority_min, libc::SYS_get_mempolicy,
    libc::SYS_set_mempolicy, libc::SYS_mbind,
    libc::SYS_memfd_create, libc::SYS_clock_getres, libc::SYS_pkey_alloc, libc::SYS_pkey_mprotect,
    libc::SYS_pkey_free, libc::SYS_restart_syscall, libc::SYS_execve, libc::SYS_execveat,
];

/// Calls that fail with `ENOSYS`, so that programs use a fallback.
#[rustfmt::skip]
const MISSING: &[c_long] = &[
    libc::SYS_io_uring_setup, libc::SYS_clone3, libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal, libc::SYS_perf_event_open, libc::SYS_bpf,
    libc::SYS_userfaultfd, libc::SYS_inotify_init, libc::SYS_inotify_init1,
    libc::SYS_fanotify_init, libc::SYS_io_setup,
    libc::SYS_memfd_secret, libc::SYS_add_key, libc::SYS_keyctl, libc::SYS_copy_file_range,
    libc::SYS_openat2, libc::SYS_sendmmsg, libc::SYS_recvmmsg, libc::SYS_rseq,
];
/// This call (`futex_waitv`) and all later calls fail with `ENOSYS`.
const FIRST_UNKNOWN: u32 = 449;

fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

fn jump(condition: u32, k: u32, on_true: u8, on_false: u8) -> sock_filter {
    sock_filter { code: (BPF_JMP | condition | BPF_K) as u16, jt: on_true, jf: on_false, k }
}

pub(crate) fn filter() -> Vec<sock_filter> {
    let load = |offset| statement(BPF_LD | BPF_W | BPF_ABS, offset);
    let verdict = |action| statement(BPF_RET | BPF_K, action);
    let mut program = vec![
        load(ARCHITECTURE_AT),
        jump(BPF_JEQ, ARCHITECTURE, 1, 0),
        verdict(SECCOMP_RET_TRAP),
        load(NUMBER_AT),
    ];
    for command in COMMANDS_ON_LOCKS {
        program.push(jump(BPF_JEQ, libc::SYS_fcntl as u32, 0, 4));
        program.push(load(ARGUMENTS_AT + 8));
        program.push(jump(BPF_JEQ, command, 0, 1));
        program.push(verdict(SECCOMP_RET_TRACE));
        program.push(load(NUMBER_AT));
    }
    for (number, one, first) in COMMANDS_ON_DESCRIPTORS {
        program.push(jump(BPF_JEQ, *number as u32, 0, 8));
        program.push(load(ARGUMENTS_AT + 8));
        program.push(jump(BPF_JEQ, *one, 1, 0));
        program.push(jump(BPF_JGE, *first, 0, 4));
        program.push(load(ARGUMENTS_AT));
        program.push(jump(BPF_JGE, FIRST_DESCRIPTOR as u32, 1, 0));
        program.push(jump(BPF_JGE, 3, 1, 0));
        program.push(verdict(SECCOMP_RET_TRACE));
        program.push(verdict(SECCOMP_RET_ALLOW));
    }
    for number in ON_DESCRIPTORS {
        program.push(jump(BPF_JEQ, *number as u32, 0, 5));
        program.push(load(ARGUMENTS_AT));
        program.push(jump(BPF_JGE, FIRST_DESCRIPTOR as u32, 1, 0));
        program.push(jump(BPF_JGE, 3, 1, 0));
        program.push(verdict(SECCOMP_RET_TRACE));
        program.push(verdict(SECCOMP_RET_ALLOW));
    }
    program.push(jump(BPF_JEQ, libc::SYS_flock as u32, 0, 4));
    program.push(load(ARGUMENTS_AT + 8));
    program.push(jump(BPF_JSET, (libc::LOCK_NB | libc::LOCK_UN) as u32, 1, 0));
    program.push(verdict(SECCOMP_RET_TRACE));
    program.push(verdict(SECCOMP_RET_ALLOW));
    for (number, place) in ON_PROCESSES {
        program.push(jump(BPF_JEQ, *number as u32, 0, 4));
        program.push(load(ARGUMENTS_AT + 8 * place));
        program.push(jump(BPF_JEQ, 0, 1, 0));
        program.push(verdict(SECCOMP_RET_TRACE));
        program.push(verdict(SECCOMP_RET_ALLOW));
    }
    for number in NATIVE {
        program.push(jump(BPF_JEQ, *number as u32, 0, 1));
        program.push(verdict(SECCOMP_RET_ALLOW));
    }
    for number in MISSING {
        program.push(jump(BPF_JEQ, *number as u32, 0, 1));
        program.push(verdict(SECCOMP_RET_ERRNO | libc::ENOSYS as u32));
    }
    program.push(jump(BPF_JGE, FIRST_UNKNOWN, 0, 1));
    program.push(verdict(SECCOMP_RET_ERRNO | libc::ENOSYS as u32));
    program.push(verdict(SECCOMP_RET_TRACE));
    program
}
