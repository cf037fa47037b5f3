//! The confinement of a daemon after its set-up: capabilities, new privileges, files (Landlock), system calls (seccomp).
//!
//! A confinement covers the calling thread, and the threads and programs that it starts later. A daemon therefore
//! confines itself before it starts any thread.

use crate::error::{LiveError, Result};
use caps::{CapSet, Capability};
use landlock::{
    ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus,
    path_beneath_rules,
};
use nix::errno::Errno;
use nix::sys::prctl::set_no_new_privs;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};
use std::collections::BTreeMap;
use std::path::Path;

/// The programs that a confined daemon may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Programs {
    /// None.
    None,
    /// The programs of this system, such as iptables, with the daemon's own rights at most.
    OfSystem,
}

/// The rights that a daemon keeps.
#[derive(Clone, Debug)]
pub struct Confinement<'a> {
    /// The capabilities, as far as the daemon has them.
    pub capabilities: &'a [Capability],
    /// The programs.
    pub programs: Programs,
    /// The files and directories that may be read, besides open files.
    pub readable: Vec<&'a Path>,
    /// The files and directories that may be written, too.
    pub writable: Vec<&'a Path>,
}

impl Confinement<'_> {
    /// Gives up all other rights. Returns a message for each restriction that this kernel lacks, which is no error.
    ///
    /// # Errors
    /// If the rights cannot be given up.
    pub fn enter(&self) -> Result<Vec<&'static str>> {
        let mut missing = Vec::new();
        self.drop_capabilities().map_err(|error| LiveError::system("dropping capabilities", error))?;
        set_no_new_privs().map_err(|error| LiveError::system("giving up new privileges", error))?;
        match self.restrict_files() {
            Ok(RulesetStatus::NotEnforced) => {
                missing.push("this kernel has no Landlock: access to files is not restricted");
            }
            Ok(_) => {}
            Err(error) => return Err(LiveError::system("restricting the access to files", error)),
        }
        let Some(filter) = self.filter()? else {
            missing.push("system calls are not restricted on this processor; expected x86-64, AArch64 or RISC-V");
            return Ok(missing);
        };
        match apply_filter(&filter) {
            Ok(()) => Ok(missing),
            Err(seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error))
                if error.raw_os_error() == Some(libc::EINVAL) || error.raw_os_error() == Some(libc::ENOSYS) =>
            {
                missing.push("this kernel has no seccomp filters: system calls are not restricted");
                Ok(missing)
            }
            Err(error) => Err(LiveError::system("restricting system calls", error)),
        }
    }

    fn drop_capabilities(&self) -> std::result::Result<(), caps::errors::CapsError> {
        let permitted = caps::read(None, CapSet::Permitted)?;
        let kept = self.capabilities.iter().copied().filter(|capability| permitted.contains(capability)).collect();
        // Limits what a program of root gets. Without the right, new privileges are given up all the same.
        if permitted.contains(&Capability::CAP_SETPCAP) {
            for capability in caps::runtime::thread_all_supported().difference(&kept) {
                caps::drop(None, CapSet::Bounding, *capability)?;
            }
        }
        if caps::runtime::ambient_set_supported().is_ok() {
            caps::clear(None, CapSet::Ambient)?;
        }
        caps::set(None, CapSet::Effective, &kept)?;
        caps::set(None, CapSet::Permitted, &kept)?;
        // A program of another user than root has the capabilities only if they are inherited.
        let inherited = if self.programs == Programs::None { std::iter::empty().collect() } else { kept };
        caps::set(None, CapSet::Inheritable, &inherited)?;
        if self.programs == Programs::OfSystem && caps::runtime::ambient_set_supported().is_ok() {
            caps::set(None, CapSet::Ambient, &inherited)?;
        }
        Ok(())
    }

    fn restrict_files(&self) -> std::result::Result<RulesetStatus, RulesetError> {
        const KNOWN: ABI = ABI::V5;
        // Directories are kept: nothing is created but regular files.
        let write = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::MakeReg | AccessFs::RemoveFile;
        let read = AccessFs::ReadFile | AccessFs::ReadDir;
        let programs: &[&str] = if self.programs == Programs::None { &[] } else { &["/"] };
        let status = Ruleset::default()
            .handle_access(AccessFs::from_all(KNOWN))?
            .handle_access(AccessNet::from_all(KNOWN))?
            .create()?
            .add_rules(path_beneath_rules(programs, read | AccessFs::Execute))?
            .add_rules(path_beneath_rules(&self.readable, read))?
            .add_rules(path_beneath_rules(&self.writable, read | write))?
            .restrict_self()?;
        Ok(status.ruleset)
    }

    /// The filter of system calls; `None` for a processor that the filter's compiler does not know. Other calls fail
    /// with EPERM: a daemon that a library surprises with a new call still undoes its changes.
    fn filter(&self) -> Result<Option<BpfProgram>> {
        let Ok(processor) = TargetArch::try_from(std::env::consts::ARCH) else { return Ok(None) };
        let wrong = |error: &dyn std::fmt::Display| LiveError::system("the filter of system calls", error);
        let mut calls: BTreeMap<i64, Vec<SeccompRule>> = CALLS.iter().map(|call| (*call, Vec::new())).collect();
        match self.programs {
            Programs::None => {
                for command in MAP_COMMANDS {
                    let is_it = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, command);
                    let rule = is_it.and_then(|is_it| SeccompRule::new(vec![is_it])).map_err(|error| wrong(&error))?;
                    calls.entry(libc::SYS_bpf).or_default().push(rule);
                }
            }
            Programs::OfSystem => calls.extend(CALLS_OF_PROGRAMS.iter().map(|call| (*call, Vec::new()))),
        }
        let refused = SeccompAction::Errno(Errno::EPERM as u32);
        let filter = SeccompFilter::new(calls, refused, SeccompAction::Allow, processor);
        filter.and_then(BpfProgram::try_from).map(Some).map_err(|error| wrong(&error))
    }
}

/// The commands of bpf(2) for an open map: look up, update, delete, next key.
const MAP_COMMANDS: [u64; 4] = [1, 2, 3, 4];

/// The system calls of a daemon: open files, memory, time, threads, netlink and its regular files.
const CALLS: &[i64] = &[
    // Open files and sockets.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_close,
    libc::SYS_lseek,
    libc::SYS_fcntl,
    libc::SYS_ftruncate,
    libc::SYS_fsync,
    libc::SYS_flock,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_ioctl,
    libc::SYS_ppoll,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_eventfd2,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
    libc::SYS_socket,
    libc::SYS_bind,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_connect,
    libc::SYS_shutdown,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    // Regular files.
    libc::SYS_openat,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_getdents64,
    libc::SYS_readlinkat,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_getcwd,
    // Memory.
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    // Time and chance.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    // Threads, signals and the end.
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_futex,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_prctl,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_signalfd4,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_setsid,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_kill,
    libc::SYS_tgkill,
    libc::SYS_exit,
    libc::SYS_exit_group,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_open,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lstat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_access,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_readlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_dup2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_arch_prctl,
];

/// The further calls of iptables, its loader and its C library, and of starting them. A guard that a confined daemon
/// starts confines itself, too.
const CALLS_OF_PROGRAMS: &[i64] = &[
    libc::SYS_execve,
    libc::SYS_setpgid,
    libc::SYS_getpgid,
    libc::SYS_getppid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getgroups,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_capget,
    libc::SYS_capset,
    libc::SYS_seccomp,
    libc::SYS_landlock_create_ruleset,
    libc::SYS_landlock_add_rule,
    libc::SYS_landlock_restrict_self,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_prlimit64,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_umask,
    libc::SYS_chdir,
    libc::SYS_fchdir,
    libc::SYS_fadvise64,
    libc::SYS_fstatfs,
    libc::SYS_statfs,
    libc::SYS_pwrite64,
    libc::SYS_socketpair,
    libc::SYS_pipe2,
    libc::SYS_pselect6,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_setitimer,
    libc::SYS_getrusage,
    libc::SYS_times,
    libc::SYS_mlock,
    libc::SYS_munlock,
    libc::SYS_close_range,
    libc::SYS_fchmod,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_pipe,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_select,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_alarm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_getpgrp,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_getdents,
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::net::{TcpListener, TcpStream};
    use std::process::Command;

    /// Enters a confinement in a new thread, and returns the result of an action there.
    fn confined<T: Send>(programs: Programs, writable: &Path, action: impl FnOnce() -> T + Send) -> T {
        let inside = || {
            let capabilities = &[Capability::CAP_NET_ADMIN];
            let confinement = Confinement { capabilities, programs, readable: Vec::new(), writable: vec![writable] };
            let missing = confinement.enter().unwrap();
            assert!(missing.is_empty(), "this kernel lacks a part: {missing:?}");
            action()
        };
        std::thread::scope(|scope| scope.spawn(inside).join().unwrap())
    }

    #[test]
    fn a_confined_daemon_writes_to_its_directory_and_does_little_else() {
        let folder = std::env::temp_dir().join(format!("netlull-confine-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let elsewhere = folder.with_extension("elsewhere");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        confined(Programs::None, &folder, || {
            std::fs::write(folder.join("state"), "text").unwrap();
            assert_eq!(std::fs::read_to_string(folder.join("state")).unwrap(), "text");
            std::fs::remove_file(folder.join("state")).unwrap();
            assert!(File::create(&elsewhere).is_err() && File::open("/etc/passwd").is_err());
            assert!(Command::new("true").status().is_err(), "no program");
            assert!(TcpStream::connect(address).is_err(), "no connection");
            assert_eq!(std::thread::spawn(|| File::open("/etc/passwd").is_err()).join().ok(), Some(true));
            // SAFETY: refers to no memory.
            #[allow(unsafe_code)]
            let created = unsafe { libc::syscall(libc::SYS_bpf, 0, 0, 0) };
            assert_eq!((created, Errno::last()), (-1, Errno::EPERM), "no eBPF map");
        });
        std::fs::remove_dir_all(folder).unwrap();
        assert!(File::open("/etc/passwd").is_ok(), "other threads keep their rights");
    }

    #[test]
    fn programs_of_a_confined_daemon_have_its_rights_at_most() {
        let folder = std::env::temp_dir();
        let output = confined(Programs::OfSystem, &folder, || {
            Command::new("grep").args(["-E", "^(CapPrm|NoNewPrivs|Seccomp):", "/proc/self/status"]).output().unwrap()
        });
        let text = String::from_utf8(output.stdout).unwrap();
        let values: Vec<_> = text.split_whitespace().collect();
        let root = nix::unistd::geteuid().is_root();
        let capabilities = format!("{:016x}", if root { Capability::CAP_NET_ADMIN.bitmask() } else { 0 });
        assert_eq!(values, ["CapPrm:", &capabilities, "NoNewPrivs:", "1", "Seccomp:", "2"]);
        let touched = confined(Programs::OfSystem, Path::new("/dev/null"), || {
            Command::new("touch").arg(folder.join("netlull-confine-touched")).output().unwrap()
        });
        assert!(!touched.status.success());
    }
}
