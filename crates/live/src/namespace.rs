//! Unnamed network namespaces. They exist while a file descriptor refers to them, so nothing is left of them when a
//! process ends.

use crate::error::{LiveError, Result};
use crate::system::{capabilities, run_in_real_time_with_threads};
use nix::errno::Errno;
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The origin of a process's rights over the network namespaces that it creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// CAP_SYS_ADMIN and CAP_NET_ADMIN, which root has.
    System,
    /// A user namespace of the process, which any user may create. It ends with the process.
    UserNamespace,
}

/// CAP_SYS_ADMIN and CAP_NET_ADMIN as bits (linux/capability.h).
const ADMIN: u64 = 1 << 21 | 1 << 12;

impl Rights {
    /// The rights with which this process was started: those of the system, or none.
    #[must_use]
    pub fn given() -> Option<Self> {
        (capabilities() & ADMIN == ADMIN).then_some(Self::System)
    }

    /// Gives this process the right to create network namespaces. A process without the system's rights enters a user
    /// namespace; it must not have started a thread yet. It loses CAP_SYS_NICE there, so it takes the real-time
    /// `priority` before, for itself and its threads, if permitted.
    ///
    /// # Errors
    /// If this machine forbids user namespaces; the message says how to allow them.
    pub fn take(priority: i32) -> Result<Self> {
        if let Some(given) = Self::given() {
            return Ok(given);
        }
        LazyLock::force(&OBSTACLE);
        // Without real time the lateness shows the effect.
        let _ = run_in_real_time_with_threads(priority);
        unshare(CloneFlags::CLONE_NEWUSER).map_err(|error| refused("creating a user namespace", error))?;
        Ok(Self::UserNamespace)
    }
}

/// The error of a refused namespace, with the setting that forbids it.
fn refused(doing: &str, error: Errno) -> LiveError {
    let obstacle = OBSTACLE.clone().unwrap_or_else(|| match error {
        Errno::EPERM => {
            "a container or a security module forbids it; expected a machine that allows it, or root".to_owned()
        }
        Errno::ENOSPC => "a limit in /proc/sys/user is reached; expected a higher one".to_owned(),
        _ => "expected a kernel with user and network namespaces".to_owned(),
    });
    LiveError::system(doing, format_args!("{error}: {obstacle}"))
}

/// The obstacle of this process. A user namespace has separate settings, so these must be read before it is entered.
static OBSTACLE: LazyLock<Option<String>> = LazyLock::new(|| obstacle(Path::new("/proc/sys")));

/// The setting below `/proc/sys` that forbids namespaces to users, and the command that allows them.
fn obstacle(settings: &Path) -> Option<String> {
    const FORBIDDING: [(&str, &str, &str); 4] = [
        ("kernel.unprivileged_userns_clone", "0", "1"),
        ("user.max_user_namespaces", "0", "10000"),
        ("user.max_net_namespaces", "0", "10000"),
        ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
    ];
    FORBIDDING.iter().find_map(|&(name, forbids, allows)| {
        let value = std::fs::read_to_string(settings.join(name.replace('.', "/"))).ok()?;
        (value.trim() == forbids)
            .then(|| format!("{name}: {forbids}; expected {allows}, as root: sysctl -w {name}={allows}"))
    })
}

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
    /// If the system refuses ([`Rights`] are needed), or `inside` fails.
    pub fn make<T: Send>(inside: impl FnOnce() -> Result<T> + Send) -> Result<(Self, T)> {
        in_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET).map_err(|error| refused("creating a network namespace", error))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_that_forbids_namespaces_is_named_with_its_remedy() {
        let folder = std::env::temp_dir().join(format!("netlull-namespace-{}", std::process::id()));
        let set = |name: &str, value: &str| {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, format!("{value}\n")).unwrap();
        };
        assert_eq!(obstacle(&folder), None, "a kernel without these settings");
        for (name, forbids, allows) in [
            ("kernel/unprivileged_userns_clone", "0", "1"),
            ("user/max_user_namespaces", "0", "96365"),
            ("user/max_net_namespaces", "0", "96365"),
            ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
        ] {
            set(name, forbids);
            let found = obstacle(&folder).unwrap();
            let key = name.replace('/', ".");
            assert!(found.starts_with(&format!("{key}: {forbids}; expected")), "{found}");
            assert!(found.contains(&format!("sysctl -w {key}=")), "{found}");
            set(name, allows);
            assert_eq!(obstacle(&folder), None, "{name}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
