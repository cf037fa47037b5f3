//! Machines of Rust in a module. Nothing here needs unsafe code: the mailbox consists of atomic words.

use crate::abi::{self, Answer, Begin, Kind, MOST_ACTIONS, place};
use crate::description::{Description, Refusal, Settings, serves_name};
use crate::record::{Record, Sink, Source};
use netlull_document::ConfigError;
use netlull_mechanism::Machine;
use netlull_mechanism::link::{self, Controller as _};
use netlull_mechanism::observe::{Observation, Plug, Subscriber, Subscription};
use netlull_mechanism::station;
use netlull_units::Instant;
use schemars::{JsonSchema, schema_for};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::cell::RefCell;
use std::fmt::Debug;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

static MAILBOX: [AtomicU64; place::LENGTH] = [const { AtomicU64::new(0) }; place::LENGTH];

thread_local! {
    static TEXT: RefCell<String> = const { RefCell::new(String::new()) };
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static REPORT: RefCell<Report> = const { RefCell::new(Report { texts: Vec::new(), words: Vec::new() }) };
}

/// The variables that the host reads: their names and states, and the words with the places of these texts.
struct Report {
    texts: Vec<[String; 2]>,
    words: Vec<u64>,
}

/// A place in the mailbox.
struct At(usize);

impl Sink for At {
    #[inline]
    fn put(&mut self, word: u64) {
        MAILBOX[self.0].store(word, Ordering::Relaxed);
        self.0 += 1;
    }

    #[inline]
    fn skip(&mut self, words: usize) {
        self.0 += words;
    }
}

impl Source for At {
    #[inline]
    fn take(&mut self) -> u64 {
        self.0 += 1;
        MAILBOX[self.0 - 1].load(Ordering::Relaxed)
    }

    #[inline]
    fn skip(&mut self, words: usize) {
        self.0 += words;
    }
}

/// Reads a record of the host.
#[inline]
fn given<T: Record>(place: usize) -> T {
    match T::read(&mut At(place)) {
        Ok(value) => value,
        Err(error) => unreachable!("the host wrote a word that {error}"),
    }
}

/// Hands a text to the host.
fn say(text: String) {
    TEXT.with_borrow_mut(|last| {
        *last = text;
        let mut at = At(place::TEXT);
        at.put(last.as_ptr() as u64);
        at.put(last.len() as u64);
    });
}

/// Hands a value to the host as JSON.
fn say_json(value: &impl serde::Serialize) {
    say(serde_json::to_string(value).unwrap_or_default());
}

/// The address of the mailbox. The first call lets panics leave their message.
#[must_use]
pub fn mailbox() -> usize {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        if cfg!(target_family = "wasm") {
            std::panic::set_hook(Box::new(|panic| say(panic.to_string())));
        }
    });
    MAILBOX.as_ptr() as usize
}

/// The address of a buffer of this length for a text of the host.
#[must_use]
pub fn buffer(length: usize) -> usize {
    BUFFER.with_borrow_mut(|buffer| {
        *buffer = vec![0; length];
        buffer.as_mut_ptr() as usize
    })
}

/// The text of the host, as JSON.
fn told() -> Value {
    BUFFER.with_borrow(|buffer| serde_json::from_slice(std::hint::black_box(buffer)).unwrap_or_default())
}

/// A machine in a module.
pub trait Guest {
    /// The description.
    fn describe(&self) -> Description;

    /// Reads the parameters.
    ///
    /// # Errors
    /// If a parameter is missing or out of range.
    fn configure(&mut self, parameters: &Value) -> Result<Settings, ConfigError>;

    /// Makes the machine. `told` is the text of the host, if there is one.
    ///
    /// # Errors
    /// If the machine does not fit its context.
    fn create(&mut self, told: &Value) -> Result<(), ConfigError>;

    /// Handles the event in the mailbox.
    fn event(&mut self);

    /// Reports the variables of a congestion control: the name, and a state or, if that is empty, a number.
    fn variables(&self, _each: &mut dyn FnMut(&str, &str, f64)) {}
}

/// Puts the description where the host finds it.
pub fn describe(guest: &impl Guest) {
    say_json(&guest.describe());
}

/// Puts a guest's variables where the host finds them.
pub fn variables(guest: &impl Guest) {
    REPORT.with_borrow_mut(|report| {
        let Report { texts, words } = report;
        texts.clear();
        words.clear();
        guest.variables(&mut |name, state, number| {
            let pair = [name.to_owned(), state.to_owned()];
            for text in &pair {
                words.extend([if text.is_empty() { 0 } else { text.as_ptr() as u64 }, text.len() as u64]);
            }
            words.push(number.to_bits());
            texts.push(pair);
        });
        let mut at = At(place::TEXT);
        at.put(words.as_ptr() as u64);
        at.put(texts.len() as u64);
    });
}

/// Configures a guest. Returns 0, or 1 after an error.
pub fn configure(guest: &mut impl Guest) -> i32 {
    match guest.configure(&told()) {
        Ok(settings) => {
            say_json(&settings);
            0
        }
        Err(error) => refuse(error),
    }
}

/// Creates a guest's machine. Returns 0, or 1 after an error.
pub fn create(guest: &mut impl Guest) -> i32 {
    match guest.create(&told()) {
        Ok(()) => 0,
        Err(error) => refuse(error),
    }
}

fn refuse(error: ConfigError) -> i32 {
    say_json(&Refusal::from(error));
    1
}

/// The parameters of a type.
fn parameters<C: DeserializeOwned>(parameters: &Value) -> Result<C, ConfigError> {
    Ok(netlull_document::read(parameters)?)
}

/// A link controller or a station's machine, with its configuration.
#[derive(Debug)]
pub struct Holder<C, M> {
    name: &'static str,
    config: Option<C>,
    machine: Option<M>,
}

impl<C, M> Holder<C, M> {
    /// No machine yet.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, config: None, machine: None }
    }
}

impl<C, M: Machine> Holder<C, M>
where
    M::Event: Record,
    M::Action: Record,
{
    /// Handles the event in the mailbox, and writes timeout and actions.
    #[inline]
    fn handle(&mut self) -> Option<&M> {
        let machine = self.machine.as_mut()?;
        machine.handle(given::<Instant>(place::NOW), given::<M::Event>(place::EVENT));
        let mut at = At(place::ANSWER + Answer::WORDS);
        let mut actions = 0;
        while let Some(action) = machine.poll_action() {
            assert!(actions < MOST_ACTIONS as u64, "more than {MOST_ACTIONS} actions");
            action.write(&mut at);
            actions += 1;
        }
        Self::answer(machine, actions);
        Some(machine)
    }

    #[inline]
    fn answer(machine: &M, actions: u64) {
        Answer { actions, timeout: machine.next_timeout() }.write(&mut At(place::ANSWER));
    }

    fn made(&mut self, machine: M) {
        Self::answer(&machine, 0);
        self.machine = Some(machine);
    }
}

impl<C: link::Parameters> Guest for Holder<C, C::Machine> {
    fn describe(&self) -> Description {
        let description = Description::new(Kind::LinkController, self.name, schema_for!(C).to_value());
        Description { reads_segments: C::READS_SEGMENTS, ..description }
    }

    fn configure(&mut self, given: &Value) -> Result<Settings, ConfigError> {
        let config: C = parameters(given)?;
        let settings = Settings { initial_rate: config.initial_rate(), ..Settings::default() };
        self.config = Some(config);
        Ok(settings)
    }

    fn create(&mut self, _told: &Value) -> Result<(), ConfigError> {
        let Some(config) = &self.config else { return Ok(()) };
        let Begin { start, context } = given::<Begin<link::Context>>(place::CONTEXT);
        let machine = config.build(context, start)?;
        self.made(machine);
        Ok(())
    }

    #[inline]
    fn event(&mut self) {
        if let Some(machine) = self.handle()
            && C::READS_SEGMENTS
        {
            machine.estimates().write(&mut At(place::ESTIMATES));
        }
    }
}

/// The parameters of a rate controller: a link controller that gets observations instead of events.
pub trait RateControllerConfig: DeserializeOwned + JsonSchema + Debug {
    /// The machine.
    type Subscriber: Subscriber;

    /// The times of observations, the rate at the start and the pause of rate changes.
    fn plug(&self) -> Plug;

    /// Makes the machine.
    ///
    /// # Errors
    /// If a parameter is out of range, or the machine does not fit the link.
    fn build(&self, link: link::Context, start: Instant) -> Result<Self::Subscriber, ConfigError>;
}

/// A rate controller, with its configuration.
#[derive(Debug)]
pub struct RateControllerHolder<C: RateControllerConfig> {
    name: &'static str,
    config: Option<C>,
    subscriber: Option<C::Subscriber>,
}

impl<C: RateControllerConfig> RateControllerHolder<C> {
    /// No machine yet.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, config: None, subscriber: None }
    }
}

impl<C: RateControllerConfig> Guest for RateControllerHolder<C> {
    fn describe(&self) -> Description {
        let description = Description::new(Kind::LinkController, self.name, schema_for!(C).to_value());
        Description { subscription: Some(Subscription::default()), ..description }
    }

    fn configure(&mut self, given: &Value) -> Result<Settings, ConfigError> {
        let config: C = parameters(given)?;
        let Plug { subscription, initial_rate, transition } = config.plug();
        self.config = Some(config);
        Ok(Settings { subscription: Some(subscription), initial_rate, transition, ..Settings::default() })
    }

    fn create(&mut self, _told: &Value) -> Result<(), ConfigError> {
        let Some(config) = &self.config else { return Ok(()) };
        let Begin { start, context } = given::<Begin<link::Context>>(place::CONTEXT);
        self.subscriber = Some(config.build(context, start)?);
        Ok(())
    }

    // A module gives up by a trap, which the host names.
    #[allow(clippy::panic)]
    fn event(&mut self) {
        let Some(subscriber) = &mut self.subscriber else { return };
        let decision = match subscriber.observe(&given::<Observation>(place::EVENT)) {
            Ok(decision) => decision,
            Err(error) => panic!("{error}"),
        };
        Answer { actions: u64::from(decision.is_some()), timeout: None }.write(&mut At(place::ANSWER));
        if let Some(decision) = decision {
            decision.write(&mut At(place::ANSWER + Answer::WORDS));
        }
    }
}

/// A station's machine, with its configuration.
#[derive(Debug)]
pub struct StationHolder<C: station::Parameters>(Holder<C, C::Machine>);

impl<C: station::Parameters> StationHolder<C> {
    /// No machine yet.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self(Holder::new(name))
    }
}

impl<C: station::Parameters> Guest for StationHolder<C> {
    fn describe(&self) -> Description {
        let description = Description::new(Kind::StationMachine, self.0.name, schema_for!(C).to_value());
        Description { serves: serves_name(C::SERVES).to_owned(), ..description }
    }

    fn configure(&mut self, given: &Value) -> Result<Settings, ConfigError> {
        let config: C = parameters(given)?;
        let settings = Settings { access_point: config.access_point().cloned(), ..Settings::default() };
        self.0.config = Some(config);
        Ok(settings)
    }

    fn create(&mut self, _told: &Value) -> Result<(), ConfigError> {
        let Some(config) = &self.0.config else { return Ok(()) };
        let Begin { start, context } = given::<Begin<station::Context>>(place::CONTEXT);
        let machine = config.build(context, start)?;
        self.0.made(machine);
        Ok(())
    }

    #[inline]
    fn event(&mut self) {
        self.0.handle();
    }
}

#[cfg(feature = "tcp")]
pub use self::congestion::ControlHolder;

#[cfg(feature = "tcp")]
mod congestion {
    use super::{At, Guest, given, parameters};
    use crate::abi::{Begin, Kind, place};
    use crate::control::{ControlAnswer, ControlContext, Deliveries, deliver};
    use crate::description::{Description, Settings};
    use crate::record::Record;
    use netlull_document::ConfigError;
    use netlull_tcp::TcpOptions;
    use netlull_tcp::cc::{CongestionControl, CongestionControlFactory, ControlEvent, PlugInControl, Variable};
    use schemars::{JsonSchema, schema_for};
    use serde::de::DeserializeOwned;
    use serde_json::Value;

    /// A congestion control, with its parameters `P`.
    #[derive(Debug)]
    pub struct ControlHolder<P> {
        name: &'static str,
        parameters: Option<P>,
        control: Option<Box<dyn PlugInControl>>,
    }

    impl<P> ControlHolder<P> {
        /// No congestion control yet.
        #[must_use]
        pub const fn new(name: &'static str) -> Self {
            Self { name, parameters: None, control: None }
        }
    }

    impl<P: CongestionControlFactory + DeserializeOwned + JsonSchema> Guest for ControlHolder<P> {
        fn describe(&self) -> Description {
            Description::new(Kind::CongestionControl, self.name, schema_for!(P).to_value())
        }

        fn configure(&mut self, given: &Value) -> Result<Settings, ConfigError> {
            self.parameters = Some(parameters(given)?);
            Ok(Settings::default())
        }

        fn create(&mut self, told: &Value) -> Result<(), ConfigError> {
            let Some(parameters) = &self.parameters else { return Ok(()) };
            let Begin { context, .. } = given::<Begin<ControlContext>>(place::CONTEXT);
            let options: TcpOptions = super::parameters(told)?;
            let refused = |error: netlull_tcp::ConfigError| ConfigError::from_text(error.field(), error.message());
            let config = options.config(u16::try_from(context.mss).unwrap_or(u16::MAX)).map_err(refused)?;
            parameters.check(&config).map_err(refused)?;
            let control = parameters.build(&config, context.seed);
            ControlAnswer::of(&control, 0).write(&mut At(place::ANSWER));
            self.control = Some(control);
            Ok(())
        }

        #[inline]
        fn event(&mut self) {
            let Some(control) = &mut self.control else { return };
            let mut rate = given::<Deliveries>(place::DELIVERIES);
            deliver(&given::<ControlEvent>(place::EVENT), &mut rate, control);
            ControlAnswer::of(control, rate.app_limited).write(&mut At(place::ANSWER));
        }

        // A module gives up by a trap, which the host names.
        #[allow(clippy::panic)]
        fn variables(&self, each: &mut dyn FnMut(&str, &str, f64)) {
            let Some(control) = &self.control else { return };
            let reported = control.variables(&mut |name, value| match value {
                Variable::Number(number) => each(name, "", number),
                Variable::Word(word) => each(name, word, 0.0),
            });
            if let Err(error) = reported {
                panic!("{error}");
            }
        }
    }

    // `Box<dyn PlugInControl>` is a congestion control; this names the bound in errors.
    const _: fn(&Box<dyn PlugInControl>) -> u64 = CongestionControl::cwnd;
}

/// Exports a link controller: its name, and its parameters, which implement
/// [`link::Parameters`](netlull_mechanism::link::Parameters).
#[macro_export]
macro_rules! link_controller {
    ($name:literal, $config:ty) => {
        $crate::export!(
            $crate::guest::Holder<$config, <$config as $crate::mechanism::link::Parameters>::Machine>,
            $crate::guest::Holder::new($name)
        );
    };
}

/// Exports a rate controller: its name, and its parameters, which implement
/// [`RateControllerConfig`](crate::guest::RateControllerConfig).
#[macro_export]
macro_rules! rate_controller {
    ($name:literal, $config:ty) => {
        $crate::export!($crate::guest::RateControllerHolder<$config>, $crate::guest::RateControllerHolder::new($name));
    };
}

/// Exports a station's machine: its name, and its parameters, which implement
/// [`station::Parameters`](netlull_mechanism::station::Parameters).
#[macro_export]
macro_rules! station_machine {
    ($name:literal, $config:ty) => {
        $crate::export!($crate::guest::StationHolder<$config>, $crate::guest::StationHolder::new($name));
    };
}

/// Exports a congestion control: its name, and its parameters, which implement `CongestionControlFactory`.
#[cfg(feature = "tcp")]
#[macro_export]
macro_rules! congestion_control {
    ($name:literal, $parameters:ty) => {
        $crate::export!($crate::guest::ControlHolder<$parameters>, $crate::guest::ControlHolder::new($name));
    };
}

/// Exports a guest.
#[doc(hidden)]
#[macro_export]
macro_rules! export {
    ($guest:ty, $new:expr) => {
        ::std::thread_local! {
            static GUEST: ::std::cell::RefCell<$guest> = const { ::std::cell::RefCell::new($new) };
        }

        // The names are fixed by the interface, and no other code has them.
        #[allow(unsafe_code)]
        mod netlull_exports {
            use super::GUEST;
            use $crate::guest;

            #[unsafe(no_mangle)]
            extern "C" fn netlull_mailbox() -> usize {
                guest::mailbox()
            }

            #[unsafe(no_mangle)]
            extern "C" fn netlull_describe() {
                GUEST.with_borrow(guest::describe);
            }

            #[unsafe(no_mangle)]
            extern "C" fn netlull_buffer(length: usize) -> usize {
                guest::buffer(length)
            }

            #[unsafe(no_mangle)]
            extern "C" fn netlull_configure() -> i32 {
                GUEST.with_borrow_mut(guest::configure)
            }

            #[unsafe(no_mangle)]
            extern "C" fn netlull_create() -> i32 {
                GUEST.with_borrow_mut(guest::create)
            }

            #[unsafe(no_mangle)]
            extern "C" fn netlull_event() {
                GUEST.with_borrow_mut(guest::Guest::event);
            }

            #[unsafe(no_mangle)]
            extern "C" fn netlull_variables() {
                GUEST.with_borrow(guest::variables);
            }
        }
    };
}

/// The version of the interface.
pub const VERSION: u64 = abi::VERSION;
