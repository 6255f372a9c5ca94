//! Builds the Lua that scripts run in: Redis's own, with what lua/README.md lists. mlua is told
//! that it is linked elsewhere, which is here.

use std::{env, fs, io};

fn main() -> io::Result<()> {
    let mut sources = Vec::new();
    for entry in fs::read_dir("lua")? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "c") {
            sources.push(path);
        }
    }
    sources.sort();
    let mut build = cc::Build::new();
    build.files(&sources).include("lua").warnings(false).define("LUA_USE_ULONGJMP", None);
    // Like mlua's own code, it is optimised in every profile: all scripts run in it.
    build.opt_level(3).link_lib_modifier("+whole-archive");
    if env::var_os("FENCEPOST_LUA_SANITIZER").is_some() {
        build.flag("-fsanitize=address").flag("-fno-omit-frame-pointer").debug(true);
    }
    build.try_compile("fencepost_lua").map_err(io::Error::other)?;
    println!("cargo:rerun-if-changed=lua");
    println!("cargo:rerun-if-env-changed=FENCEPOST_LUA_SANITIZER");
    Ok(())
}
