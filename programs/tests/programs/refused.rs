use crate::alone::{launch, run_alone};
use crate::{not_emulated, python, run_c, shell, stuck};
use fencepost_programs::{Ending, Group, Launch, StartError, check};
use std::process::Command;

#[test]
fn a_connect_to_the_real_network_is_refused_and_said() {
    let source = "#include <arpa/inet.h>\n#include <errno.h>\n#include <stdio.h>\nint main() { \
                  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(80)}; \
                  inet_pton(AF_INET, \"1.2.3.4\", &a.sin_addr); \
                  int s = socket(AF_INET, SOCK_STREAM, 0); \
                  printf(\"%d\\n\", connect(s, (void *)&a, sizeof a) < 0 ? errno : 0); return 0; }";
    let Some(run) = run_c(source) else { return };
    assert_eq!(run.stdout, "101\n");
    assert!(run.stderr.contains("1.2.3.4:80, which is not a simulated machine"), "{}", run.stderr);
}

#[test]
fn a_call_that_is_not_emulated_ends_the_run_with_its_name() {
    let source = "#include <sys/syscall.h>\n#include <unistd.h>\nint main() { \
                  return syscall(SYS_semget, 0, 0, 0); }";
    let Some(run) = run_c(source) else { return };
    let Ending::NotEmulated(text) = &run.ending else { panic!("{:?}", run.ending) };
    assert!(text.contains("thread 1001 (a)") && text.contains("semget"), "{text}");
}

#[test]
fn a_program_that_waits_for_itself_is_found_out() {
    let source = "#include <pthread.h>\nint main() { pthread_mutex_t m = \
                  PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&m); pthread_mutex_lock(&m); }";
    let Some(run) = run_c(source) else { return };
    let Ending::Stuck(text) = &run.ending else { panic!("{:?}", run.ending) };
    assert!(text.contains("every thread waits") && text.contains("futex"), "{text}");
}

#[test]
fn a_program_that_forks_without_end_is_stopped() {
    let run = shell("f() { f & f; }; f");
    assert!(
        matches!(&run.ending, Ending::Stuck(text) if text.contains("threads"))
            || matches!(run.ending, Ending::Exited(_)),
        "{:?}",
        run.ending
    );
}

#[test]
fn what_is_printed_is_kept_up_to_a_bound() {
    let run = shell("yes | head -c 1000000");
    assert_eq!(run.ending, Ending::Exited(0));
    assert_eq!(run.stdout.len(), 64 * 1024);
}

#[test]
fn a_gigabyte_that_is_printed_is_counted_and_not_kept() {
    let source = "#include <unistd.h>\nstatic char a[1 << 20];\nint main() { \
                  for (int i = 0; i < 1024; i++) if (write(1, a, sizeof a) != sizeof a) return 1; \
                  }";
    let Some(run) = run_c(source) else { return };
    assert_eq!(run.ending, Ending::Exited(0));
    assert_eq!((run.stdout.len(), run.dropped), (64 << 10, (1 << 30) - (64 << 10)));
}

#[test]
fn a_program_that_allocates_without_end_is_told_that_there_is_no_more() {
    let source = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { int got = 0; \
                  while (got < 1 << 16 && malloc(64 << 20)) got++; \
                  printf(\"%d\\n\", got > 31 ? got < 65 : -1); return 3; }";
    let Some(run) = run_c(source) else { return };
    // The program ends normally, and its memory limit is between 2 GiB and 4 GiB.
    assert_eq!((run.ending, run.stdout.as_str()), (Ending::Exited(3), "1\n"));
}

#[test]
fn what_cannot_be_started_is_an_error() {
    let start = |command: &[&str]| Group::start(&launch(command)).map(|_| ()).unwrap_err();
    assert!(matches!(start(&[]), StartError::Empty));
    assert!(matches!(start(&["/nowhere/x"]), StartError::NotFound(_)));
    assert!(matches!(start(&["no-such-program-at-all"]), StartError::NotFound(_)));
    assert!(matches!(start(&["/etc/passwd"]), StartError::NotExecutable(_)));
    let elsewhere = Launch { folder: "/nowhere".into(), ..launch(&["/bin/true"]) };
    assert!(matches!(check(&elsewhere), Err(StartError::Folder(folder)) if folder == "/nowhere"));
}

#[test]
fn addresses_that_stay_random_are_an_error_that_names_what_to_allow() {
    let start = || {
        forbid_personality();
        let launch = launch(&["/bin/true"]);
        let started = Group::start(&launch).map(|_| ());
        [started, check(&launch)].map(|refused| refused.unwrap_err().to_string())
    };
    for refused in std::thread::spawn(start).join().unwrap() {
        assert!(refused.contains("--security-opt seccomp=unconfined"), "{refused}");
    }
}

/// Makes `personality` fail in this thread and its children, as Docker's default profile does.
fn forbid_personality() {
    use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter, sock_fprog};
    let step = |code, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    let mut filter = [
        step(BPF_LD | BPF_W | BPF_ABS, 0, 0, 0),
        step(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, libc::SYS_personality as u32),
        step(BPF_RET | BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        step(BPF_RET | BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the filter is live, and changes only the calls of this thread and its children.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program)
    };
    assert_eq!(done, 0);
}

#[test]
fn a_32_bit_call_is_refused_by_name() {
    // Machine code: `mov eax, 20; int 0x80; ret`
    let Some(run) = python("old-9731", "code('b814000000cd80c3')()") else { return };
    assert!(not_emulated(&run).contains("32-bit system call 20"), "{}", not_emulated(&run));
}

#[test]
fn a_32_bit_program_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old").display().to_string();
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::write(&path, small_elf()).unwrap();
    std::fs::set_permissions(&path, permissions).unwrap();
    let refused = Group::start(&launch(&[&path])).map(|_| ()).unwrap_err();
    assert!(refused.to_string().contains("/old' is a 32-bit program"), "{refused}");
    if Command::new(&path).status().is_err() {
        eprintln!("skipped: no 32-bit programs here");
        return;
    }
    let run = shell(&format!("exec {path}"));
    assert!(not_emulated(&run).contains("a 32-bit program"), "{}", not_emulated(&run));
}

fn small_elf() -> Vec<u8> {
    let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x03\0".to_vec();
    let header = [1u32, 0x0804_8054, 52, 0, 0, 52 | 32 << 16, 1, 0];
    let segment = [1u32, 0, 0x0804_8000, 0x0804_8000, 94, 94, 5, 4096];
    header.into_iter().chain(segment).for_each(|word| file.extend(word.to_le_bytes()));
    // Machine code: `mov eax, 1; mov ebx, 3; int 0x80`
    file.extend(*b"\xb8\x01\0\0\0\xbb\x03\0\0\0\xcd\x80");
    file
}

#[test]
fn shared_memory_does_not_outlive_a_run() {
    let Some(run) = python("segment-9731", "libc.shmget(9731, 4096, 0o1600)") else { return };
    assert!(matches!(run.ending, Ending::Exited(0)), "{:?} {}", run.ending, run.stderr);
    let segments = std::fs::read_to_string("/proc/sysvipc/shm").unwrap();
    let has_key = |line: &str| line.split_whitespace().next() == Some("9731");
    assert!(!segments.lines().any(has_key), "{segments}");
}

#[test]
fn a_program_that_signals_itself_without_end_is_named() {
    let storm = "signal.signal(signal.SIGUSR1, lambda *_: None)\n\
                 while True: os.kill(os.getpid(), signal.SIGUSR1)";
    let faults = "signal.signal(signal.SIGSEGV, lambda *_: None)\nctypes.string_at(8)";
    for script in [storm, faults] {
        let Some(run) = python("storm-9731", script) else { return };
        assert!(stuck(&run).contains("without waiting"), "{}", stuck(&run));
    }
}

#[test]
fn a_program_that_becomes_itself_without_end_is_named() {
    let again = "exec /bin/sh -c \"$AGAIN\"";
    let mut launch = launch(&["/bin/sh", "-c", again]);
    launch.environment.insert("AGAIN".to_owned(), again.to_owned());
    let endless = run_alone(&launch);
    assert!(stuck(&endless).contains("without waiting"), "{}", stuck(&endless));
}

#[test]
fn a_program_that_stops_itself_is_named() {
    let run = shell("kill -STOP $$; echo went on");
    assert!(not_emulated(&run).contains("SIGSTOP to process 1001"), "{}", not_emulated(&run));
}

#[test]
fn a_wait_for_a_file_lock_is_named_at_once_and_a_free_lock_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock").display().to_string();
    let script = |wait: &str| {
        format!(
            "import fcntl, sys\n\
             a, b = open('{path}', 'w'), open('{path}', 'w')\n\
             for turn in range(2): fcntl.flock(a, fcntl.LOCK_EX)\n\
             fcntl.flock(a, fcntl.LOCK_UN)\n\
             for turn in range(2): fcntl.lockf(b, fcntl.LOCK_EX)\n\
             fcntl.flock(b, fcntl.LOCK_EX)\n\
             print('taken', flush=True)\n\
             if os.fork() == 0: time.sleep(1000)\n\
             {wait}"
        )
    };
    for (wait, call) in [
        ("fcntl.flock(a, fcntl.LOCK_EX)", "73 (flock)"),
        ("if os.fork() == 0: fcntl.lockf(a, fcntl.LOCK_EX)\ntime.sleep(1000)", "72 (fcntl)"),
    ] {
        let Some(run) = python("locked-9731", &script(wait)) else { return };
        assert_eq!(run.stdout, "taken\n");
        let text = not_emulated(&run);
        assert!(text.contains(&format!("is blocked in system call {call}")), "{text}");
    }
}
