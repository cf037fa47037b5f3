//! The files that an instance can read and write, here or in a unit's sandbox.

use crate::error::{LiveError, Result};
use crate::lock::DIRECTORY;
use nix::errno::Errno;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// The persistent directory of a unit's instance, created by systemd.
pub(super) const STAYS: &str = "/var/lib/netlull";

/// The environment of an instance.
#[derive(Clone, Copy, Debug)]
pub(super) enum FileAccess<'a> {
    /// This system, with the rights of this process.
    Here,
    /// The sandbox of a unit of the system under this root directory.
    Unit { root: &'a Path },
}

/// An access right, as a bit of a file's mode.
#[derive(Clone, Copy)]
enum Right {
    Read = 4,
    Write = 2,
    Execute = 1,
}

/// The path from a root directory to a file. Symbolic links are followed as if that directory were the system's root.
struct Way {
    root: PathBuf,
    /// The folders on the path.
    folders: Vec<PathBuf>,
    /// The file itself, not a symbolic link.
    end: PathBuf,
}

/// The kernel's limit on the number of symbolic links (path_resolution(7)).
const MOST_LINKS: u32 = 40;

impl Way {
    /// Resolves a file of the system below `root`; follows every symbolic link, and none leads out of the root.
    fn walk(root: &Path, file: &Path) -> Result<Self> {
        let mut left: Vec<_> = parts(&absolute(file));
        let asked = root.join(left.iter().rev().collect::<PathBuf>());
        let cannot = |error: std::io::Error| LiveError::system(asked.display(), error);
        let (mut here, mut folders, mut links) = (root.to_owned(), Vec::new(), 0);
        while let Some(part) = left.pop() {
            if part == ".." {
                if here != root {
                    here.pop();
                }
                continue;
            }
            let next = here.join(&part);
            let found = std::fs::symlink_metadata(&next).map_err(cannot)?;
            if found.is_symlink() {
                links += 1;
                if links > MOST_LINKS {
                    return Err(LiveError::system(asked.display(), Errno::ELOOP.desc()));
                }
                let target = std::fs::read_link(&next).map_err(cannot)?;
                if target.is_absolute() {
                    root.clone_into(&mut here);
                }
                left.extend(parts(&target));
            } else {
                let folder = std::mem::replace(&mut here, next);
                folders.push(folder);
            }
        }
        Ok(Self { root: root.to_owned(), folders, end: here })
    }

    /// Checks a right along the path. A unit's instance is root, but without CAP_DAC_OVERRIDE, so file modes apply.
    fn check_right(&self, right: Right) -> Result<()> {
        let folders = self.folders.iter().filter(|&folder| *folder != self.root);
        for (place, right) in folders.map(|folder| (folder, Right::Execute)).chain([(&self.end, right)]) {
            let found = std::fs::metadata(place).map_err(|error| LiveError::system(place.display(), error))?;
            let shift = match (found.uid(), found.gid()) {
                (0, _) => 6,
                (_, 0) => 3,
                _ => 0,
            };
            // Writing into a folder also needs the right to enter it.
            let bits = match right {
                Right::Write if found.is_dir() => Right::Write as u32 | Right::Execute as u32,
                right => right as u32,
            };
            if found.mode() >> shift & bits != bits {
                let (path, place) = (self.end.display(), place.display());
                return Err(LiveError::input(format!(
                    "{path}: the unit has no right to {place}; expected an owner or a mode that admits root without CAP_DAC_OVERRIDE"
                )));
            }
        }
        Ok(())
    }
}

/// The components of a path below the root, in reverse order.
fn parts(path: &Path) -> Vec<OsString> {
    let named = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        _ => None,
    });
    named.rev().collect()
}

/// Returns true if a path of the system below `root` is a symbolic link.
fn is_symlink(path: &Path, root: &Path) -> bool {
    root.join(path.strip_prefix("/").unwrap_or(path)).is_symlink()
}

pub(super) fn absolute(file: &Path) -> PathBuf {
    std::path::absolute(file).unwrap_or_else(|_| file.to_owned())
}

impl FileAccess<'_> {
    /// Resolves a file that the instance must read, to its path for this process.
    ///
    /// # Errors
    /// If a unit would lack the right to read it.
    pub(super) fn readable(self, file: &Path) -> Result<PathBuf> {
        let Self::Unit { root } = self else { return Ok(file.to_owned()) };
        let way = Way::walk(root, file)?;
        way.check_right(Right::Read)?;
        Ok(way.end)
    }

    /// Checks that the instance can execute this program.
    ///
    /// # Errors
    /// If a unit would lack the right to execute it.
    pub(super) fn check_program(self, program: &Path) -> Result<()> {
        match self {
            Self::Here => Ok(()),
            Self::Unit { root } => Way::walk(root, program)?.check_right(Right::Execute),
        }
    }

    /// Checks that a recording can be written to this file.
    ///
    /// # Errors
    /// If its folder does not exist, or a unit may not write there.
    pub(super) fn check_record(self, file: &Path) -> Result<()> {
        let path = absolute(file);
        let wrong = |expected: String| LiveError::input(format!("record is {}; expected {expected}", path.display()));
        let a_file = || wrong("a file in a folder that exists".to_owned());
        let Self::Unit { root } = self else {
            let is_wrong = path.is_dir() || !path.parent().is_some_and(Path::is_dir);
            return if is_wrong { Err(a_file()) } else { Ok(()) };
        };
        let nowhere_else = || wrong(format!("a file below {STAYS}: the unit may write nowhere else"));
        let inside = path
            .strip_prefix(STAYS)
            .ok()
            .filter(|rest| rest.file_name().is_some() && !rest.components().any(|part| part == Component::ParentDir));
        let is_in_it = inside.ok_or_else(nowhere_else)?.components().count() == 1;
        let Ok(stays) = Way::walk(root, Path::new(STAYS)) else {
            // systemd creates it when the unit starts.
            return if is_in_it { Ok(()) } else { Err(a_file()) };
        };
        let way = match Way::walk(root, &path) {
            Ok(way) if way.end.is_dir() => return Err(a_file()),
            Ok(way) => way,
            Err(_) if is_symlink(&path, root) => return Err(a_file()),
            Err(_) => {
                let folder = path.parent().and_then(|folder| Way::walk(root, folder).ok());
                folder.filter(|way| way.end.is_dir()).ok_or_else(a_file)?
            }
        };
        if !way.end.starts_with(&stays.end) {
            return Err(nowhere_else());
        }
        // systemd sets the rights of its own folder.
        if way.end == stays.end { Ok(()) } else { way.check_right(Right::Write) }
    }

    /// Checks that instances can write their state to this directory.
    ///
    /// # Errors
    /// If a unit may not write there.
    pub(super) fn check_state(self, directory: &Path) -> Result<()> {
        let directory = absolute(directory);
        match self {
            Self::Unit { .. } if directory != Path::new(DIRECTORY) => {
                let directory = directory.display();
                Err(LiveError::input(format!("state is {directory}; expected {DIRECTORY}, where a unit may write it")))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A temporary root directory with a folder in it.
    struct Root(PathBuf);

    impl Root {
        fn new(name: &str, folder: &str) -> Self {
            let root = std::env::temp_dir().join(format!("netlull-file-access-{name}-{}", std::process::id()));
            std::fs::create_dir_all(root.join(folder)).unwrap();
            // Open to all, since the owner need not be root.
            for folder in Path::new(folder).ancestors() {
                std::fs::set_permissions(root.join(folder), std::fs::Permissions::from_mode(0o777)).unwrap();
            }
            Self(root)
        }

        fn unit(&self) -> FileAccess<'_> {
            FileAccess::Unit { root: &self.0 }
        }
    }

    impl Drop for Root {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_unit_records_below_its_own_folder() {
        let root = Root::new("record", "var/lib/netlull/tapes");
        let check = |file: &str| root.unit().check_record(Path::new(file));
        assert!(check("/var/lib/netlull/link.tape").is_ok());
        assert!(check("/var/lib/netlull/tapes/link.tape").is_ok());
        for file in
            ["/var/log/link.tape", "link.tape", "/var/lib/netlull/../x", "/var/lib/netlull", "/var/lib/netlull2/x"]
        {
            let why = check(file).unwrap_err().to_string();
            assert!(why.contains("expected a file below /var/lib/netlull: the unit may write nowhere else"), "{why}");
        }
        let why = check("/var/lib/netlull/other/link.tape").unwrap_err().to_string();
        assert!(why.ends_with("expected a file in a folder that exists"), "{why}");
        assert!(check("/var/lib/netlull/tapes").is_err(), "it is a folder");
    }

    #[test]
    fn a_unit_records_nowhere_that_a_link_leads_to() {
        let root = Root::new("links", "var/lib/netlull/tapes");
        let check = |file: &str| root.unit().check_record(Path::new(file));
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, root.0.join("var/lib/netlull").join(name)).unwrap();
        };
        std::fs::create_dir_all(root.0.join("srv")).unwrap();
        std::fs::write(root.0.join("srv/x.tape"), "").unwrap();
        link("/var/lib/netlull/tapes", "inside");
        link("/srv", "outside");
        link("../../../srv/x.tape", "x.tape");
        link("/srv/none.tape", "none.tape");
        assert!(check("/var/lib/netlull/inside/link.tape").is_ok());
        for file in ["outside/link.tape", "outside/x.tape", "x.tape"] {
            let why = check(&format!("/var/lib/netlull/{file}")).unwrap_err().to_string();
            assert!(why.contains("the unit may write nowhere else"), "{file}: {why}");
        }
        assert!(check("/var/lib/netlull/none.tape").is_err());
        assert!(check("/var/lib/netlull/outside").is_err());
        let tapes = root.0.join("var/lib/netlull/tapes");
        std::fs::set_permissions(&tapes, std::fs::Permissions::from_mode(0o500)).unwrap();
        let why = check("/var/lib/netlull/tapes/link.tape").unwrap_err().to_string();
        assert!(why.contains("the unit has no right to"), "{why}");
    }

    #[test]
    fn a_link_is_as_readable_as_what_it_leads_to() {
        let root = Root::new("target", "etc/netlull");
        std::fs::create_dir_all(root.0.join("home/one")).unwrap();
        std::fs::write(root.0.join("home/one/g.toml"), "").unwrap();
        let read = |file: &str| root.unit().readable(Path::new(file));
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, root.0.join("etc/netlull").join(name)).unwrap();
        };
        link("/home/one/g.toml", "g.toml");
        link("../../../../home/one/g.toml", "far.toml");
        link("own.toml", "own.toml");
        let named = root.0.join("home/one/g.toml");
        assert_eq!(read("/etc/netlull/g.toml").unwrap(), named, "as the system below the root has it");
        assert_eq!(read("/etc/netlull/far.toml").unwrap(), named, "nothing is above a root");
        assert!(read("/etc/netlull/own.toml").is_err(), "it leads nowhere");
        // A file outside the root is not accessible to the unit, even if this process can read it.
        link(&std::env::current_exe().unwrap().display().to_string(), "here.toml");
        assert!(read("/etc/netlull/here.toml").is_err());
        // Closed to root without CAP_DAC_OVERRIDE, as owner or as another user, but not to this process.
        let closed = if nix::unistd::geteuid().is_root() { 0o000 } else { 0o700 };
        std::fs::set_permissions(root.0.join("home/one"), std::fs::Permissions::from_mode(closed)).unwrap();
        let why = read("/etc/netlull/g.toml").unwrap_err().to_string();
        assert!(why.contains("the unit has no right to") && why.contains("home/one"), "{why}");
    }

    #[test]
    fn an_instance_records_where_there_is_a_folder() {
        let root = Root::new("here", "tapes");
        let check = |file: &str| FileAccess::Here.check_record(&root.0.join(file));
        assert!(check("tapes/link.tape").is_ok());
        assert!(check("tapes").is_err(), "it is a folder");
        assert!(check("none/link.tape").is_err());
        assert!(FileAccess::Here.check_record(Path::new("link.tape")).is_ok());
    }

    #[test]
    fn a_unit_reads_what_its_root_may_read() {
        let root = Root::new("config", "etc/netlull");
        let file = root.0.join("etc/netlull/g.toml");
        std::fs::write(&file, "").unwrap();
        let mode = |mode| {
            for path in [&file, &root.0.join("etc/netlull")] {
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
            }
        };
        let named = Path::new("/etc/netlull/g.toml");
        mode(0o755);
        assert_eq!(root.unit().readable(named).unwrap(), file);
        mode(0o300);
        let why = root.unit().readable(named).unwrap_err().to_string();
        assert!(why.contains("the unit has no right to"), "{why}");
        mode(0o755);
        assert!(root.unit().readable(Path::new("/etc/netlull/none.toml")).is_err());
        assert_eq!(FileAccess::Here.readable(&file).unwrap(), file);
    }

    #[test]
    fn a_units_state_is_where_systemd_makes_it() {
        let unit = FileAccess::Unit { root: Path::new("/") };
        assert!(unit.check_state(Path::new(DIRECTORY)).is_ok());
        let why = unit.check_state(Path::new("/srv/x")).unwrap_err().to_string();
        assert_eq!(why, "state is /srv/x; expected /run/netlull, where a unit may write it");
        assert!(FileAccess::Here.check_state(Path::new("/srv/x")).is_ok());
    }
}
