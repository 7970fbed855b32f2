//! Lists the files of `rules/`, so that each is compiled in by being there.

use std::{env, fmt::Write, fs, io, path::Path};

fn main() -> io::Result<()> {
    // As it is when this runs: a build folder may be shared by checkouts.
    let root = env::var_os("CARGO_MANIFEST_DIR")
        .ok_or_else(|| io::Error::other("cargo gives no CARGO_MANIFEST_DIR"))?;
    let folder = Path::new(&root).join("rules");
    println!("cargo::rerun-if-changed=rules");
    let mut names: Vec<String> = fs::read_dir(&folder)?
        .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<_>>()?;
    names.retain(|name| name.ends_with(".yaml") && !name.ends_with(".cases.yaml"));
    names.sort();
    let mut code = "&[\n".to_owned();
    for name in names {
        let path = folder.join(&name);
        let _ = writeln!(code, "    ({name:?}, include_str!({path:?})),");
    }
    code.push(']');
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo gives no OUT_DIR"))?;
    fs::write(Path::new(&out).join("rules.rs"), code)
}
