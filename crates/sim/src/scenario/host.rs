//! The contract of the program around the core: it gives the files, networks, modules and plug-ins that a document names.

use netlull_text::Error;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// The parts of a scenario that a plug-in can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Controllers of links.
    Controllers,
    /// Congestion controls.
    CongestionControls,
    /// Policies of stations.
    StationPolicies,
    /// Sleep plans.
    SleepPlans,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 4] = [Self::Controllers, Self::CongestionControls, Self::StationPolicies, Self::SleepPlans];

    /// The family's name, which is also that of its entry points in Python.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Controllers => "controllers",
            Self::CongestionControls => "congestion_controls",
            Self::StationPolicies => "station_policies",
            Self::SleepPlans => "sleep_plans",
        }
    }
}

/// A file.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name in errors.
    pub name: String,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// The place of a WebAssembly module.
#[derive(Clone, Debug)]
pub struct Module {
    /// The absolute name of its file.
    pub file: String,
    /// Its SHA-256, in hexadecimal digits.
    pub digest: String,
}

/// The answer about the table of a plug-in.
#[derive(Clone, Debug)]
pub enum PlugIn {
    /// The kind is none of a plug-in: the core reads the table.
    BuiltIn,
    /// The whole table, with every parameter.
    Table(Value),
    /// The scenario is read without this part.
    LeftOut,
}

/// Gives what a document names. Reading a document runs no code but that of its host.
///
/// An error's field is relative to the field that names the part, and empty for this field itself.
pub trait Host {
    /// A file of at most `most` bytes.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn file(&self, name: &str, most: usize) -> Result<File, Error>;

    /// The packets that a Parquet file has recorded: times in nanoseconds and sizes in bytes.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn packets(&self, name: &str) -> Result<Vec<(u64, u64)>, Error> {
        Err(Error::input("", format!("{name}: is read by the Python package only; expected a CSV file")))
    }

    /// The network that a table `[topology]` names, in netlull's own format.
    ///
    /// # Errors
    /// If there is no such network.
    fn network(&self, table: &Map<String, Value>) -> Result<Value, Error>;

    /// The place of a WebAssembly module.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn module(&self, name: &str) -> Result<Module, Error> {
        Err(Error::input("module", format!("\"{name}\": is not read by this program; expected another kind")))
    }

    /// The table of a plug-in with every parameter. `table` has a text as its `kind`.
    ///
    /// # Errors
    /// If the plug-in cannot be used.
    fn plug_in(&self, family: Family, table: &Map<String, Value>) -> Result<PlugIn, Error> {
        let _ = (family, table);
        Ok(PlugIn::BuiltIn)
    }
}

/// Files in a folder; no networks of other formats, modules or plug-ins.
#[derive(Clone, Debug, Default)]
pub struct Folder(pub PathBuf);

impl Folder {
    /// The file next to the scenario; if there is none, the one in the current folder.
    #[must_use]
    pub fn find(&self, name: &str) -> PathBuf {
        let (beside, here) = (self.0.join(name), Path::new(name));
        if !beside.exists() && here.exists() { here.to_owned() } else { beside }
    }
}

impl Host for Folder {
    fn file(&self, name: &str, most: usize) -> Result<File, Error> {
        let path = self.find(name);
        let content = netlull_document::read_regular(&path, most);
        let content = content.map_err(|why| Error::input("", format!("{}: {why}", path.display())))?;
        Ok(File { name: path.display().to_string(), content })
    }

    fn network(&self, table: &Map<String, Value>) -> Result<Value, Error> {
        let Some(name) = table.get("file").and_then(Value::as_str) else {
            return Err(Error::input("", "is read by the Python package only; expected a file"));
        };
        own_network(&self.file(name, LARGEST_NETWORK)?)
    }
}

/// The largest file of a network, in bytes: one of 100,000 links is smaller.
pub const LARGEST_NETWORK: usize = 16 << 20;

/// The network in a file in netlull's own format.
///
/// # Errors
/// If the file is not TOML.
pub fn own_network(file: &File) -> Result<Value, Error> {
    let text = std::str::from_utf8(&file.content);
    let text = text.map_err(|_| Error::input("", format!("{}: is not UTF-8 text; expected TOML", file.name)))?;
    let text = text.trim_start_matches('\u{feff}');
    netlull_text::Text { origin: &file.name, text }.parse()
}
