//! Programs of the system in virtual time: leaks are emulated, unsupported calls are refused by
//! name, and no program hangs.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod alone;

use alone::{Alone, launch, run_alone};
use fencepost_programs::{CallMade, Ending, Group, StartError};
use std::process::Command;

fn shell(script: &str) -> Alone {
    run_alone(&launch(&["/bin/sh", "-c", script]))
}

/// A compiled C program, or `None`, with a line of explanation, without a compiler.
fn compiled(folder: &tempfile::TempDir, source: &str) -> Option<String> {
    let (text, program) = (folder.path().join("a.c"), folder.path().join("a"));
    std::fs::write(&text, source).unwrap();
    let output =
        Command::new("cc").args(["-O1", "-pthread", "-o"]).arg(&program).arg(&text).output();
    let Ok(output) = output else {
        eprintln!("skipped: no C compiler");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program.display().to_string())
}

fn run_c(source: &str) -> Option<Alone> {
    let folder = tempfile::tempdir().unwrap();
    compiled(&folder, source).map(|program| run_alone(&launch(&[&program])))
}

#[test]
fn a_sleep_takes_virtual_time_and_no_other() {
    let run = shell("sleep 3600; date +%s");
    assert_eq!(run.ending, Ending::Exited(0));
    assert!((3_600_000_000..3_610_000_000).contains(&run.elapsed_us), "{}", run.elapsed_us);
    assert!(run.stdout.starts_with("170000360"), "{}", run.stdout);
}

#[test]
fn a_shell_with_pipes_and_children_ends_as_it_should() {
    let run = shell("x=$(printf 'b\\na\\n' | sort | tr '\\n' ' '); echo \"$x\"; (exit 4)");
    assert_eq!((run.ending, run.stdout.as_str()), (Ending::Exited(4), "a b \n"));
}

#[test]
fn what_would_leak_is_emulated() {
    let script = "cat /proc/uptime /proc/loadavg /etc/hostname /sys/devices/system/cpu/online \
                  /proc/sys/kernel/random/uuid; head -c 8 /dev/urandom | od -An -tx1; nproc; \
                  echo $$; uname -n";
    let (one, other) = (shell(script), shell(script));
    assert_eq!(one.stdout, other.stdout);
    assert!(one.stdout.contains("client-1\n"), "{}", one.stdout);
    assert!(one.stdout.contains("\n2\n1001\n"), "{}", one.stdout);
    assert_eq!(one.calls, other.calls);
}

#[test]
fn the_time_stamp_counter_shows_virtual_time() {
    let source = "#include <stdio.h>\n#include <unistd.h>\n#include <x86intrin.h>\nint main() { \
                  unsigned a; unsigned long s = __rdtsc(); usleep(250000); \
                  printf(\"%lu\\n\", (__rdtscp(&a) - s) / 1000000); return 0; }";
    let Some(run) = run_c(source) else { return };
    assert_eq!((run.ending, run.stdout.as_str()), (Ending::Exited(0), "250\n"));
}

#[test]
fn a_leak_that_is_not_emulated_shows_as_a_difference_between_two_runs() {
    // The timestamp of a file created by the program is the real one.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made").display().to_string();
    let script = format!("rm -f {path}; : > {path}; stat -c %y {path}");
    let (one, other) = (shell(&script), shell(&script));
    assert_ne!(one.stdout, other.stdout);
    assert_ne!(one.calls, other.calls);
}

/// Returns whether the processor has a flag, according to the kernel.
fn has_flag(flag: &str) -> bool {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let found = text.split_ascii_whitespace().any(|word| word == flag);
    if !found {
        eprintln!("skipped: no {flag} here");
    }
    found
}

#[test]
fn what_the_processor_draws_shows_as_a_difference_between_two_runs() {
    let source = "#include <stdio.h>\nint main() { unsigned long drawn; __asm__ volatile(\"1: \
                  rdrand %0; jnc 1b\" : \"=r\"(drawn)); printf(\"%016lx\\n\", drawn); }";
    if !has_flag("rdrand") {
        return;
    }
    let (Some(one), Some(other)) = (run_c(source), run_c(source)) else { return };
    let place = one.calls.iter().zip(&other.calls).position(|(one, other)| one != other);
    let name = |place: usize| fencepost_programs::name_of_call(one.calls[place].number);
    assert_eq!(place.map(name), Some("write"), "{} {}", one.stdout, other.stdout);
    let (one, other) = (run_c("int main() { puts(\"x\"); }"), run_c("int main() { puts(\"x\"); }"));
    assert_eq!(one.map(|run| run.calls), other.map(|run| run.calls));
}

#[test]
fn the_number_of_the_processor_is_a_difference_if_two_runs_print_another() {
    let source = "#include <cpuid.h>\n#include <stdio.h>\nint main() { unsigned a, b, c, d; \
                  __cpuid(1, a, b, c, d); printf(\"%3d\\n\", b >> 24); }";
    // Each thread stays on its own processor, if there are two.
    let run = || std::thread::spawn(|| run_c(source)).join().unwrap();
    let (Some(one), Some(other)) = (run(), run()) else { return };
    assert_eq!(one.stdout == other.stdout, one.calls == other.calls, "{}", one.stdout);
}

#[test]
fn an_answer_wakes_who_made_many_calls_in_the_same_instant() {
    let source = r#"
        #include <arpa/inet.h>
        #include <stdio.h>
        #include <sys/random.h>
        int main(void) {
            char byte;
            struct sockaddr_in nobody = {.sin_family = AF_INET, .sin_port = htons(1)};
            inet_pton(AF_INET, "10.0.0.2", &nobody.sin_addr);
            for (int turn = 0; turn < 30; turn++) {
                for (int call = 0; call < 100; call++) getrandom(&byte, 1, 0);
                int end = socket(AF_INET, SOCK_STREAM, 0);
                connect(end, (struct sockaddr *)&nobody, sizeof nobody);
                perror("connect");
            }
        }"#;
    let Some(run) = run_c(source) else { return };
    assert_eq!(run.stderr, "connect: Connection refused\n".repeat(30));
    assert!(run.elapsed_us < 1_000_000, "{} us", run.elapsed_us);
}

#[test]
fn a_connect_to_the_real_network_is_refused_and_said() {
    let source = "#include <arpa/inet.h>\n#include <errno.h>\n#include <stdio.h>\nint main() { \
                  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(80)}; \
                  inet_pton(AF_INET, \"1.2.3.4\", &a.sin_addr); \
                  int s = socket(AF_INET, SOCK_STREAM, 0); \
                  printf(\"%d\\n\", connect(s, (void *)&a, sizeof a) < 0 ? errno : 0); return 0; }";
    let Some(run) = run_c(source) else { return };
    assert_eq!(run.stdout, "101\n");
    assert!(run.stderr.contains("1.2.3.4:80, which is no machine of this world"), "{}", run.stderr);
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
fn a_thread_that_spins_for_another_is_interrupted_and_counted() {
    let source = "#include <pthread.h>\n#include <stdio.h>\nstatic volatile int done; \
                  static void *set(void *a) { done = 1; return a; }\nint main() { pthread_t t; \
                  pthread_create(&t, 0, set, 0); while (!done); puts(\"seen\"); return 0; }";
    let Some(run) = run_c(source) else { return };
    assert_eq!((run.ending, run.stdout.as_str()), (Ending::Exited(0), "seen\n"));
    assert!(run.preempted > 0);
}

/// A program that polls the clock until this many seconds have passed.
fn looking_for(seconds: u32) -> String {
    format!(
        "#include <stdio.h>\n#include <time.h>\nstatic time_t now(void) {{ struct timespec t; \
         clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec; }}\nint main() {{ time_t end = now() \
         + {seconds}; while (now() < end); puts(\"over\"); return 0; }}"
    )
}

#[test]
fn a_program_may_wait_for_12_seconds_by_looking_at_the_clock() {
    let Some(run) = run_c(&looking_for(12)) else { return };
    assert_eq!((run.ending, run.stdout.as_str()), (Ending::Exited(0), "over\n"));
}

#[test]
fn a_program_that_looks_at_the_clock_without_end_is_named() {
    let Some(run) = run_c(&looking_for(1_000_000)) else { return };
    let Ending::Stuck(text) = &run.ending else { panic!("{:?}", run.ending) };
    assert!(text.contains("looked at a clock 300000 times"), "{text}");
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
    // More than 2 GiB, and not more than 4 GiB.
    assert_eq!((run.ending, run.stdout.as_str()), (Ending::Exited(3), "1\n"));
}

#[test]
fn what_cannot_be_started_is_an_error() {
    let start = |command: &[&str]| Group::start(&launch(command)).map(|_| ()).unwrap_err();
    assert!(matches!(start(&[]), StartError::Empty));
    assert!(matches!(start(&["/nowhere/x"]), StartError::NotFound(_)));
    assert!(matches!(start(&["no-such-program-at-all"]), StartError::NotFound(_)));
    assert!(matches!(start(&["/etc/passwd"]), StartError::NotExecutable(_)));
}

#[test]
fn nothing_is_left_running() {
    let run = shell("sleep 98765.4321 & sleep 98765.4321 & sleep 1");
    assert_eq!(run.ending, Ending::Exited(0));
    let left = std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.starts_with(b"sleep\098765.4321")
    });
    assert!(!left);
}

#[test]
fn python_and_node_run_in_virtual_time_and_repeat_themselves() {
    let python = "import threading, time, random, uuid, os\nt = \
                  [threading.Thread(target=time.sleep, args=(i,)) for i in range(3)]\n\
                  [x.start() for x in t]\n[x.join() for x in t]\n\
                  print(time.time(), random.random(), uuid.uuid4(), uuid.uuid1(), os.getpid())";
    let node = "setTimeout(() => console.log(Date.now(), Math.random(), \
                require('crypto').randomUUID()), 1500)";
    for (program, flag, script) in [("python3", "-c", python), ("node", "-e", node)] {
        if Command::new(program).arg("--version").output().is_err() {
            eprintln!("skipped: no {program}");
            continue;
        }
        let (one, other) = (
            run_alone(&launch(&[program, flag, script])),
            run_alone(&launch(&[program, flag, script])),
        );
        assert_eq!(one.ending, Ending::Exited(0), "{program}: {}", one.stderr);
        assert_eq!(one.stdout, other.stdout, "{program}");
        assert!(one.stdout.starts_with("1700000"), "{program}: {}", one.stdout);
    }
}

#[test]
fn jvms_of_two_runs_at_once_do_not_meet() {
    if Command::new("java").arg("-version").output().is_err() {
        eprintln!("skipped: no java");
        return;
    }
    let script = "ls /tmp/hsperfdata_$(id -un)/ >&2; java -version 2>/dev/null && echo ran";
    let run = shell(script);
    assert_eq!((run.ending, run.stdout.as_str()), (Ending::Exited(0), "ran\n"));
    assert!(run.stderr.contains("Permission denied"), "{}", run.stderr);
}

#[test]
fn what_was_executed_and_what_was_read_is_told_by_its_whole_path() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["read", "deep"] {
        std::fs::write(at(name), "true\n").unwrap();
    }
    let script = format!("cd {}; . ./read; cat deep; : > written", folder.path().display());
    let used = shell(&script).used;
    let executed: Vec<_> = used.executed.iter().filter_map(|path| path.file_name()).collect();
    let shell = std::fs::canonicalize("/bin/sh").unwrap();
    assert!(used.executed.contains(&shell), "{executed:?}");
    assert!(executed.iter().any(|name| *name == "cat"), "{executed:?}");
    assert!(used.opened.contains(&at("./read")) && used.opened.contains(&at("deep")));
    assert!(!used.opened.iter().any(|path| path.ends_with("written")));
}

/// Runs a Python script, or returns `None`, with a line of explanation, without Python. The script
/// has `libc`, `code` makes a function of machine code, and the program is called `name` in the
/// process table.
fn python(name: &str, script: &str) -> Option<Alone> {
    let prelude = format!(
        "import ctypes, mmap, os, signal, sys, time\n\
         libc = ctypes.CDLL(None)\n\
         libc.prctl(15, b'{name}')\n\
         pages = []\n\
         def code(text):\n\
         \x20   page = mmap.mmap(-1, 4096, prot=7)\n\
         \x20   page.write(bytes.fromhex(text))\n\
         \x20   pages.append(page)\n\
         \x20   at = ctypes.addressof(ctypes.c_char.from_buffer(page))\n\
         \x20   return ctypes.CFUNCTYPE(ctypes.c_uint64)(at)\n"
    );
    let question = ["-c", "import sys; print(sys.executable)"];
    let Ok(output) = Command::new("python3").args(question).output() else {
        eprintln!("skipped: no python3");
        return None;
    };
    let program = String::from_utf8(output.stdout).unwrap();
    Some(run_alone(&launch(&[program.trim(), "-c", &format!("{prelude}{script}")])))
}

/// The number of processes of this name in the process table, including zombies.
fn left_of(name: &str) -> usize {
    let has_name = |entry: &std::fs::DirEntry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        stat.contains(&format!("({name})"))
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter(has_name).count()
}

fn not_emulated(run: &Alone) -> &str {
    let Ending::NotEmulated(text) = &run.ending else { panic!("{:?} {}", run.ending, run.stderr) };
    text
}

fn stuck(run: &Alone) -> &str {
    let Ending::Stuck(text) = &run.ending else { panic!("{:?} {}", run.ending, run.stderr) };
    text
}

#[test]
fn children_that_nobody_waits_for_are_counted_and_leave_the_table() {
    let script = "while True:\n if os.fork() == 0: os._exit(0)";
    let Some(run) = python("unwaited-9731", script) else { return };
    assert!(stuck(&run).contains("more than 256 threads, "), "{}", stuck(&run));
    assert!(stuck(&run).contains("children that ended and that nobody waited for"));
    assert_eq!(left_of("unwaited-9731"), 0);
}

#[test]
fn children_of_processes_that_ended_leave_the_table() {
    let script = "for turn in range(300):\n \
                  child = os.fork()\n \
                  if child == 0:\n  \
                   if os.fork() == 0: os._exit(0)\n  \
                   time.sleep(0.01)\n  \
                   os._exit(os.fork() and 7)\n \
                  assert os.waitpid(child, 0)[1] in (0, 7 << 8)\n\
                  print('over')";
    let Some(run) = python("orphans-9731", script) else { return };
    assert_eq!((run.ending, run.stdout.as_str()), (Ending::Exited(0), "over\n"), "{}", run.stderr);
    assert_eq!(left_of("orphans-9731"), 0);
}

#[test]
fn a_parent_that_ignores_its_children_has_none_to_wait_for() {
    let script = "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n\
                  for turn in range(400):\n \
                  if os.fork() == 0: os._exit(0)\n \
                  time.sleep(0.001)\n\
                  try: os.wait()\n\
                  except ChildProcessError: print('none')";
    let Some(run) = python("ignored-9731", script) else { return };
    assert_eq!((run.ending, run.stdout.as_str()), (Ending::Exited(0), "none\n"), "{}", run.stderr);
}

#[test]
fn a_process_that_asks_not_to_be_traced_ends_with_the_run() {
    // clone(CLONE_UNTRACED | SIGCHLD), and CLONE_PARENT.
    let script = "for flags in (0x00800011, 0x00808011):\n \
                  if libc.syscall(56, flags, 0, 0, 0, 0) == 0:\n  \
                   while True: time.sleep(1000)\n\
                  time.sleep(1)";
    let Some(run) = python("untraced-9731", script) else { return };
    assert_eq!(run.ending, Ending::Exited(0), "{}", run.stderr);
    assert_eq!(left_of("untraced-9731"), 0);
    // CLONE_NEWPID
    let script = "print(libc.syscall(56, 0x20000011, 0, 0, 0, 0))";
    let Some(run) = python("untraced-9731", script) else { return };
    assert_eq!(run.stdout, "-1\n");
}

#[test]
fn a_32_bit_call_is_refused_by_name() {
    // mov eax, 20; int 0x80; ret
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

/// A 32-bit program of one page that ends with the status 3.
fn small_elf() -> Vec<u8> {
    let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x03\0".to_vec();
    // Header: version, entry, place of the only segment; sizes and counts.
    let header = [1u32, 0x0804_8054, 52, 0, 0, 52 | 32 << 16, 1, 0];
    // The segment: all of the file, to be run.
    let segment = [1u32, 0, 0x0804_8000, 0x0804_8000, 94, 94, 5, 4096];
    header.into_iter().chain(segment).for_each(|word| file.extend(word.to_le_bytes()));
    // mov eax, 1; mov ebx, 3; int 0x80
    file.extend(*b"\xb8\x01\0\0\0\xbb\x03\0\0\0\xcd\x80");
    file
}

#[test]
fn the_time_stamp_counter_stays_virtual_whatever_is_asked_for() {
    // rdtsc; shl rdx, 32; or rax, rdx; ret
    let script = "print(libc.prctl(26, 1, 0, 0, 0))\n\
                  ticks = code('0f3148c1e2204809d0c3')\n\
                  print(abs(ticks() - time.monotonic_ns()) < 1_000_000)";
    let Some(run) = python("ticks-9731", script) else { return };
    assert_eq!(run.stdout, "0\nTrue\n", "{:?} {}", run.ending, run.stderr);
}

#[test]
fn memory_that_outlives_a_run_is_refused_by_name() {
    let Some(run) = python("segment-9731", "libc.shmget(0, 4096, 0o1600)") else { return };
    assert!(not_emulated(&run).contains("shmget"), "{}", not_emulated(&run));
}

#[test]
fn what_would_leak_is_emulated_by_whatever_path() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link").display().to_string();
    let script = format!(
        "head -c 8 /dev/../dev/./urandom | od -An -tx1; cd /proc; cat uptime; cat self/../loadavg; \
         cat self/stat $$/stat; cd /dev; head -c 8 urandom | od -An -tx1; \
         ln -s /dev/urandom {link}; head -c 8 {link} | od -An -tx1; rm {link}; \
         ln -s /proc/uptime {link}; cat {link}; rm {link}"
    );
    let (one, other) = (shell(&script), shell(&script));
    assert_eq!(one.stdout, other.stdout);
    assert_eq!(one.stdout.matches("1000.00 1000.00\n").count(), 2, "{}", one.stdout);
    assert!(one.stdout.contains("\n0.00 0.00 0.00 1/100 1000\n"), "{}", one.stdout);
    assert!(one.stdout.contains("(cat) R 1001 "), "{}", one.stdout);
    assert!(one.stdout.contains("\n1001 (sh) R 1 1001 1001 0 -1 "), "{}", one.stdout);
}

#[test]
fn a_program_that_signals_itself_without_end_is_named() {
    let storm = "signal.signal(signal.SIGUSR1, lambda *_: None)\n\
                 while True: os.kill(os.getpid(), signal.SIGUSR1)";
    // A handler that returns to the faulting instruction.
    let faults = "signal.signal(signal.SIGSEGV, lambda *_: None)\nctypes.string_at(8)";
    for script in [storm, faults] {
        let Some(run) = python("storm-9731", script) else { return };
        assert!(stuck(&run).contains("without waiting for anything"), "{}", stuck(&run));
    }
}

#[test]
fn a_program_that_becomes_itself_without_end_is_named() {
    let again = "exec /bin/sh -c \"$AGAIN\"";
    let mut launch = launch(&["/bin/sh", "-c", again]);
    launch.environment.insert("AGAIN".to_owned(), again.to_owned());
    let endless = run_alone(&launch);
    assert!(stuck(&endless).contains("without waiting for anything"), "{}", stuck(&endless));
}

#[test]
fn a_program_that_stops_itself_is_named() {
    let run = shell("kill -STOP $$; echo went on");
    assert!(not_emulated(&run).contains("SIGSTOP to process 1001"), "{}", not_emulated(&run));
}

#[test]
fn the_sender_of_a_signal_has_the_number_that_the_program_knows() {
    let script = "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGUSR1})\n\
                  child = os.fork()\n\
                  if child == 0: os.kill(os.getppid(), signal.SIGUSR1); os._exit(0)\n\
                  for one in (signal.SIGUSR1, signal.SIGCHLD):\n \
                  print(signal.sigwaitinfo({one}).si_pid == child)";
    let Some(run) = python("sender-9731", script) else { return };
    assert_eq!(run.stdout, "True\nTrue\n", "{:?} {}", run.ending, run.stderr);
}

/// The number of stops at clock reads, and of reads without a stop.
fn looks_of(run: &Alone) -> (usize, u64) {
    let is_clock = |call: &&CallMade| {
        fencepost_programs::name_of_call(call.number).starts_with("clock_gettime")
    };
    let looks = run.calls.iter().map(|call| u64::from(call.looks));
    (run.calls.iter().filter(is_clock).count(), looks.sum())
}

#[test]
fn looks_at_the_clock_need_no_stop_and_take_time() {
    let script = "began = time.monotonic_ns()\n\
                  for turn in range(1000): time.time(); ended = time.monotonic_ns()\n\
                  print(1_900_000 < ended - began < 2_300_000, int(time.time()) == 1700000000)\n\
                  print('vdso' in open('/proc/self/maps').read())";
    let Some(run) = python("looks-9731", script) else { return };
    let (stops, looks) = looks_of(&run);
    assert!(stops < 100 && looks > 1_900, "{stops} {looks}");
    // 100 ns each, and 2 us from the thousandth on.
    assert_eq!(run.stdout, "True True\nFalse\n", "{}", run.stderr);
}

#[test]
fn a_static_binary_and_go_look_at_the_clock_without_a_stop() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let c = "#include <time.h>\nint main() { struct timespec t; for (int i = 0; i < 900; i++) \
             clock_gettime(i % 2, &t); return 3; }";
    let go = "package main\nimport (\"os\"; \"time\")\nfunc main() { began := time.Now(); for i := \
              0; i < 450; i++ { if time.Now().Before(began) { os.Exit(1) } }; os.Exit(3) }";
    std::fs::write(at("a.c"), c).unwrap();
    std::fs::write(at("a.go"), go).unwrap();
    let (in_c, in_go) = (["cc", "-static", "-o"].as_slice(), ["go", "build", "-o"].as_slice());
    for (compiler, source) in [(in_c, "a.c"), (in_go, "a.go")] {
        let mut command = Command::new(compiler[0]);
        command.env("CGO_ENABLED", "0").env("GO111MODULE", "off");
        let made = command.args(&compiler[1..]).args([at("program"), at(source)]).status();
        if !made.is_ok_and(|status| status.success()) {
            eprintln!("skipped: no {compiler:?}");
            continue;
        }
        let run = run_alone(&launch(&[&at("program")]));
        let (stops, looks) = looks_of(&run);
        assert_eq!(run.ending, Ending::Exited(3), "{compiler:?}: {}", run.stderr);
        assert!(stops < 50 && looks >= 850, "{compiler:?}: {stops} {looks}");
    }
}

#[test]
fn forked_processes_have_clocks_of_their_own() {
    let script = "for turn in range(3):\n \
                  child = os.fork()\n \
                  seen = [time.monotonic_ns() for look in range(300)]\n \
                  if child == 0: time.sleep(1); print(time.monotonic_ns() - seen[0] > 10**9, flush=True)\n \
                  assert seen == sorted(seen)\n \
                  if child == 0: os._exit(0)\n\
                  for turn in range(3): os.wait()";
    let Some(one) = python("clocks-9731", script) else { return };
    assert_eq!(one.stdout, "True\nTrue\nTrue\n", "{:?} {}", one.ending, one.stderr);
    let Some(other) = python("clocks-9731", script) else { return };
    assert_eq!(one.calls, other.calls);
}

#[test]
fn a_thread_that_looks_at_the_clock_lets_others_run() {
    let script = "import threading\n\
                  done = []\n\
                  threading.Thread(target=lambda: done.append(1)).start()\n\
                  while not done: time.monotonic()\n\
                  print('seen')";
    let Some(run) = python("turns-9731", script) else { return };
    assert_eq!((run.ending, run.stdout.as_str()), (Ending::Exited(0), "seen\n"), "{}", run.stderr);
    assert_eq!(run.preempted, 0);
}

#[test]
fn datagrams_go_to_oneself_and_to_the_resolver() {
    let script = "from socket import *\n\
                  def ask(name, kind):\n \
                  labels = b''.join(bytes([len(x)]) + x.encode() for x in name.split('.'))\n \
                  one = socket(AF_INET, SOCK_DGRAM); one.settimeout(2)\n \
                  head = bytes([7, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0])\n \
                  question = head + labels + bytes([0, 0, kind, 0, 1])\n \
                  one.sendto(question, ('10.0.255.53', 53))\n \
                  answer, sender = one.recvfrom(512)\n \
                  return answer[:4].hex(), answer[len(question) + 12:].hex(), sender\n\
                  one, other = socket(AF_INET, SOCK_DGRAM), socket(AF_INET, SOCK_DGRAM)\n\
                  one.bind(('127.0.0.1', 5000)); other.connect(('127.0.0.1', 5000))\n\
                  other.send(b'hello'); other.send(b'again')\n\
                  print(one.recvfrom(3)[0], one.recvfrom(9)[1] == other.getsockname())\n\
                  one.settimeout(0.5)\n\
                  try: one.recv(9)\n\
                  except TimeoutError: print('nothing')\n\
                  other.connect(('10.0.0.2', 7)); other.send(b'x')\n\
                  try: other.recv(9)\n\
                  except ConnectionRefusedError: print('refused')\n\
                  print(ask('Nobody', 1), ask('no.such', 1), ask('nobody', 28))\n\
                  print(open('/etc/resolv.conf').read(), end='')";
    let Some(run) = python("datagrams-9731", script) else { return };
    let resolver = "('10.0.255.53', 53)";
    let said = format!(
        "b'hel' True\nnothing\nrefused\n('07098180', '0a000002', {resolver}) \
         ('07098183', '', {resolver}) ('07098180', '', {resolver})\nnameserver 10.0.255.53\n"
    );
    assert_eq!(run.stdout, said, "{:?} {}", run.ending, run.stderr);
    assert_eq!(run.elapsed_us / 100_000, 5, "{}", run.elapsed_us);
}

#[test]
fn a_program_sees_two_interfaces_of_its_machine() {
    let script = "from socket import *\nimport fcntl, struct\n\
                  one = socket(AF_INET, SOCK_DGRAM)\n\
                  def ask(question, name='eth0'):\n \
                  return fcntl.ioctl(one, question, struct.pack('40s', name.encode()))[16:24].hex()\n\
                  print(if_nameindex(), ask(0x8915), ask(0x8927), ask(0x8913, 'lo'))\n\
                  try: ask(0x8915, 'wlan0')\n\
                  except OSError as error: print(error.errno)";
    let Some(run) = python("interfaces-9731", script) else { return };
    let said = "[(1, 'lo'), (2, 'eth0')] 020000000a000001 010002420a000001 4900000000000000\n19\n";
    assert_eq!(run.stdout, said, "{:?} {}", run.ending, run.stderr);
    if Command::new("node").arg("--version").output().is_err() {
        eprintln!("skipped: no node");
        return;
    }
    let script = "for (const [name, all] of Object.entries(os.networkInterfaces())) \
                  console.log(name, all.map(one => [one.cidr, one.mac, one.internal].join()).join())";
    let run = run_alone(&launch(&["node", "-e", script]));
    let said = "lo 127.0.0.1/8,00:00:00:00:00:00,true\neth0 10.0.0.1/16,02:42:0a:00:00:01,false\n";
    assert_eq!(run.stdout, said, "{:?} {}", run.ending, run.stderr);
}

#[test]
fn a_process_knows_its_number_without_a_stop_and_so_does_its_child() {
    let script = "for turn in range(500): assert os.getpid() == 1001\n\
                  child = os.fork()\n\
                  for turn in range(500): assert os.getpid() == (child and 1001 or 1002)\n\
                  if child == 0: os._exit(0)\n\
                  assert os.waitpid(child, 0) == (1002, 0)\n\
                  import subprocess\n\
                  print(subprocess.run(['sh', '-c', 'echo $$'], stdout=subprocess.PIPE).stdout)\n\
                  print(os.getpid())";
    let Some(run) = python("number-9731", script) else { return };
    assert_eq!(run.stdout, "b'1003\\n'\n1001\n", "{:?} {}", run.ending, run.stderr);
    let name = |call: &&CallMade| fencepost_programs::name_of_call(call.number) == "getpid";
    let stops = run.calls.iter().filter(name).count();
    assert!(stops < 10, "{stops}");
}

#[test]
fn descriptors_can_be_opened_by_their_names() {
    let script = "echo told > /dev/stderr; echo said > /dev/fd/1; echo heard | cat /dev/stdin; \
                  echo too >> /dev/stdout";
    let run = shell(script);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("said\nheard\ntoo\n", "told\n"));
}

#[test]
fn what_others_use_of_the_machine_is_hidden() {
    let files = "/proc/cgroups /proc/self/cgroup /proc/$$/cgroup /sys/fs/cgroup/cgroup.controllers";
    let run = shell(&format!("cat {files} && echo seen"));
    assert_eq!((run.ending, run.stdout.as_str()), (Ending::Exited(1), ""));
    assert_eq!(run.stderr.matches("No such file").count(), 4, "{}", run.stderr);
}
