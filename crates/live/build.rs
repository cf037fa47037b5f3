//! Compiles the gateway's eBPF programs.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const SOURCE: &str = "bpf/clamp.bpf.c";

fn compile(object: &Path) -> Result<(), String> {
    let clang = std::env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let mut command = Command::new(&clang);
    command.args(["-target", "bpf", "-O2", "-g", "-Wall", "-Werror", "-c", SOURCE, "-o"]).arg(object);
    // Debian's folders for machine-specific headers, such as asm/types.h.
    for triple in ["x86_64-linux-gnu", "aarch64-linux-gnu", "riscv64-linux-gnu"] {
        let folder = PathBuf::from("/usr/include").join(triple);
        if folder.is_dir() {
            command.arg("-I").arg(folder);
        }
    }
    let needs = "apt-get install clang libbpf-dev linux-libc-dev";
    match command.output() {
        Err(error) => Err(format!("{clang} does not start ({error}); {SOURCE} needs it: {needs}")),
        Ok(done) if !done.status.success() => {
            let said = String::from_utf8_lossy(&done.stderr);
            Err(format!("{clang} does not compile {SOURCE}; if headers are missing: {needs}\n{said}"))
        }
        Ok(_) => Ok(()),
    }
}

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed={SOURCE}");
    println!("cargo::rerun-if-env-changed=CLANG");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    match compile(&folder.join("clamp.bpf.o")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            for line in error.lines() {
                println!("cargo::error={line}");
            }
            ExitCode::FAILURE
        }
    }
}
