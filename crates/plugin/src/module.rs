//! Modules: their file, digest, checks and description.

use crate::instance::{Instance, limit};
use crate::parameters::{self, Parameters};
use netlull_document::{ConfigError, ModuleTable};
use netlull_guest::abi::{Kind, MOST_PARAMETERS, VERSION, export};
use netlull_guest::description::Description;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use wasmi::{CompilationMode, Config, EnforcedLimits, Engine, ExternType, ValType};

/// A module, checked and translated. Its machines share the translated code, also with equal files of other names.
pub struct Module {
    /// The file's name, for errors.
    pub(crate) file: String,
    shared: Arc<Shared>,
}

struct Shared {
    digest: String,
    code: wasmi::Module,
    description: Description,
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("file", &self.file).field("digest", &self.digest()).finish_non_exhaustive()
    }
}

/// The engine of all modules.
fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| {
        let mut config = Config::default();
        config.consume_fuel(true);
        // Functions are checked and translated when the module is loaded: no event pays for it.
        config.compilation_mode(CompilationMode::Eager);
        config.ignore_custom_sections(true);
        config.set_max_stack_height(limit::STACK);
        config.set_max_recursion_depth(limit::CALLS);
        // A branch of two bytes copies all results of its block: 1,000 of them would make gigabytes of 16 MB.
        config.enforced_limits(EnforcedLimits::strict());
        config.wasm_relaxed_simd(false);
        config.wasm_multi_memory(false);
        config.wasm_tail_call(false);
        Engine::new(&config)
    })
}

impl Module {
    /// Loads the module of a file. With a digest, the file must have it.
    ///
    /// # Errors
    /// If the file cannot be read, has another digest, or is not a module for netlull.
    pub fn load(file: &Path, digest: Option<&str>) -> Result<Self, ConfigError> {
        static LOADED: OnceLock<Mutex<BTreeMap<String, Weak<Shared>>>> = OnceLock::new();
        let shown = file.display().to_string();
        let unreadable = |why: String| {
            let (what, expected) = why.split_once("; expected ").unwrap_or((&why, "a file that can be read"));
            ConfigError::new("module", format!("{shown} ({})", what.strip_prefix("is ").unwrap_or(what)), expected)
        };
        let bytes = netlull_document::read_regular(file, limit::MODULE).map_err(unreadable)?;
        let found = digest_of(&bytes);
        if let Some(digest) = digest.filter(|digest| *digest != found) {
            return Err(ConfigError::new("digest", digest, format!("{found}, the digest of {shown}")));
        }
        let mut loaded = LOADED.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = loaded.get(&found).and_then(Weak::upgrade) {
            return Ok(Self { file: name_of(&shown), shared });
        }
        let module = Self::from_bytes(&shown, &bytes)?;
        loaded.retain(|_, shared| shared.strong_count() > 0);
        loaded.insert(found, Arc::downgrade(&module.shared));
        Ok(module)
    }

    /// A module from its bytes. `file` is its name in errors.
    ///
    /// # Errors
    /// If it is not a module for netlull.
    pub fn from_bytes(file: &str, bytes: &[u8]) -> Result<Self, ConfigError> {
        let file = name_of(file);
        let refuse = |what: String, expected: &str| ConfigError::new("module", format!("{file}, {what}"), expected);
        if bytes.len() > limit::MODULE {
            let most = format!("at most {} bytes", limit::MODULE);
            return Err(refuse(format!("which has more than {} bytes", limit::MODULE), &most));
        }
        // Only the binary format: the text format is not compiled in.
        let code = wasmi::Module::new(engine(), bytes)
            .map_err(|error| refuse(format!("which is not valid ({})", one_line(&error)), "a WebAssembly module"))?;
        if let Some(import) = code.imports().next() {
            let what = format!("which imports {}.{}", import.module(), import.name());
            return Err(refuse(what, "a module without imports"));
        }
        check_exports(&code).map_err(|what| refuse(what, "the exports in docs/how-to/wasm-interface.md"))?;
        let text = Instance::new(&code, &file)?.describe()?;
        let description: Description = serde_json::from_str(&text)
            .map_err(|error| refuse(format!("whose description is wrong ({error})"), "a description in JSON"))?;
        check_description(&code, &description).map_err(|(what, expected)| refuse(what, &expected))?;
        Ok(Self { file, shared: Arc::new(Shared { digest: digest_of(bytes), code, description }) })
    }

    /// The SHA-256 of the module in hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.shared.digest
    }

    /// The description.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.shared.description
    }

    /// The translated code.
    pub(crate) fn code(&self) -> &wasmi::Module {
        &self.shared.code
    }

    /// Refuses a module of another kind.
    pub(crate) fn expect(&self, kind: Kind) -> Result<(), ConfigError> {
        let found = &self.description().kind;
        if found == kind.name() {
            return Ok(());
        }
        let what = format!("{}, whose kind is {found}", self.file);
        Err(ConfigError::new("module", what, format!("a module of the kind {}", kind.name())))
    }
}

/// A module with its parameters, as a document gives them.
#[derive(Debug)]
pub(crate) struct Configured {
    pub module: Module,
    pub parameters: Parameters,
    /// The table in documents, with the digest.
    pub table: Value,
}

impl Configured {
    /// Loads the module that a table names, and checks its parameters.
    pub fn load(fields: &Map<String, Value>, kind: Kind) -> Result<Self, ConfigError> {
        let table: ModuleTable = netlull_document::read(&Value::Object(fields.clone()))?;
        let module = Module::load(Path::new(&table.module), table.digest.as_deref())?;
        module.expect(kind)?;
        let parameters = Parameters::read(module.description(), &table.parameters)?;
        let mut filled = Map::new();
        filled.insert("kind".to_owned(), crate::KIND.into());
        filled.insert("module".to_owned(), table.module.into());
        filled.insert("digest".to_owned(), module.digest().into());
        filled.extend(table.parameters);
        Ok(Self { module, parameters, table: Value::Object(filled) })
    }
}

/// The name of a file without its folder.
fn name_of(file: &str) -> String {
    Path::new(file).file_name().map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The SHA-256 of bytes, in hexadecimal digits.
#[must_use]
pub fn digest_of(bytes: &[u8]) -> String {
    hmac_sha256::Hash::hash(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// An error on one line.
pub(crate) fn one_line(error: &wasmi::Error) -> String {
    error.to_string().replace('\n', " ")
}

fn check_exports(code: &wasmi::Module) -> Result<(), String> {
    let function = |name: &str, parameters: usize, results: usize| {
        let Some(ExternType::Func(function)) = code.get_export(name) else {
            return Err(format!("which has no function {name}"));
        };
        let fits = function.params().len() == parameters
            && function.results().len() == results
            && function.params().iter().chain(function.results()).all(|of| *of == ValType::I32);
        if fits { Ok(()) } else { Err(format!("whose function {name} has other parameters or results")) }
    };
    if !matches!(code.get_export(export::MEMORY), Some(ExternType::Memory(_))) {
        return Err(format!("which has no {}", export::MEMORY));
    }
    function(export::MAILBOX, 0, 1)?;
    function(export::DESCRIBE, 0, 0)?;
    function(export::CREATE, 0, 1)?;
    function(export::EVENT, 0, 0)?;
    let reads_text = code.get_export(export::BUFFER).is_some() || code.get_export(export::CONFIGURE).is_some();
    if reads_text {
        function(export::BUFFER, 1, 1)?;
        function(export::CONFIGURE, 0, 1)?;
    }
    if code.get_export(export::VARIABLES).is_some() {
        function(export::VARIABLES, 0, 0)?;
    }
    Ok(())
}

fn check_description(code: &wasmi::Module, description: &Description) -> Result<(), (String, String)> {
    let Description { netlull, kind, name, serves, parameters, schema, .. } = description;
    if *netlull != VERSION {
        let expected = format!("version {VERSION}: build it with the bindings of `netlull plugin new`");
        return Err((format!("which has version {netlull} of the interface"), expected));
    }
    let refuse =
        |what: &str, value: &str, expected: &str| Err((format!("whose {what} is \"{value}\""), expected.into()));
    let kinds = Kind::ALL.map(Kind::name);
    if !kinds.contains(&&**kind) {
        let hint = netlull_document::hint_of_old(kind, &kinds).map(|hint| format!("; {hint}")).unwrap_or_default();
        let expected = format!("link_controller, station_machine or congestion_control{hint}");
        return refuse("kind", kind, &expected);
    }
    let plain = |text: &str| {
        !text.is_empty()
            && text.len() <= 64
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    if !plain(name) {
        return refuse("name", name, "1 to 64 letters, digits, hyphens and underscores");
    }
    if crate::station::serves(serves).is_none() {
        return refuse("traffic", serves, "everything, lasting_connections or one_download");
    }
    if schema.is_some() && code.get_export(export::CONFIGURE).is_none() {
        return Err(("which reads parameters as JSON".into(), format!("a function {}", export::CONFIGURE)));
    }
    if parameters.len() > MOST_PARAMETERS {
        return Err((format!("which has {} parameters", parameters.len()), format!("at most {MOST_PARAMETERS}")));
    }
    for (place, declared) in parameters.iter().enumerate() {
        if !plain(&declared.name) || RESERVED.contains(&&*declared.name) {
            return refuse(
                "parameter",
                &declared.name,
                "a name of letters, digits, hyphens and underscores, and none of kind, module and digest",
            );
        }
        if parameters[..place].iter().any(|other| other.name == declared.name) {
            return refuse("parameter", &declared.name, "each name once");
        }
        parameters::check(declared)?;
    }
    Ok(())
}

/// The fields of a table that are no parameters.
const RESERVED: [&str; 3] = ["kind", "module", "digest"];
