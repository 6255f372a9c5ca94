use crate::{python, shell, stuck};
use fencepost_programs::{CallMade, Ending};

#[test]
fn a_shell_with_pipes_and_children_ends_as_it_should() {
    let run = shell("x=$(printf 'b\\na\\n' | sort | tr '\\n' ' '); echo \"$x\"; (exit 4)");
    assert_eq!((run.ending, run.stdout.as_str()), (Ending::Exited(4), "a b \n"));
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

fn left_of(name: &str) -> usize {
    let has_name = |entry: &std::fs::DirEntry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        stat.contains(&format!("({name})"))
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter(has_name).count()
}

#[test]
fn children_that_nobody_waits_for_are_counted_and_leave_the_table() {
    let script = "while True:\n if os.fork() == 0: os._exit(0)";
    let Some(run) = python("unwaited-9731", script) else { return };
    assert!(stuck(&run).contains("more than 256 threads, "), "{}", stuck(&run));
    assert!(stuck(&run).contains("zombie processes"));
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
    // Call `clone` with CLONE_UNTRACED and SIGCHLD, and then also with CLONE_PARENT.
    let script = "for flags in (0x00800011, 0x00808011):\n \
                  if libc.syscall(56, flags, 0, 0, 0, 0) == 0:\n  \
                   while True: time.sleep(1000)\n\
                  time.sleep(1)";
    let Some(run) = python("untraced-9731", script) else { return };
    assert_eq!(run.ending, Ending::Exited(0), "{}", run.stderr);
    assert_eq!(left_of("untraced-9731"), 0);
    let script = "print(libc.syscall(56, 0x20000011, 0, 0, 0, 0))";
    let Some(run) = python("untraced-9731", script) else { return };
    assert_eq!(run.stdout, "-1\n");
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
fn timeout_ends_its_own_process_group_and_not_the_worker() {
    let run = shell("timeout 1 sleep 5; echo $?; timeout -s KILL 1 sleep 5; echo $?; echo lives");
    assert_eq!((run.ending, run.stdout.as_str()), (Ending::Exited(0), "124\n137\nlives\n"));
    assert!((2_000_000..3_000_000).contains(&run.elapsed_us), "{}", run.elapsed_us);
}

#[test]
fn a_signal_to_all_processes_spares_the_sender_and_the_first_process() {
    let script = "children = []\n\
                  for turn in range(3):\n \
                  children.append(os.fork())\n \
                  if children[-1] == 0:\n  \
                   if turn == 2: os.kill(-1, 15); os._exit(5)\n  \
                   if turn == 1: os.setsid()\n  \
                   time.sleep(60)\n\
                  print([os.waitpid(child, 0)[1] for child in children])";
    let Some(run) = python("everyone-9731", script) else { return };
    assert_eq!(run.stdout, "[15, 15, 1280]\n", "{:?} {}", run.ending, run.stderr);
}
