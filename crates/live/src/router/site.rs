//! Where an instance runs, and so which files it can read and write.

use super::state::DIRECTORY;
use crate::error::{LiveError, Result};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// Where a unit's instance may write what is to stay; systemd makes it.
pub(super) const STAYS: &str = "/var/lib/netlull";

/// Where an instance runs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Site<'a> {
    /// Here, with the rights of this process.
    Here,
    /// In the sandbox of a unit of the system under this root directory.
    Unit { root: &'a Path },
}

/// A right to a file, as a bit of its mode.
#[derive(Clone, Copy)]
enum Right {
    Read = 4,
    Execute = 1,
}

pub(super) fn absolute(file: &Path) -> PathBuf {
    std::path::absolute(file).unwrap_or_else(|_| file.to_owned())
}

impl Site<'_> {
    /// The path by which this process comes to a file of the instance.
    fn path_here(self, file: &Path) -> PathBuf {
        match self {
            Self::Here => file.to_owned(),
            Self::Unit { root } => root.join(absolute(file).strip_prefix("/").unwrap_or(file)),
        }
    }

    /// A file that the instance is to read, by its path for this process.
    ///
    /// # Errors
    /// If a unit would have no right to it.
    pub(super) fn readable(self, file: &Path) -> Result<PathBuf> {
        let path = self.path_here(file);
        self.check_right(&path, Right::Read)?;
        Ok(path)
    }

    /// Whether the instance can be this program.
    ///
    /// # Errors
    /// If a unit would have no right to it.
    pub(super) fn check_program(self, program: &Path) -> Result<()> {
        self.check_right(program, Right::Execute)
    }

    /// A unit's instance is root, but without the capability that lets root pass over modes (CAP_DAC_OVERRIDE).
    fn check_right(self, path: &Path, right: Right) -> Result<()> {
        let Self::Unit { root } = self else { return Ok(()) };
        let mut wanted = right as u32;
        for place in path.ancestors().take_while(|place| *place != root) {
            let found = std::fs::metadata(place).map_err(|error| LiveError::system(place.display(), error))?;
            let shift = match (found.uid(), found.gid()) {
                (0, _) => 6,
                (_, 0) => 3,
                _ => 0,
            };
            if found.mode() >> shift & wanted == 0 {
                let (path, place) = (path.display(), place.display());
                return Err(LiveError::new(format!(
                    "{path}: the unit has no right to {place}; expected an owner or a mode that lets root in without CAP_DAC_OVERRIDE"
                )));
            }
            wanted = Right::Execute as u32;
        }
        Ok(())
    }

    /// Whether a recording can be written there.
    ///
    /// # Errors
    /// If its folder is not there, or not one in which a unit may write.
    pub(super) fn check_record(self, file: &Path) -> Result<()> {
        if let Self::Unit { .. } = self {
            let path = absolute(file);
            let inside = path.strip_prefix(STAYS).ok().filter(|rest| {
                rest.file_name().is_some() && !rest.components().any(|part| part == Component::ParentDir)
            });
            match inside {
                None => {
                    let path = path.display();
                    let expected = format!("expected a file below {STAYS}: the unit may write nowhere else");
                    return Err(LiveError::new(format!("record is {path}; {expected}")));
                }
                // Its folder is made when the unit starts.
                Some(rest) if rest.components().count() == 1 => return Ok(()),
                Some(_) => {}
            }
        }
        let here = absolute(&self.path_here(file));
        if here.is_dir() || !here.parent().is_some_and(Path::is_dir) {
            return Err(LiveError::new(format!(
                "record is {}; expected a file in a folder that exists",
                here.display()
            )));
        }
        Ok(())
    }

    /// Whether instances can leave their state there.
    ///
    /// # Errors
    /// If a unit may not write there.
    pub(super) fn check_state(self, directory: &Path) -> Result<()> {
        let directory = absolute(directory);
        match self {
            Self::Unit { .. } if directory != Path::new(DIRECTORY) => {
                let directory = directory.display();
                Err(LiveError::new(format!("state is {directory}; expected {DIRECTORY}, where a unit may write it")))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A root directory with a folder in it.
    struct Root(PathBuf);

    impl Root {
        fn new(name: &str, folder: &str) -> Self {
            let root = std::env::temp_dir().join(format!("netlull-site-{name}-{}", std::process::id()));
            std::fs::create_dir_all(root.join(folder)).unwrap();
            Self(root)
        }

        fn unit(&self) -> Site<'_> {
            Site::Unit { root: &self.0 }
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
        assert!(check("/var/lib/netlull/tapes").is_ok(), "a name beside what systemd makes");
    }

    #[test]
    fn an_instance_records_where_there_is_a_folder() {
        let root = Root::new("here", "tapes");
        let check = |file: &str| Site::Here.check_record(&root.0.join(file));
        assert!(check("tapes/link.tape").is_ok());
        assert!(check("tapes").is_err(), "it is a folder");
        assert!(check("none/link.tape").is_err());
        assert!(Site::Here.check_record(Path::new("link.tape")).is_ok());
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
        assert_eq!(Site::Here.readable(&file).unwrap(), file);
    }

    #[test]
    fn a_units_state_is_where_systemd_makes_it() {
        let unit = Site::Unit { root: Path::new("/") };
        assert!(unit.check_state(Path::new(DIRECTORY)).is_ok());
        let why = unit.check_state(Path::new("/srv/x")).unwrap_err().to_string();
        assert_eq!(why, "state is /srv/x; expected /run/netlull, where a unit may write it");
        assert!(Site::Here.check_state(Path::new("/srv/x")).is_ok());
    }
}
