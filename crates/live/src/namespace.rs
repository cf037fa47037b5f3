//! Unnamed network namespaces. They exist while a file descriptor refers to them, so nothing is left of them when a
//! process ends.

use crate::error::{LiveError, Result};
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A network namespace.
#[derive(Debug)]
pub struct Namespace {
    file: File,
}

/// The folder of the named namespaces of `ip netns`.
const NAMED: &str = "/run/netns";
/// The namespace of the calling thread.
pub const OWN: &str = "/proc/thread-self/ns/net";

impl Namespace {
    /// Creates a namespace and runs `inside` in it, in a separate thread.
    ///
    /// # Errors
    /// If the system refuses (CAP_SYS_ADMIN is needed), or `inside` fails.
    pub fn make<T: Send>(inside: impl FnOnce() -> Result<T> + Send) -> Result<(Self, T)> {
        in_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)
                .map_err(|error| LiveError::system("creating a network namespace", error))?;
            let file = File::open(OWN).map_err(|error| LiveError::system(OWN, error))?;
            Ok((Self { file }, inside()?))
        })
    }

    /// Opens the namespace that `ip netns add NAME` has created.
    ///
    /// # Errors
    /// If no namespace has this name.
    pub fn named(name: &str) -> Result<Self> {
        if name.is_empty() || name.contains('/') {
            return Err(LiveError::new(format!("network namespace \"{name}\": expected a name from `ip netns`")));
        }
        let path: PathBuf = Path::new(NAMED).join(name);
        let file = File::open(&path).map_err(|error| {
            LiveError::system(
                format!("network namespace \"{name}\" ({}); expected a name from `ip netns`", path.display()),
                error,
            )
        })?;
        Ok(Self { file })
    }

    /// Creates another handle of the same namespace.
    ///
    /// # Errors
    /// If the limit of open files is reached.
    pub fn try_clone(&self) -> Result<Self> {
        let file = self.file.try_clone().map_err(|error| LiveError::system("a network namespace", error))?;
        Ok(Self { file })
    }

    /// Runs `inside` in the namespace, in a separate thread.
    ///
    /// # Errors
    /// If the system refuses, or `inside` fails.
    pub fn inside<T: Send>(&self, inside: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        in_thread(|| {
            self.enter()?;
            inside()
        })
    }

    /// Moves the calling thread into the namespace, until it enters another.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn enter(&self) -> Result<()> {
        setns(&self.file, CloneFlags::CLONE_NEWNET)
            .map_err(|error| LiveError::system("entering a network namespace", error))
    }
}

fn in_thread<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let failed = || LiveError::new("a thread in a network namespace has failed");
    std::thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|_| Err(failed())))
}

/// Reads a value below `/proc/sys/net/` in the namespace of the calling thread.
///
/// # Errors
/// If the system has no such value.
pub fn sysctl(name: &str) -> Result<String> {
    let path = Path::new("/proc/sys/net").join(name);
    let text = std::fs::read_to_string(&path).map_err(|error| LiveError::system(path.display(), error))?;
    Ok(text.trim().to_owned())
}

/// Sets a value below `/proc/sys/net/` in the namespace of the calling thread.
///
/// # Errors
/// If the system has no such value, or refuses this one.
pub fn set_sysctl(name: &str, value: &str) -> Result<()> {
    let path = Path::new("/proc/sys/net").join(name);
    std::fs::write(&path, value)
        .map_err(|error| LiveError::system(format!("writing \"{value}\" to {}", path.display()), error))
}
