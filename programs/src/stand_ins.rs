//! Texts that programs read instead of the system's files.

use crate::interface::Launch;
use crate::sys::memory::file_in_memory;
use std::fs::{File, FileTimes};
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::time::SystemTime;

pub(crate) const RESOLVER: Ipv4Addr = Ipv4Addr::new(10, 0, 255, 53);

pub(crate) const PROCESSORS: u32 = 2;

pub(crate) const MEMORY: u64 = 8 << 30;

pub(crate) const STAND_INS: &[(&str, &str)] = &[
    ("/etc/hosts", "hosts"),
    ("/etc/resolv.conf", "resolv.conf"),
    ("/etc/nsswitch.conf", "nsswitch.conf"),
    ("/proc/net/if_inet6", "if_inet6"),
    ("/etc/hostname", "hostname"),
    ("/proc/sys/kernel/hostname", "hostname"),
    ("/etc/machine-id", "machine-id"),
    ("/var/lib/dbus/machine-id", "machine-id"),
    ("/proc/sys/kernel/random/boot_id", "boot_id"),
    ("/proc/uptime", "uptime"),
    ("/proc/loadavg", "loadavg"),
    ("/proc/meminfo", "meminfo"),
    ("/proc/stat", "stat"),
    ("/proc/sys/vm/overcommit_memory", "overcommit"),
    ("/proc/sys/net/core/somaxconn", "somaxconn"),
    ("/sys/kernel/mm/transparent_hugepage/enabled", "huge-pages"),
    ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "clock-source"),
    ("/sys/devices/system/cpu/online", "processors"),
    ("/sys/devices/system/cpu/possible", "processors"),
    ("/sys/devices/system/cpu/present", "processors"),
];

pub(crate) fn file_with(text: &str) -> io::Result<File> {
    let mut file = file_in_memory()?;
    file.write_all(text.as_bytes())?;
    let epoch = SystemTime::UNIX_EPOCH;
    file.set_times(FileTimes::new().set_accessed(epoch).set_modified(epoch))?;
    Ok(file)
}

/// Returns a line with a UUID of version 4 that consists of `random` and the version's fixed bits.
pub(crate) fn uuid(random: u128) -> String {
    let bits = random & !(0xf << 76 | 0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let digits = format!("{bits:032x}");
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    parts.join("-") + "\n"
}

pub(crate) fn stand_in(launch: &Launch, path: &str) -> Option<String> {
    let (_, name) = STAND_INS.iter().find(|(known, _)| *known == path)?;
    let memory_kb = MEMORY / 1024;
    Some(match *name {
        "hosts" => {
            let hosts = launch.hosts.iter().chain(&launch.aliases);
            let hosts = hosts.map(|(name, address)| format!("{address} {name}\n"));
            format!("127.0.0.1 localhost\n{}", hosts.collect::<String>())
        }
        "resolv.conf" => format!("nameserver {RESOLVER}\n"),
        "if_inet6" => String::new(),
        "nsswitch.conf" => "passwd: files\ngroup: files\nhosts: files\n".to_owned(),
        "hostname" => format!("{}\n", launch.host_name),
        "machine-id" => format!("{:032x}\n", launch.machine_seed),
        "boot_id" => uuid(launch.machine_seed.into()),
        "uptime" => "1000.00 1000.00\n".to_owned(),
        "loadavg" => "0.00 0.00 0.00 1/100 1000\n".to_owned(),
        "meminfo" => format!(
            "MemTotal: {memory_kb} kB\nMemFree: {0} kB\nMemAvailable: {0} kB\n",
            memory_kb / 2
        ),
        "overcommit" => "1\n".to_owned(),
        "somaxconn" => "4096\n".to_owned(),
        "huge-pages" => "always [madvise] never\n".to_owned(),
        "clock-source" => "tsc\n".to_owned(),
        "stat" => {
            let of = |which: &str| format!("cpu{which} 0 0 0 0 0 0 0 0 0 0\n");
            let each: String = (0..PROCESSORS).map(|one| of(&one.to_string())).collect();
            format!("{}{each}btime 1700000000\n", of(" "))
        }
        _ => format!("0-{}\n", PROCESSORS - 1),
    })
}
