use crate::alone::{Alone, launch, run_alone};
use crate::{python, run_c, shell};
use fencepost_programs::{CallMade, Ending};
use std::process::Command;

#[test]
fn a_sleep_takes_virtual_time_and_no_other() {
    let run = shell("sleep 3600; date +%s");
    assert_eq!(run.ending, Ending::Exited(0));
    assert!((3_600_000_000..3_610_000_000).contains(&run.elapsed_us), "{}", run.elapsed_us);
    assert!(run.stdout.starts_with("170000360"), "{}", run.stdout);
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

/// Runs `first` in the main thread and `second` in another. Each thread then prints its name.
fn beside_another(declarations: &str, (first, second): (&str, &str)) -> Option<Alone> {
    run_c(&format!(
        "#include <pthread.h>\n#include <unistd.h>\n{declarations}\n\
         static void *other(void *a) {{ {second}; write(1, \"other\\n\", 6); return a; }}\n\
         int main() {{ pthread_t t; pthread_create(&t, 0, other, 0); {first}; \
         write(1, \"first\\n\", 6); pthread_join(t, 0); return 0; }}"
    ))
}

#[test]
fn a_thread_that_spins_for_another_is_interrupted_and_counted() {
    let spins = [
        ("while (!done)", "done = 1"),
        ("while (!done) __builtin_ia32_pause()", "done = 1"),
        ("done = 1; while (__atomic_exchange_n(&done, 1, 5))", "done = 0"),
        ("while (!is_done())", "done = 1"),
    ];
    let declarations = "static volatile int done;\n\
                        __attribute__((noinline)) static int is_done(void) { return done; }";
    for threads in spins {
        let Some(run) = beside_another(declarations, threads) else { return };
        let ended = (run.ending, run.stdout.as_str(), run.preempted);
        assert_eq!(ended, (Ending::Exited(0), "other\nfirst\n", 1), "{threads:?}");
        let again = beside_another(declarations, threads).unwrap();
        assert_eq!(run.calls, again.calls, "{threads:?}");
    }
}

#[test]
fn a_thread_that_computes_for_long_is_not_interrupted() {
    let computations = [
        "for (long i = 0; i < 600000000; i++) { n ^= n << 13; n ^= n >> 7; n ^= n << 17; }",
        "__asm__ volatile(\"1: incl %0; cmpl $300000000, %0; jl 1b\" : \"+m\"(count))",
        "for (int i = 0; i < 12000; i++) __builtin_memset(many, i, sizeof many)",
        "while (x < 3) x *= 1.000000001",
    ];
    let declarations = "static volatile double x = 1;\nstatic volatile int count;\n\
                        static volatile unsigned long n = 1;\nstatic char many[1 << 20];";
    for computation in computations {
        let threads = (computation, "");
        let Some(run) = beside_another(declarations, threads) else { return };
        let ended = (run.ending, run.stdout.as_str(), run.preempted);
        assert_eq!(ended, (Ending::Exited(0), "first\nother\n", 0), "{computation}");
        let again = beside_another(declarations, threads).unwrap();
        assert_eq!(run.calls, again.calls, "{computation}");
    }
}

#[test]
fn threads_that_spin_for_each_other_without_end_are_named() {
    let declarations = "static volatile int done;";
    let Some(run) = beside_another(declarations, ("while (!done)", "while (!done)")) else {
        return;
    };
    let Ending::Stuck(text) = &run.ending else { panic!("{:?}", run.ending) };
    assert!(text.contains("waited 100 times in a loop for another thread"), "{text}");
}

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
    assert!(text.contains("read a clock 300000 times"), "{text}");
}

#[test]
fn the_time_stamp_counter_stays_virtual_whatever_is_asked_for() {
    // Machine code: `rdtsc; shl rdx, 32; or rax, rdx; ret`
    let script = "print(libc.prctl(26, 1, 0, 0, 0))\n\
                  ticks = code('0f3148c1e2204809d0c3')\n\
                  print(abs(ticks() - time.monotonic_ns()) < 1_000_000)";
    let Some(run) = python("ticks-9731", script) else { return };
    assert_eq!(run.stdout, "0\nTrue\n", "{:?} {}", run.ending, run.stderr);
}

fn looks_of(run: &Alone) -> (usize, u64) {
    let is_clock = |call: &&CallMade| {
        fencepost_programs::name_of_call(call.number).starts_with("clock_gettime")
    };
    let looks = run.calls.iter().map(|call| u64::from(call.clock_reads));
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
    // The first thousand clock reads take 100 ns each, and the next thousand 2 µs each.
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
