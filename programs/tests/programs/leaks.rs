use crate::alone::{launch, run_alone};
use crate::{run_c, shell};
use fencepost_programs::{Ending, Launch};
use std::collections::BTreeSet;
use std::process::Command;

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
fn each_reader_gets_a_new_uuid_and_two_runs_get_the_same() {
    let file = "/proc/sys/kernel/random/uuid";
    let script = format!("cat {file}; cat {file}; read one < {file}; echo $one");
    let (one, other) = (shell(&script), shell(&script));
    assert_eq!(one.stdout, other.stdout);
    let uuids: BTreeSet<&str> = one.stdout.lines().collect();
    assert_eq!(uuids.len(), 3, "{}", one.stdout);
    for uuid in uuids {
        let parts: Vec<&str> = uuid.split('-').collect();
        let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{uuid}");
        assert!(parts[2].starts_with('4') && parts[3].starts_with(['8', '9', 'a', 'b']), "{uuid}");
    }
}

#[test]
fn a_machine_keeps_its_ids_when_the_program_starts_again() {
    let ids = |seed, machine_seed| {
        let files = "cat /etc/machine-id /proc/sys/kernel/random/boot_id";
        let launch = Launch { seed, machine_seed, ..launch(&["/bin/sh", "-c", files]) };
        run_alone(&launch).stdout
    };
    assert_eq!(ids(7, 1).lines().map(str::len).collect::<Vec<_>>(), [32, 36]);
    assert_eq!(ids(7, 1), ids(8, 1));
    assert_ne!(ids(7, 1), ids(7, 2));
}

#[test]
fn a_leak_that_is_not_emulated_shows_as_a_difference_between_two_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made").display().to_string();
    let script = format!("rm -f {path}; : > {path}; stat -c %y {path}");
    let (one, other) = (shell(&script), shell(&script));
    assert_ne!(one.stdout, other.stdout);
    assert_ne!(one.calls, other.calls);
}

/// Runs, twice in the same folder, a program that leaves temporary files behind. Returns `true` if
/// both runs made the same calls, and the names of the files that remain.
fn run_twice_in_folder(is_temporary: bool) -> (bool, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    std::fs::write(path.join("earlier"), "").unwrap();
    let script = format!(
        "cd {}; name=$(od -An -N4 -tx4 /dev/urandom | tr -d ' '); mkdir $name-folder; \
         : >$name-folder/inner; : >log; set -C; : >$name-file; kill -9 $$",
        path.display()
    );
    let mut launch = launch(&["/bin/sh", "-c", &script]);
    launch.temporary = if is_temporary { vec![path.clone()] } else { Vec::new() };
    let (one, other) = (run_alone(&launch), run_alone(&launch));
    assert_eq!(one.ending, Ending::Killed(9), "{}", one.stderr);
    let left = std::fs::read_dir(&path).unwrap().flatten().map(|one| one.file_name());
    let mut left: Vec<String> = left.map(|name| name.display().to_string()).collect();
    left.sort_unstable();
    (one.calls == other.calls, left)
}

#[test]
fn temporary_files_of_one_run_do_not_change_the_next() {
    let (is_same, left) = run_twice_in_folder(false);
    assert_eq!((is_same, left.len()), (false, 4), "{left:?}");
    assert_eq!(run_twice_in_folder(true), (true, vec!["earlier".to_owned(), "log".to_owned()]));
}

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
    let run = || std::thread::spawn(|| run_c(source)).join().unwrap();
    let (Some(one), Some(other)) = (run(), run()) else { return };
    assert_eq!(one.stdout == other.stdout, one.calls == other.calls, "{}", one.stdout);
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
fn files_in_shared_memory_do_not_outlive_the_run_that_created_them() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let name = folder.path().file_name().unwrap().display().to_string();
    let at = |what: &str| std::path::PathBuf::from(format!("/dev/shm/{name}-{what}"));
    std::fs::write(at("earlier"), "").unwrap();
    let script = format!(
        "cd /dev/shm; echo own > {name}-own; ln {name}-own {name}-linked; mv {name}-own \
         {name}-moved; echo more >> {name}-earlier; cat {name}-linked {name}-moved {name}-earlier; \
         perl -e 'syscall({}, \"{name}-created\", 0644)'",
        libc::SYS_creat
    );
    assert_eq!(shell(&script).stdout, "own\nown\nmore\n");
    let there = ["linked", "moved", "created", "earlier"].map(|what| at(what).exists());
    std::fs::remove_file(at("earlier")).unwrap();
    assert_eq!(there, [false, false, false, true]);
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
fn the_status_of_a_process_has_the_numbers_that_the_program_knows() {
    let script = "cat /proc/self/status; (setsid cat /proc/$$/status /proc/self/status)";
    let (one, other) = (shell(script), shell(script));
    assert_eq!(one.stdout, other.stdout);
    let values = |name: &str| -> Vec<&str> {
        one.stdout.lines().filter_map(|line| line.strip_prefix(name)).map(str::trim).collect()
    };
    assert_eq!(values("Pid:"), ["1002", "1001", "1003"]);
    assert_eq!(values("PPid:"), ["1001", "1", "1001"]);
    assert_eq!(values("NSsid:"), ["1001", "1001", "1003"]);
    assert_eq!(values("TracerPid:"), ["0"; 3]);
    assert_eq!(values("Cpus_allowed_list:"), ["0-1"; 3]);
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
