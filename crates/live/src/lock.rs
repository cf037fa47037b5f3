//! The lock of a device: one daemon at a time in a network namespace, regardless of the directory of its state.
//!
//! ```text
//!   daemon ── opens and locks ──► /run/netlull/DAEMON-NAMESPACE-DEVICE.lock ◄── inherits ── guard
//! ```
//!
//! Only the owner of the directory can open its files, so other users can neither hold a lock nor block one. The guard
//! of a daemon inherits the lock and keeps it until all changes are undone. A file without a lock belongs to a dead
//! daemon, and the next daemon removes it.

use crate::clock::Clock;
use crate::error::{LiveError, Result, say};
use crate::namespace;
use netlull_units::{Duration, Instant};
use std::cell::Cell;
use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The directory of the locks, and of the states by default.
pub const DIRECTORY: &str = "/run/netlull";
/// The time for which a start waits until the guard of a dead daemon has undone everything.
const PATIENCE: Duration = Duration::from_secs(3);

/// Writes a file that only its owner may read.
///
/// # Errors
/// If it cannot be written.
pub fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.create(true).write(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

/// Creates a directory for its owner alone, unless it exists. Its parent must exist: a mistyped path makes nothing.
///
/// # Errors
/// If the directory cannot be created, belongs to another user or may be written by others.
pub fn private_directory(directory: &Path) -> Result<()> {
    let cannot = |error: std::io::Error| LiveError::system(directory.display(), error);
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(LiveError::input(format!(
                "{}: expected a directory that exists above it",
                directory.display()
            )));
        }
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(cannot(error)),
        _ => {}
    }
    let found = directory.metadata().map_err(cannot)?;
    let own = nix::unistd::geteuid().as_raw();
    if found.uid() != own || found.mode() & 0o022 != 0 {
        return Err(LiveError::system(
            directory.display(),
            format_args!("user {}, mode {:o}; expected user {own}, mode 700", found.uid(), found.mode() & 0o7777),
        ));
    }
    Ok(())
}

/// The lock of a device in a network namespace.
#[derive(Clone, Debug)]
pub struct DeviceLock {
    path: PathBuf,
    device: String,
}

/// The lock of a device, held while the value exists, and longer if a guard has inherited it.
#[derive(Debug)]
pub struct Held {
    path: PathBuf,
    file: File,
    inherited: Cell<bool>,
}

/// The holder of a device's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The pid of the daemon; `None` while it starts.
    pub pid: Option<u32>,
}

impl Holder {
    /// Returns true if the daemon runs. Otherwise its guard holds the lock.
    #[must_use]
    pub fn is_alive(self) -> bool {
        self.pid.is_some_and(|pid| Path::new("/proc").join(pid.to_string()).exists())
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) if self.is_alive() => write!(f, "the instance with pid {pid}"),
            Some(pid) => write!(f, "the guard of the dead instance with pid {pid}"),
            None => f.write_str("an instance that starts"),
        }
    }
}

impl DeviceLock {
    /// Creates the lock of a kind of daemon, in the network namespace of the calling thread. `key` identifies the
    /// device: its index, which survives a renaming, or its name. `device` is its name in messages.
    ///
    /// # Errors
    /// If the namespace is unknown, because /proc is not mounted.
    pub fn new(daemon: &str, key: impl fmt::Display, device: &str) -> Result<Self> {
        Self::below(Path::new(DIRECTORY), daemon, key, device)
    }

    fn below(directory: &Path, daemon: &str, key: impl fmt::Display, device: &str) -> Result<Self> {
        let namespace = std::fs::metadata(namespace::OWN).map_err(|error| LiveError::system(namespace::OWN, error))?;
        let path = directory.join(format!("{daemon}-{}-{key}.lock", namespace.ino()));
        Ok(Self { path, device: device.to_owned() })
    }

    /// The path of the daemon's state, next to its lock.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.path.with_extension("state")
    }

    fn cannot(&self, error: std::io::Error) -> LiveError {
        LiveError::system(format!("the lock of device \"{}\", {}", self.device, self.path.display()), error)
    }

    fn refused(&self, holder: Holder) -> LiveError {
        LiveError::new(format!("device \"{}\" is controlled by {holder}; expected no instance", self.device))
    }

    /// Locks the device. Waits for the guard of a dead daemon, which undoes its changes.
    ///
    /// # Errors
    /// If another daemon holds the lock; the message names it.
    pub fn hold(&self) -> Result<Held> {
        self.wait()?.map_err(|holder| self.refused(holder))
    }

    /// Locks the device to undo the changes of a dead daemon. Returns `None` and says so if that daemon's guard hangs
    /// with the lock: the caller undoes the changes without it.
    ///
    /// # Errors
    /// If a daemon runs.
    pub fn hold_to_restore(&self) -> Result<Option<Held>> {
        match self.wait()? {
            Ok(held) => Ok(Some(held)),
            Err(holder) if holder.is_alive() => Err(self.refused(holder)),
            Err(holder) => {
                say(format_args!("{}: {holder} hangs; its changes are undone without it", self.device));
                Ok(None)
            }
        }
    }

    /// Locks the device unless a daemon runs, or a dead daemon's guard does not end.
    fn wait(&self) -> Result<std::result::Result<Held, Holder>> {
        if let Some(directory) = self.path.parent() {
            private_directory(directory)?;
            sweep(directory);
        }
        let clock = Clock::start();
        loop {
            if let Some(held) = self.try_hold()? {
                return Ok(Ok(held));
            }
            let holder = self.holder()?;
            if let Some(holder) = holder
                && (holder.is_alive() || clock.now() > Instant::ZERO + PATIENCE)
            {
                return Ok(Err(holder));
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Locks the device now; `None` if another process holds the lock.
    ///
    /// # Errors
    /// If the lock's file cannot be written.
    pub fn try_hold(&self) -> Result<Option<Held>> {
        let cannot = |error| self.cannot(error);
        let mut options = OpenOptions::new();
        let options = options.create(true).read(true).write(true).truncate(false).mode(0o600);
        let file = options.open(&self.path).map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(cannot(error)),
        }
        // The former holder may have removed the file in the meantime.
        if !is_at(&file, &self.path) {
            return Ok(None);
        }
        let mut held = Held { path: self.path.clone(), file, inherited: Cell::new(false) };
        held.file.set_len(0).and_then(|()| writeln!(held.file, "{}", std::process::id())).map_err(cannot)?;
        Ok(Some(held))
    }

    /// Finds the holder of the lock without changing anything.
    ///
    /// # Errors
    /// If the lock's file cannot be read.
    pub fn holder(&self) -> Result<Option<Holder>> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.cannot(error)),
        };
        match file.try_lock_shared() {
            Ok(()) => return Ok(None),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(self.cannot(error)),
        }
        let mut pid = String::new();
        file.read_to_string(&mut pid).map_err(|error| self.cannot(error))?;
        Ok(Some(Holder { pid: pid.trim().parse().ok() }))
    }

    /// Removes the file of a lock that this process has inherited.
    pub fn remove(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Returns true if an open file is still the file at a path.
fn is_at(file: &File, path: &Path) -> bool {
    let number = |found: &std::fs::Metadata| (found.dev(), found.ino());
    matches!((file.metadata(), path.metadata()), (Ok(one), Ok(other)) if number(&one) == number(&other))
}

/// Removes the files of dead daemons, such as those in network namespaces that no longer exist.
fn sweep(directory: &Path) {
    let files = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in files.filter(|path| path.extension().is_some_and(|kind| kind == "lock")) {
        if let Ok(file) = File::open(&path)
            && file.try_lock().is_ok()
            && is_at(&file, &path)
        {
            let _ = std::fs::remove_file(path.with_extension("state"));
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Held {
    /// The lock as the standard output of a guard, which then holds it, too.
    ///
    /// # Errors
    /// If the limit of open files is reached.
    pub fn for_guard(&self) -> Result<Stdio> {
        let file = self.file.try_clone().map_err(|error| LiveError::system("starting the guard", error))?;
        self.inherited.set(true);
        Ok(file.into())
    }

    /// Takes note that the guard has ended.
    pub fn guard_has_ended(&self) {
        self.inherited.set(false);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // A guard that runs removes the file at its end. Without the file, a new daemon could start before.
        if !self.inherited.get() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Seek;
    use std::os::unix::fs::PermissionsExt;

    /// A private directory for locks, removed when dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("netlull-lock-{name}-{}", std::process::id()));
            private_directory(&folder).unwrap();
            Self(folder)
        }

        fn lock(&self, key: &str) -> DeviceLock {
            DeviceLock::below(&self.0, "router", key, "eth0").unwrap()
        }

        fn files(&self) -> usize {
            std::fs::read_dir(&self.0).unwrap().count()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_mistyped_directory_makes_nothing() {
        let folder = Folder::new("mistyped");
        let deep = folder.0.join("state/deep");
        let why = private_directory(&deep).unwrap_err().to_string();
        assert!(why.ends_with("state/deep: expected a directory that exists above it"), "{why}");
        assert!(!folder.0.join("state").exists());
        private_directory(&folder.0.join("state")).unwrap();
        private_directory(&deep).unwrap();
    }

    #[test]
    fn one_instance_at_a_time_has_a_device() {
        let folder = Folder::new("one");
        let lock = folder.lock("3");
        assert_eq!(lock.holder().unwrap(), None);
        let held = lock.hold().unwrap();
        let own = std::process::id();
        assert_eq!(lock.holder().unwrap(), Some(Holder { pid: Some(own) }));
        let why = lock.hold().unwrap_err().to_string();
        assert_eq!(why, format!("device \"eth0\" is controlled by the instance with pid {own}; expected no instance"));
        assert!(lock.hold_to_restore().is_err());
        assert!(folder.lock("4").hold().is_ok(), "another device is another matter");
        drop(held);
        assert_eq!(folder.files(), 0, "a lock leaves no file");
        assert!(lock.hold().is_ok());
    }

    #[test]
    fn files_of_dead_daemons_are_removed_and_those_of_live_ones_stay() {
        let folder = Folder::new("sweep");
        let live = folder.lock("live").hold().unwrap();
        std::fs::write(folder.lock("dead").path, "1\n").unwrap();
        std::fs::write(folder.lock("dead").state(), "{}").unwrap();
        let other = folder.lock("other").hold().unwrap();
        assert_eq!(folder.files(), 2);
        drop((live, other));
    }

    #[test]
    fn a_dead_daemons_hanging_guard_keeps_a_daemon_from_starting_but_nobody_from_restoring() {
        let folder = Folder::new("hangs");
        let lock = folder.lock("3");
        let held = lock.hold().unwrap();
        // The guard has the lock as its standard output. No process has this pid.
        let mut guard =
            std::process::Command::new("sleep").arg("60").stdout(held.for_guard().unwrap()).spawn().unwrap();
        (&held.file).rewind().and_then(|()| writeln!(&held.file, "{}", u32::MAX)).unwrap();
        drop(held);
        assert!(lock.hold_to_restore().unwrap().is_none());
        let why = lock.hold().unwrap_err().to_string();
        assert!(why.contains("is controlled by the guard of the dead instance with pid 4294967295"), "{why}");
        guard.kill().unwrap();
        guard.wait().unwrap();
        assert!(lock.hold_to_restore().unwrap().is_some());
    }

    #[test]
    fn a_directory_that_others_may_write_is_refused() {
        let folder = Folder::new("others");
        assert_eq!(folder.0.metadata().unwrap().mode() & 0o777, 0o700);
        assert_eq!(folder.lock("3").hold().unwrap().file.metadata().unwrap().mode() & 0o777, 0o600);
        std::fs::set_permissions(&folder.0, std::fs::Permissions::from_mode(0o777)).unwrap();
        let why = folder.lock("3").hold().unwrap_err().to_string();
        assert!(why.contains("mode 777; expected user"), "{why}");
    }
}
