//! A running module: its memory, its fuel and its failures.

use crate::module::{Configured, one_line};
use crate::parameters::{self, Parameters};
use netlull_document::ConfigError;
use netlull_guest::abi::{Begin, export, place};
#[cfg(feature = "tcp")]
use netlull_guest::abi::{MOST_VARIABLES, VariableWords};
use netlull_guest::description::{Refusal, Settings};
use netlull_guest::record::{BadWord, Record, Sink, Source};
#[cfg(feature = "tcp")]
use netlull_tcp::cc::Variable;
use netlull_units::Instant;
use serde_json::Value;
use std::fmt;
use wasmi::{Linker, Memory, Store, StoreLimits, StoreLimitsBuilder, TrapCode, TypedFunc};

/// The limits of a module.
pub mod limit {
    /// The instructions of an event. 64 bytes of a bulk operation on memory count as one (wasmi's fuel).
    pub const EVENT: u64 = 1_000_000;
    /// The instructions of the description, and of the making of a machine.
    pub const START: u64 = 100_000_000;
    /// The memory in bytes.
    pub const MEMORY: usize = 16 << 20;
    /// The stack in bytes.
    pub const STACK: usize = 256 << 10;
    /// The calls inside each other.
    pub const CALLS: usize = 10_000;
    /// The elements of a table.
    pub const TABLE: usize = 4096;
    /// The file in bytes. Translated code can take 120 times the memory of its file.
    pub const MODULE: usize = 4 << 20;
    /// The timeouts at one instant.
    pub const TIMEOUTS: u32 = 100_000;
    /// A text of the module in bytes.
    pub const TEXT: usize = 1 << 20;
}

/// A running module.
pub(crate) struct Instance {
    store: Store<StoreLimits>,
    instance: wasmi::Instance,
    memory: Memory,
    /// The mailbox's address.
    mailbox: usize,
    event: TypedFunc<(), ()>,
    file: String,
    /// The number of events so far.
    events: u64,
    /// The latest timeout, and the number of timeouts at that time.
    timeouts: (Instant, u32),
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").field("file", &self.file).field("events", &self.events).finish_non_exhaustive()
    }
}

/// Words of the mailbox, from its memory.
struct Words<'a>(std::slice::ChunksExact<'a, u8>);

impl Source for Words<'_> {
    #[inline]
    fn take(&mut self) -> u64 {
        self.0.next().and_then(|word| word.try_into().ok()).map_or(0, u64::from_le_bytes)
    }

    #[inline]
    fn skip(&mut self, words: usize) {
        if words > 0 {
            self.0.nth(words - 1);
        }
    }
}

/// Words of the mailbox, into its memory.
pub(crate) struct WordsMut<'a>(std::slice::ChunksExactMut<'a, u8>);

impl Sink for WordsMut<'_> {
    #[inline]
    fn put(&mut self, word: u64) {
        if let Some(place) = self.0.next() {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }

    #[inline]
    fn skip(&mut self, words: usize) {
        if words > 0 {
            self.0.nth(words - 1);
        }
    }
}

impl Instance {
    /// Instantiates a module and asks for its mailbox.
    pub fn new(code: &wasmi::Module, file: &str) -> Result<Self, ConfigError> {
        let limits = StoreLimitsBuilder::new()
            .memory_size(limit::MEMORY)
            .table_elements(limit::TABLE)
            .instances(1)
            .memories(1)
            .tables(8)
            .trap_on_grow_failure(true)
            .build();
        let mut store = Store::new(code.engine(), limits);
        store.limiter(|limits| limits);
        let failed = |error: &wasmi::Error| failure(file, "start", error, "");
        store.set_fuel(limit::START).map_err(|error| failed(&error))?;
        let linker = Linker::new(code.engine());
        let instance = linker.instantiate_and_start(&mut store, code).map_err(|error| failed(&error))?;
        let memory = instance
            .get_memory(&store, export::MEMORY)
            .ok_or_else(|| failed(&wasmi::Error::new("it has no memory")))?;
        let mailbox = instance
            .get_typed_func::<(), i32>(&store, export::MAILBOX)
            .and_then(|mailbox| mailbox.call(&mut store, ()))
            .map_err(|error| failed(&error))?;
        let event = instance.get_typed_func(&store, export::EVENT).map_err(|error| failed(&error))?;
        let mailbox = mailbox.cast_unsigned() as usize;
        let fits = mailbox.checked_add(place::LENGTH * 8).is_some_and(|end| end <= memory.data_size(&store));
        if !fits || !mailbox.is_multiple_of(8) {
            let what = format!("{file}, whose mailbox is at {mailbox}");
            let expected = format!("a multiple of 8 with {} bytes of memory behind it", place::LENGTH * 8);
            return Err(ConfigError::new("module", what, expected));
        }
        Ok(Self {
            store,
            instance,
            memory,
            mailbox,
            event,
            file: file.to_owned(),
            events: 0,
            timeouts: (Instant::ZERO, 0),
        })
    }

    /// Counts a timeout at `now`.
    pub fn count_timeout(&mut self, now: Instant) -> Result<(), ConfigError> {
        let (last, count) = self.timeouts;
        self.timeouts = (now, if last == now { count + 1 } else { 1 });
        if self.timeouts.1 > limit::TIMEOUTS {
            return Err(self.impossible(&format!("more than {} timeouts at one time", limit::TIMEOUTS)));
        }
        Ok(())
    }

    /// The description, as JSON.
    pub fn describe(&mut self) -> Result<String, ConfigError> {
        let function = self.instance.get_typed_func::<(), ()>(&self.store, export::DESCRIBE);
        let done = function.and_then(|describe| describe.call(&mut self.store, ()));
        done.map_err(|error| self.failed("description", &error))?;
        self.text().ok_or_else(|| self.unusable("description", "the address of a text is outside of its memory"))
    }

    /// An instance with the parameters of a document, before its machine is made; and the settings that follow.
    pub fn configured(configured: &Configured) -> Result<(Self, Settings), ConfigError> {
        let mut instance = Self::new(configured.module.code(), &configured.module.file)?;
        let settings = match &configured.parameters {
            Parameters::Words(words) => {
                let mut to = instance.words_mut(place::PARAMETERS);
                words.iter().for_each(|word| to.put(*word));
                parameters::settings(configured.module.description(), words)
            }
            Parameters::Json(parameters) => {
                instance.tell(parameters)?;
                let text = instance.start(export::CONFIGURE)?.unwrap_or_default();
                serde_json::from_str(&text).map_err(|error| instance.unusable("settings", &error.to_string()))?
            }
        };
        Ok((instance, settings))
    }

    /// Makes the machine.
    pub fn create<C: Record>(&mut self, start: Instant, context: C) -> Result<(), ConfigError> {
        Begin { start, context }.write(&mut self.words_mut(place::CONTEXT));
        self.start(export::CREATE).map(|_| ())
    }

    /// Hands a value to the module as JSON.
    pub fn tell(&mut self, value: &Value) -> Result<(), ConfigError> {
        let text = value.to_string();
        let length = i32::try_from(text.len()).unwrap_or(i32::MAX);
        let function = self.instance.get_typed_func::<i32, i32>(&self.store, export::BUFFER);
        let address = function.and_then(|buffer| buffer.call(&mut self.store, length));
        let address = address.map_err(|error| self.failed("buffer", &error))?.cast_unsigned() as usize;
        let memory = self.memory.data_mut(&mut self.store);
        match address.checked_add(text.len()).and_then(|end| memory.get_mut(address..end)) {
            Some(place) => {
                place.copy_from_slice(text.as_bytes());
                Ok(())
            }
            None => Err(self.unusable("buffer", "its address is outside of its memory")),
        }
    }

    /// Calls a function of the start. Returns the text that it has left, if it succeeds.
    fn start(&mut self, name: &str) -> Result<Option<String>, ConfigError> {
        self.clear_text();
        let fuel = self.store.set_fuel(limit::START);
        let function = self.instance.get_typed_func::<(), i32>(&self.store, name);
        let status = fuel.and(function).and_then(|function| function.call(&mut self.store, ()));
        let status = status.map_err(|error| self.failed("start", &error))?;
        let text = self.text();
        if status == 0 {
            return Ok(text);
        }
        let text = text.unwrap_or_default();
        let said: Option<Refusal> = serde_json::from_str(&text).ok();
        Err(said.map_or_else(
            || {
                ConfigError::new(
                    "module",
                    format!("{}, which refuses its parameters", self.file),
                    if text.is_empty() { "other values".into() } else { printable(&text) },
                )
            },
            |Refusal { field, value, expected }| {
                ConfigError::new(printable(&field), printable(&value), printable(&expected))
            },
        ))
    }

    /// Delivers an event.
    ///
    /// # Errors
    /// If the module traps, or needs too many instructions or too much memory.
    #[inline]
    pub fn deliver(&mut self, now: Instant, event: &impl Record) -> Result<(), ConfigError> {
        self.events += 1;
        let mut to = self.words_mut(place::NOW);
        now.write(&mut to);
        event.write(&mut to);
        let fuel = self.store.set_fuel(limit::EVENT);
        fuel.and_then(|()| self.event.call(&mut self.store, ())).map_err(|error| self.failed_event(&error))
    }

    /// A record that the module has left.
    #[inline]
    pub fn answer<T: Record>(&self, place: usize) -> Result<T, ConfigError> {
        T::read(&mut self.words(place)).map_err(|error| self.impossible(&error))
    }

    /// Reads the answer of a machine: its head with [`Record::WORDS`], then items.
    #[inline]
    pub fn items<T: Record>(&self, place: usize, count: u64) -> impl Iterator<Item = Result<T, BadWord>> {
        let mut words = self.words(place);
        (0..count).map(move |_| T::read(&mut words))
    }

    #[inline]
    fn words(&self, place: usize) -> Words<'_> {
        let memory = self.memory.data(&self.store);
        let from = self.mailbox + place * 8;
        Words(memory.get(from..self.mailbox + LENGTH).unwrap_or_default().chunks_exact(8))
    }

    #[inline]
    pub fn words_mut(&mut self, place: usize) -> WordsMut<'_> {
        let memory = self.memory.data_mut(&mut self.store);
        let from = self.mailbox + place * 8;
        WordsMut(memory.get_mut(from..self.mailbox + LENGTH).unwrap_or_default().chunks_exact_mut(8))
    }

    fn clear_text(&mut self) {
        let mut head = self.words_mut(place::TEXT);
        head.put(0);
        head.put(0);
    }

    /// The text of the module; `None` if it is none or outside of the memory.
    fn text(&self) -> Option<String> {
        let mut words = self.words(place::TEXT);
        let (address, length) = (usize::try_from(words.take()).ok()?, usize::try_from(words.take()).ok()?);
        let memory = self.memory.data(&self.store);
        let bytes = memory.get(address..address.checked_add(length.min(limit::TEXT))?)?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    /// The error of an answer without meaning.
    #[cold]
    pub fn impossible(&self, reason: &impl fmt::Display) -> ConfigError {
        let what = format!("{}, whose event {} asks for the impossible ({reason})", self.file, self.events);
        ConfigError::new(
            "module",
            what,
            "an action of docs/how-to/wasm-interface.md that the link or station can perform",
        )
    }

    #[cold]
    fn failed_event(&self, error: &wasmi::Error) -> ConfigError {
        self.failed(&format!("event {}", self.events), error)
    }

    /// The error of a call.
    fn failed(&self, call: &str, error: &wasmi::Error) -> ConfigError {
        failure(&self.file, call, error, &self.text().unwrap_or_default())
    }

    fn unusable(&self, call: &str, reason: &str) -> ConfigError {
        ConfigError::new(
            "module",
            format!("{}, whose {call} fails ({reason})", self.file),
            "an answer of docs/how-to/wasm-interface.md",
        )
    }
}

#[cfg(feature = "tcp")]
impl Instance {
    /// Passes on the variables of a congestion control.
    ///
    /// # Errors
    /// If the report fails, or is none.
    pub fn variables(&mut self, each: &mut dyn FnMut(&str, Variable<'_>)) -> Result<(), ConfigError> {
        let Ok(report) = self.instance.get_typed_func::<(), ()>(&self.store, export::VARIABLES) else { return Ok(()) };
        self.clear_text();
        let fuel = self.store.set_fuel(limit::EVENT);
        let done = fuel.and_then(|()| report.call(&mut self.store, ()));
        done.map_err(|error| {
            // A list, which has zero bytes, is no message.
            let said = self.text().filter(|text| !text.contains('\0')).unwrap_or_default();
            failure(&self.file, REPORT, &error, &said)
        })?;
        let mut head = self.words(place::TEXT);
        let (list, count) = (head.take(), head.take());
        let refuse = |what: String, expected: &str| {
            Err(ConfigError::new("module", format!("{}, whose {REPORT} {what}", self.file), expected))
        };
        if count > MOST_VARIABLES as u64 {
            return refuse(format!("has {count}"), &format!("at most {MOST_VARIABLES}"));
        }
        let Some(list) = self.bytes(list, count * VariableWords::WORDS as u64 * 8) else {
            return refuse("has a list outside of its memory".into(), "an address in its memory");
        };
        let mut words = Words(list.chunks_exact(8));
        let mut names: Vec<&str> = Vec::new();
        for _ in 0..count {
            let variable = VariableWords::read(&mut words).map_err(|error| self.impossible(&error))?;
            let text = |address, length| {
                let text = std::str::from_utf8(self.bytes(address, length)?).ok()?;
                (1..=LONGEST_NAME).contains(&text.len()).then_some(text).filter(|text| !text.contains(char::is_control))
            };
            let Some(name) = text(variable.name, variable.name_length) else {
                return refuse("has a name that is no text".into(), NAME);
            };
            if name.starts_with("C.") {
                return refuse(format!("has \"{name}\""), "a name that does not begin with C.");
            }
            if names.contains(&name) {
                return refuse(format!("has \"{name}\" twice"), "each name once");
            }
            names.push(name);
            if variable.state == 0 {
                each(name, Variable::Number(variable.number));
            } else if let Some(state) = text(variable.state, variable.state_length) {
                each(name, Variable::Word(state));
            } else {
                return refuse(format!("has \"{name}\" with a state that is no text"), NAME);
            }
        }
        // Nor are they the last words of a module that fails later.
        self.clear_text();
        Ok(())
    }

    /// Bytes of the memory; `None` outside of it.
    fn bytes(&self, address: u64, length: u64) -> Option<&[u8]> {
        let (from, length) = (usize::try_from(address).ok()?, usize::try_from(length).ok()?);
        self.memory.data(&self.store).get(from..from.checked_add(length)?)
    }
}

/// The length of the name of a variable or of a state, in bytes.
#[cfg(feature = "tcp")]
const LONGEST_NAME: usize = 64;
#[cfg(feature = "tcp")]
const NAME: &str = "1 to 64 bytes of UTF-8 in its memory, without control characters";

/// The name of the report of variables in errors.
const REPORT: &str = "report of variables";

/// The length of the mailbox in bytes.
const LENGTH: usize = place::LENGTH * 8;

/// The longest text of a module in an error, in characters.
const LONGEST: usize = 400;

/// A text of a module for an error: short, on one line, and without characters that control a terminal.
fn printable(text: &str) -> String {
    let shown = text.chars().take(LONGEST).map(|each| if each.is_control() { ' ' } else { each });
    shown.chain((text.chars().nth(LONGEST).is_some()).then_some('…')).collect()
}

/// The error of a call. `said` is a text that the module has left, such as the message of a panic.
fn failure(file: &str, call: &str, error: &wasmi::Error, said: &str) -> ConfigError {
    let returns = || "a module that returns from every call".to_owned();
    let small = || format!("at most {} MiB of memory", limit::MEMORY >> 20);
    let (reason, expected) = match error.as_trap_code() {
        Some(TrapCode::OutOfFuel) => {
            let most = if call.starts_with("event") || call == REPORT { limit::EVENT } else { limit::START };
            ("it does not return".to_owned(), format!("at most {most} instructions"))
        }
        Some(TrapCode::GrowthOperationLimited) => ("its memory or a table grows too much".to_owned(), small()),
        Some(TrapCode::UnreachableCodeReached) if !said.is_empty() => (printable(said), returns()),
        Some(_) => (one_line(error), returns()),
        None => {
            let reason = one_line(error);
            let expected = if reason.contains("memory") { small() } else { returns() };
            (reason, expected)
        }
    };
    ConfigError::new("module", format!("{file}, whose {call} fails ({reason})"), expected)
}

#[cfg(all(test, feature = "tcp"))]
mod tests {
    use super::*;
    use crate::module::Module;
    use netlull_guest::abi::VERSION;

    /// The report of a module whose list has these words, at 4096, and whose texts are at 2048.
    fn reported(words: &[u64], count: u64, texts: &str, before: &str) -> Result<Vec<String>, String> {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("\\{byte:02x}")).collect::<String>();
        let list: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let description = format!(r#"{{"netlull":{VERSION},"kind":"congestion_control","name":"toy"}}"#);
        let say = |address: usize, length: u64| {
            format!("(i64.store (i32.const 0) (i64.const {address})) (i64.store (i32.const 8) (i64.const {length}))")
        };
        let text = format!(
            r#"(module (memory (export "memory") 1)
            (data (i32.const 2048) "{}") (data (i32.const 4096) "{}") (data (i32.const 60000) "{}")
            (func (export "netlull_mailbox") (result i32) i32.const 0)
            (func (export "netlull_describe") {})
            (func (export "netlull_create") (result i32) i32.const 0)
            (func (export "netlull_event"))
            (func (export "netlull_variables") {before} {}))"#,
            hex(texts.as_bytes()),
            hex(&list),
            hex(description.as_bytes()),
            say(60000, description.len() as u64),
            say(4096, count),
        );
        let module =
            Module::from_bytes("toy.wasm", &wat::parse_str(text).expect("a module")).map_err(|e| e.to_string())?;
        let mut instance = Instance::new(module.code(), "toy.wasm").map_err(|error| error.to_string())?;
        let mut found = Vec::new();
        let done = instance.variables(&mut |name, value| found.push(format!("{name} {value:?}")));
        done.map(|()| found).map_err(|error| error.to_string())
    }

    #[test]
    fn numbers_and_states_are_reported() {
        let words = [2048, 4, 0, 0, 1.5_f64.to_bits(), 2052, 1, 2048, 3, 0, 2053, 3, 0, 9, f64::INFINITY.to_bits()];
        let found = reported(&words, 3, "bandwinf", "").expect("a report");
        assert_eq!(found, [r#"band Number(1.5)"#, r#"w Word("ban")"#, "inf Number(inf)"]);
        assert_eq!(reported(&[], 0, "", ""), Ok(Vec::new()));
    }

    #[test]
    fn wrong_reports_are_named() {
        let of = |words: &[u64], texts: &str| reported(words, 1, texts, "").expect_err("no report");
        for (error, expected) in [
            (of(&[2048, 6, 0, 0, 0], "C.cwnd"), "has \"C.cwnd\"; expected a name that does not begin with C."),
            (of(&[2048, 0, 0, 0, 0], ""), "has a name that is no text; expected 1 to 64 bytes"),
            (of(&[2048, 65, 0, 0, 0], &"x".repeat(65)), "has a name that is no text"),
            (of(&[2048, 3, 0, 0, 0], "a\nb"), "has a name that is no text"),
            (of(&[1 << 40, 4, 0, 0, 0], ""), "has a name that is no text"),
            (of(&[2048, u64::MAX, 0, 0, 0], "band"), "has a name that is no text"),
            (of(&[2048, 4, 65535, 4, 0], "band"), "has \"band\" with a state that is no text"),
            (reported(&[2048, 1, 0, 0, 0, 2048, 1, 0, 0, 0], 2, "x", "").expect_err("no report"), "has \"x\" twice"),
            (
                reported(&[], 65, "", "").expect_err("no report"),
                "whose report of variables has 65; expected at most 64",
            ),
            (reported(&[], 0, "", "unreachable").expect_err("no report"), "whose report of variables fails ("),
            (reported(&[], 0, "", "(loop (br 0))").expect_err("no report"), "at most 1000000 instructions"),
        ] {
            assert!(error.contains(expected), "{error}");
        }
    }
}
