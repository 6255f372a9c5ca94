//! Links the address sanitizer of the C compiler, which rustc's way of calling the linker leaves
//! out: whole and statically, so that its malloc comes before that of the C library.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=FENCEPOST_LUA_SANITIZER");
    println!("cargo:rerun-if-env-changed=SANITIZE_RUST");
    let is_set = |name| std::env::var_os(name).is_some();
    if !is_set("FENCEPOST_LUA_SANITIZER") || is_set("SANITIZE_RUST") {
        return;
    }
    let found = Command::new("cc").arg("-print-file-name=libasan.a").output();
    let path = found.map(|found| String::from_utf8_lossy(&found.stdout).trim().to_owned());
    let path = path.expect("a C compiler is wanted");
    println!("cargo:rustc-link-arg-bins=-Wl,--whole-archive,{path},--no-whole-archive");
}
