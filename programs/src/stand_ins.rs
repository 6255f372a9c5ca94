//! The machine that programs are shown: files that stand in for the system's.

use crate::interface::Launch;
use std::fs::{self, File, FileTimes};
use std::io;
use std::time::SystemTime;
use tempfile::TempDir;

/// How many processors a program sees.
pub(crate) const PROCESSORS: u32 = 2;

/// How much memory it sees, in bytes.
pub(crate) const MEMORY: u64 = 8 << 30;

/// Files that stand in for the system's: which, and the name of ours.
pub(crate) const STAND_INS: &[(&str, &str)] = &[
    ("/etc/hosts", "hosts"),
    ("/etc/resolv.conf", "resolv.conf"),
    ("/etc/nsswitch.conf", "nsswitch.conf"),
    ("/etc/hostname", "hostname"),
    ("/proc/sys/kernel/hostname", "hostname"),
    ("/etc/machine-id", "machine-id"),
    ("/var/lib/dbus/machine-id", "machine-id"),
    ("/proc/sys/kernel/random/boot_id", "boot_id"),
    ("/proc/sys/kernel/random/uuid", "boot_id"),
    ("/proc/uptime", "uptime"),
    ("/proc/loadavg", "loadavg"),
    ("/proc/meminfo", "meminfo"),
    ("/proc/stat", "stat"),
    ("/sys/devices/system/cpu/online", "processors"),
    ("/sys/devices/system/cpu/possible", "processors"),
    ("/sys/devices/system/cpu/present", "processors"),
];

/// Writes the files that stand in for the system's.
pub(crate) fn stand_ins(launch: &Launch) -> io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("fencepost-").tempdir()?;
    let mut hosts = String::from("127.0.0.1 localhost\n");
    for (name, address) in &launch.hosts {
        hosts.push_str(&format!("{address} {name}\n"));
    }
    let memory_kb = MEMORY / 1024;
    let cpu = "cpu  0 0 0 0 0 0 0 0 0 0\n";
    let each: String =
        (0..PROCESSORS).map(|one| cpu.replace("cpu ", &format!("cpu{one}"))).collect();
    let texts = [
        ("hosts", hosts),
        ("resolv.conf", String::new()),
        ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n".to_owned()),
        ("hostname", format!("{}\n", launch.host_name)),
        ("machine-id", format!("{:032x}\n", launch.seed)),
        ("boot_id", format!("00000000-0000-4000-8000-{:012x}\n", launch.seed & 0xffff_ffff_ffff)),
        ("uptime", "1000.00 1000.00\n".to_owned()),
        ("loadavg", "0.00 0.00 0.00 1/100 1000\n".to_owned()),
        (
            "meminfo",
            format!(
                "MemTotal: {memory_kb} kB\nMemFree: {0} kB\nMemAvailable: {0} kB\n",
                memory_kb / 2
            ),
        ),
        ("stat", format!("{cpu}{each}btime 1700000000\n")),
        ("processors", format!("0-{}\n", PROCESSORS - 1)),
    ];
    for (name, text) in texts {
        let path = folder.path().join(name);
        fs::write(&path, text)?;
        let epoch = FileTimes::new()
            .set_accessed(SystemTime::UNIX_EPOCH)
            .set_modified(SystemTime::UNIX_EPOCH);
        File::options().write(true).open(&path)?.set_times(epoch)?;
    }
    Ok(folder)
}
