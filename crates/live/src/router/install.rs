//! The systemd unit of an instance.

use super::arguments::{InstallArguments, RunArguments, UninstallArguments};
use crate::error::{LiveError, Result};
use std::path::{Path, PathBuf};

/// A unit's place under a root directory.
fn place(root: &Path, device: &str) -> Result<PathBuf> {
    // The kernel allows more in a device's name than a unit's may have.
    if device.is_empty() || !device.chars().all(|char| char.is_ascii_alphanumeric() || "_.:-".contains(char)) {
        let expected = "letters, digits, \"_\", \".\", \":\" and \"-\"";
        return Err(LiveError::new(format!(
            "device is \"{device}\"; expected {expected} in the name of a unit's device"
        )));
    }
    Ok(root.join("etc/systemd/system").join(format!("netlull-router-{device}.service")))
}

/// A word as systemd reads it in a command line (systemd.syntax(7), systemd.service(5)).
fn quoted(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    let is_plain =
        !escaped.is_empty() && escaped.chars().all(|char| char.is_ascii_alphanumeric() || "/.:=_-%$".contains(char));
    if is_plain { escaped } else { format!("\"{escaped}\"") }
}

/// The unit's text.
fn unit(program: &Path, run: &RunArguments) -> String {
    let program = quoted(&program.display().to_string());
    let words: Vec<_> = run.words().iter().map(|word| quoted(word)).collect();
    let (device, words) = (quoted(&run.dev), words.join(" "));
    let state = quoted(&run.state.display().to_string());
    format!(
        "\
[Unit]
Description=netlull gateway on {name}
Documentation=https://github.com/netlull/netlull
After=network.target

[Service]
ExecStart={program} router run {words}
ExecStopPost={program} router restore --dev {device} --state {state}
# The watch outlives a daemon that is killed, and puts its queue back; systemd's own way is ExecStopPost.
KillMode=mixed
Restart=on-failure
RestartSec=2
RuntimeDirectory=netlull
RuntimeDirectoryPreserve=yes
User=root
CapabilityBoundingSet=CAP_NET_ADMIN CAP_BPF CAP_NET_RAW CAP_SYS_NICE
AmbientCapabilities=CAP_NET_ADMIN CAP_BPF CAP_NET_RAW CAP_SYS_NICE
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
ReadWritePaths=-/var/lib/netlull
RestrictAddressFamilies=AF_NETLINK AF_UNIX AF_INET AF_INET6
LockPersonality=yes
LimitRTPRIO=10

[Install]
WantedBy=multi-user.target
",
        name = run.dev
    )
}

/// Writes the unit, or says what it would be.
///
/// # Errors
/// If it cannot be written.
pub(super) fn install(arguments: &InstallArguments) -> Result<()> {
    let (root, run) = (&arguments.root, &arguments.run);
    let path = place(root, &run.dev)?;
    let program = std::env::current_exe().map_err(|error| LiveError::system("where this program is", error))?;
    let text = unit(&program, run);
    if run.dry_run {
        println!("would write {}:\n{text}", path.display());
        return Ok(());
    }
    let cannot = |error: std::io::Error| LiveError::system(path.display(), error);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(cannot)?;
    }
    std::fs::write(&path, text).map_err(cannot)?;
    println!("{}", path.display());
    if root == Path::new("/") {
        println!("next: systemctl daemon-reload && systemctl enable --now netlull-router-{}", run.dev);
    }
    Ok(())
}

/// Removes the unit; nothing happens if there is none.
///
/// # Errors
/// If it cannot be removed.
pub(super) fn uninstall(arguments: &UninstallArguments) -> Result<()> {
    let device = &arguments.device.dev;
    let path = place(&arguments.root, device)?;
    if arguments.dry_run {
        println!("would remove {}", path.display());
        return Ok(());
    }
    match std::fs::remove_file(&path) {
        Ok(()) => println!("{} removed", path.display()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => println!("{} is not there", path.display()),
        Err(error) => return Err(LiveError::system(path.display(), error)),
    }
    if arguments.root == Path::new("/") {
        println!("next: systemctl disable --now netlull-router-{device}; systemctl daemon-reload");
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_systemd_reads_them() {
        assert_eq!(quoted("/usr/bin/netlulld"), "/usr/bin/netlulld");
        assert_eq!(quoted("20 Mb/s"), "\"20 Mb/s\"");
        assert_eq!(quoted("a\"b%c$"), "\"a\\\"b%%c$$\"");
        assert_eq!(quoted(""), "\"\"");
    }

    #[test]
    fn a_units_name_is_that_of_a_device() {
        let root = Path::new("/r");
        assert_eq!(place(root, "eth0.7").unwrap(), Path::new("/r/etc/systemd/system/netlull-router-eth0.7.service"));
        assert!(place(root, "../../x").is_err());
        assert!(place(root, "").is_err());
    }
}
