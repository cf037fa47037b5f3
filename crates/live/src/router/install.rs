//! The systemd unit of an instance.

use super::arguments::{InstallArguments, RunArguments, UninstallArguments};
use super::file_access::{FileAccess, STAYS};
use super::plan::check_for_unit;
use crate::error::{LiveError, Result, tell};
use serde_json::json;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The path of a unit under a root directory.
fn place(root: &Path, device: &str) -> Result<PathBuf> {
    // The kernel allows more characters in a device's name than systemd in a unit's name.
    if device.is_empty() || !device.chars().all(|char| char.is_ascii_alphanumeric() || "_.-".contains(char)) {
        let expected = "letters, digits, \"_\", \".\" and \"-\"";
        return Err(LiveError::input(format!(
            "device is \"{device}\"; expected {expected} in the name of a unit's device"
        )));
    }
    Ok(root.join("etc/systemd/system").join(format!("netlull-router-{device}.service")))
}

/// Quotes a word for a systemd command line (systemd.syntax(7), systemd.service(5)).
fn quoted(word: &str) -> String {
    let escaped =
        word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$").replace('\n', "\\n");
    let is_plain =
        !escaped.is_empty() && escaped.chars().all(|char| char.is_ascii_alphanumeric() || "/.:=_-%$".contains(char));
    if is_plain { escaped } else { format!("\"{escaped}\"") }
}

/// The unit's text.
fn unit(program: &Path, run: &RunArguments) -> String {
    let program = quoted(&program.display().to_string());
    let words: Vec<_> = run.words().iter().map(|word| quoted(word)).collect();
    let (device, words) = (quoted(&run.dev), words.join(" "));
    format!(
        "\
[Unit]
Description=netlull gateway on {name}
Documentation={home}
After=network.target
# Waits for a device that does not exist yet: see Restart.
StartLimitIntervalSec=0

[Service]
ExecStart={program} router run {words}
ExecStopPost={program} router restore --dev {device}
# The watch process outlives a killed daemon and restores the queue; ExecStopPost does the same for systemd.
KillMode=mixed
Restart=on-failure
# Bad input stays bad.
RestartPreventExitStatus=2
RestartSec=2
RuntimeDirectory=netlull
RuntimeDirectoryMode=0700
RuntimeDirectoryPreserve=yes
# Recordings ({STAYS}): nothing else is writable.
StateDirectory=netlull
StateDirectoryMode=0700
User=root
UMask=0077
CapabilityBoundingSet=CAP_NET_ADMIN CAP_BPF CAP_NET_RAW CAP_SYS_NICE
AmbientCapabilities=CAP_NET_ADMIN CAP_BPF CAP_NET_RAW CAP_SYS_NICE
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
PrivateDevices=yes
PrivateMounts=yes
RestrictAddressFamilies=AF_NETLINK AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
RestrictSUIDSGID=yes
# The metrics are the only sockets; forwarded packets belong to no process.
IPAddressDeny=any
IPAddressAllow=localhost
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
# The program loads eBPF, then gives up more rights itself.
SystemCallFilter=@system-service bpf capset seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self
SystemCallFilter=~@chown @keyring @memlock @setuid
SystemCallErrorNumber=EPERM
LimitRTPRIO=10

[Install]
WantedBy=multi-user.target
",
        name = run.dev,
        home = env!("CARGO_PKG_HOMEPAGE"),
    )
}

/// Writes the unit, or prints it in a dry run.
///
/// # Errors
/// If [`super::run`] or the unit's sandbox would refuse an option, or the unit cannot be written.
pub(super) fn install(arguments: &InstallArguments) -> Result<()> {
    let (root, run) = (&arguments.root, &arguments.run);
    let path = place(root, &run.dev)?;
    check_for_unit(run, root)?;
    let program =
        std::env::current_exe().map_err(|error| LiveError::system("finding the path of this program", error))?;
    let is_this_system = root == Path::new("/");
    if is_this_system {
        FileAccess::Unit { root }.check_program(&program)?;
    }
    let text = unit(&program, run);
    check_own(&path)?;
    let next = format!("systemctl daemon-reload && systemctl enable --now netlull-router-{}", run.dev);
    let next = is_this_system.then_some(next);
    if !run.dry_run {
        write(&path, &text)?;
    }
    if run.json {
        return tell(json!({ "dry_run": run.dry_run, "unit": path, "text": text, "next": next }));
    }
    if run.dry_run {
        return tell(format_args!("would write {}:\n{text}", path.display()));
    }
    tell(path.display())?;
    next.map_or(Ok(()), |next| tell(format_args!("next: {next}")))
}

/// Checks that a unit's file may be replaced or removed. A symbolic link belongs to somebody else: `systemctl mask`
/// creates one.
fn check_own(path: &Path) -> Result<()> {
    match std::fs::read_link(path) {
        Ok(target) => {
            let (path, target) = (path.display(), target.display());
            let message = format!("{path} is a symbolic link to {target}; expected a file, or none (systemctl unmask)");
            Err(LiveError::new(message))
        }
        Err(_) => Ok(()),
    }
}

/// Writes a unit atomically: afterwards the file is either complete or unchanged.
fn write(path: &Path, text: &str) -> Result<()> {
    let cannot = |error: std::io::Error| LiveError::system(path.display(), error);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(cannot)?;
    }
    // systemd ignores the draft, because its name is not that of a unit.
    let draft = path.with_extension("service.new");
    let _ = std::fs::remove_file(&draft);
    let written = File::create_new(&draft).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&draft, path)
    });
    written.map_err(|error| {
        let _ = std::fs::remove_file(&draft);
        cannot(error)
    })
}

/// Removes the unit; does nothing if there is none.
///
/// # Errors
/// If the unit cannot be removed.
pub(super) fn uninstall(arguments: &UninstallArguments) -> Result<()> {
    let device = &arguments.device.dev;
    let path = place(&arguments.root, device)?;
    check_own(&path)?;
    if arguments.dry_run {
        return tell(format_args!("would remove {}", path.display()));
    }
    let done = match std::fs::remove_file(&path) {
        Ok(()) => "removed",
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "does not exist",
        Err(error) => return Err(LiveError::system(path.display(), error)),
    };
    tell(format_args!("{} {done}", path.display()))?;
    if arguments.root == Path::new("/") {
        tell(format_args!("next: systemctl disable --now netlull-router-{device}; systemctl daemon-reload"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_systemd_reads_them() {
        assert_eq!(quoted("/usr/bin/netlulld"), "/usr/bin/netlulld");
        assert_eq!(quoted("20 Mb/s"), "\"20 Mb/s\"");
        assert_eq!(quoted("a\"b%c$"), "\"a\\\"b%%c$$\"");
        assert_eq!(quoted("a\nb"), "\"a\\nb\"", "a line ends a unit's assignment");
        assert_eq!(quoted(""), "\"\"");
    }

    #[test]
    fn a_unit_is_written_whole_and_over_no_link() {
        let folder = std::env::temp_dir().join(format!("netlull-unit-{}", std::process::id()));
        let path = folder.join("netlull-router-eth0.service");
        for text in ["one", "two"] {
            check_own(&path).unwrap();
            write(&path, text).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
            assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "no draft is left");
        }
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        let why = check_own(&path).unwrap_err().to_string();
        assert!(why.contains("is a symbolic link to /dev/null; expected a file, or none"), "{why}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_units_name_is_that_of_a_device() {
        let root = Path::new("/r");
        assert_eq!(place(root, "eth0.7").unwrap(), Path::new("/r/etc/systemd/system/netlull-router-eth0.7.service"));
        assert!(place(root, "../../x").is_err());
        assert!(place(root, "").is_err());
    }
}
