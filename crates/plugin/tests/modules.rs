//! Modules that work, and modules that fail in every way.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod common;

use common::{MAILBOX, controller, describing, module, put, set_rate};
use netlull_guest::abi::place;
use netlull_mechanism::Machine;
use netlull_mechanism::link::{self, Controller as _, LinkAction, LinkEvent};
use netlull_mechanism::rate::QueueView;
use netlull_mechanism::station::{self, Policy as _, StationAction, StationEvent};
use netlull_plugin::{Module, limit, register};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

const FULL: BitRate = BitRate::from_mbps(10);
const TIMEOUT: LinkEvent = LinkEvent::Timeout { queue: QueueView::EMPTY };

fn link() -> link::Context {
    link::Context::new(FULL, Bytes::new(1500))
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// A file with a module.
fn file(bytes: &[u8]) -> PathBuf {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let folder = std::env::temp_dir().join(format!("netlull-plugin-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("toy-{}.wasm", NUMBER.fetch_add(1, Ordering::SeqCst)));
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The mechanism of a module, read like a document.
fn mechanism(bytes: &[u8], parameters: &Value) -> Result<link::Config, String> {
    register();
    let mut table = Map::new();
    table.insert("kind".into(), "wasm".into());
    table.insert("module".into(), file(bytes).display().to_string().into());
    table.extend(parameters.as_object().unwrap().clone());
    netlull_document::read(&Value::Object(table)).map_err(|error| error.to_string())
}

fn machine(bytes: &[u8]) -> link::Running {
    mechanism(bytes, &json!({})).unwrap().build(link(), Instant::ZERO).unwrap()
}

fn actions(machine: &mut impl Machine<Action = LinkAction>) -> Vec<LinkAction> {
    std::iter::from_fn(|| machine.poll_action()).collect()
}

fn refused(bytes: &[u8]) -> String {
    mechanism(bytes, &json!({})).unwrap_err()
}

fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{part} is not in: {message}");
    }
}

/// The fault after one event, and what the machine does from then on: full rate, no timer, no more calls.
fn fault(event: &str) -> String {
    let halves = format!(
        "(global.set $count (i64.add (global.get $count) (i64.const 1)))
         (if (i64.eq (global.get $count) (i64.const 1)) (then {} return)) {event}",
        set_rate(5_000_000, 0)
    );
    let mut machine = machine(&controller(&halves, ""));
    machine.handle(at(1), TIMEOUT);
    assert_eq!(actions(&mut machine), [LinkAction::SetRate { rate: BitRate::from_mbps(5), pause: Duration::ZERO }]);
    assert_eq!((machine.rate(), machine.fault()), (BitRate::from_mbps(5), None));
    machine.handle(at(2), TIMEOUT);
    let message = machine.fault().expect("a fault").to_string();
    assert_eq!(actions(&mut machine), [LinkAction::SetRate { rate: FULL, pause: Duration::ZERO }]);
    assert_eq!((machine.rate(), machine.changes(), machine.next_timeout()), (FULL, 2, None));
    machine.handle(at(3), TIMEOUT);
    assert_eq!(actions(&mut machine), []);
    assert_eq!(machine.fault().expect("a fault").to_string(), message);
    message
}

#[test]
fn a_module_that_fails_leaves_the_full_rate_and_a_named_error() {
    says(&fault("unreachable"), &["module is toy-", ".wasm, whose event 2 fails (", "unreachable"]);
    says(&fault("(loop $again (br $again))"), &["event 2 fails (it does not return)", "at most 1000000 instructions"]);
    says(&fault("call $event"), &["event 2 fails (", "stack"]);
    let grow = "(loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))";
    says(&fault(grow), &["event 2 fails (", "memory", "expected at most 16 MiB of memory"]);
    says(&fault("(drop (i32.load (i32.const -4)))"), &["event 2 fails (", "out of bounds"]);
    let divide = "(drop (i64.div_u (i64.const 1) (i64.const 0)))";
    says(&fault(divide), &["event 2 fails (", "divide by zero"]);
}

#[test]
fn bulk_operations_count_by_their_length() {
    // 15 MB in a loop: 1,000,000 operations would be 15 TB.
    let grow = "(drop (memory.grow (i32.const 240)))";
    let long = "(i32.const 65536) (i32.const 1) (i32.const 15000000)";
    for operation in ["memory.fill", "memory.copy"] {
        let body = format!("{grow} (loop $again ({operation} {long}) (br $again))");
        says(&fault(&body), &["event 2 fails (it does not return)"]);
    }
    says(&fault("(memory.fill (i32.const 65000) (i32.const 1) (i32.const 1000))"), &["out of bounds"]);
    says(&fault("(memory.copy (i32.const 65000) (i32.const 1) (i32.const -1))"), &["event 2 fails ("]);
}

#[test]
fn copies_that_overlap_stay_whole() {
    // Bytes 16384 to 36383 count from 0; a copy by 1,000 bytes in either direction, then a check of every byte.
    let count = "(local $i i32)
        (loop $again
            (i32.store8 (i32.add (i32.const 16384) (local.get $i)) (i32.mul (local.get $i) (i32.const 7)))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $again (i32.lt_u (local.get $i) (i32.const 20000))))";
    for to in [17384, 15384] {
        let body = format!(
            "{count} (memory.copy (i32.const {to}) (i32.const 16384) (i32.const 20000))
            (local.set $i (i32.const 0))
            (loop $again
                (if (i32.ne
                        (i32.load8_u (i32.add (i32.const {to}) (local.get $i)))
                        (i32.and (i32.mul (local.get $i) (i32.const 7)) (i32.const 255)))
                    (then unreachable))
                (local.set $i (i32.add (local.get $i) (i32.const 1)))
                (br_if $again (i32.lt_u (local.get $i) (i32.const 20000))))"
        );
        let mut machine = machine(&controller(&body, ""));
        machine.handle(at(1), TIMEOUT);
        assert_eq!(machine.fault(), None, "{to}");
    }
}

#[test]
fn impossible_actions_are_faults() {
    let impossible = "event 2 asks for the impossible (";
    let rate = |rate| fault(&set_rate(rate, 0));
    says(&rate(0), &[impossible, "rate is 0 b/s"]);
    says(&rate(10_000_001), &[impossible, "at most the link's rate, 10 Mb/s"]);
    says(&fault(&set_rate(1, 10_000_000_001)), &[impossible, "pause is ", "at most 10 s"]);
    let tag = put(place::ANSWER + 3, "(i64.const 7)");
    says(&fault(&format!("{}{tag}", set_rate(1, 0))), &[impossible, "7 is no value of LinkAction"]);
    let many = put(place::ANSWER, "(i64.const 33)");
    says(&fault(&many), &[impossible, "33 actions, more than 32"]);
    let window = [put(place::ANSWER, "(i64.const 1)"), put(place::ANSWER + 3, "(i64.const 1)")].concat();
    says(&fault(&window), &[impossible, "window is ", "only in answer to an acknowledgement"]);
    let flag = put(place::ANSWER + 1, "(i64.const 2)");
    says(&fault(&flag), &[impossible, "2 is no value of 0 or 1"]);
}

#[test]
fn a_module_that_never_lets_time_pass_fails() {
    let body = [put(place::ANSWER + 1, "(i64.const 1)"), put(place::ANSWER + 2, "(i64.const 0)")].concat();
    let mut machine = machine(&controller(&body, ""));
    machine.handle(at(5), TIMEOUT);
    assert_eq!(machine.next_timeout(), Some(at(5)), "a timeout in the past is due at once");
    for _ in 0..limit::TIMEOUTS {
        machine.handle(at(5), TIMEOUT);
    }
    says(&machine.fault().expect("a fault").to_string(), &["more than 100000 timeouts at one time"]);
}

#[test]
fn files_that_are_no_modules_are_refused() {
    says(&refused(b"netlull"), &["module: is toy-", "which is not valid (", "expected a WebAssembly module"]);
    let text = |text: &str| refused(&wat::parse_str(text).unwrap());
    says(&text("(module)"), &["which has no memory", "docs/how-to/wasm-interface.md"]);
    says(&text(r#"(module (memory (export "memory") 1))"#), &["which has no function netlull_mailbox"]);
    let clock = r#"(module (import "wasi_snapshot_preview1" "clock_time_get" (func)))"#;
    says(&text(clock), &["which imports wasi_snapshot_preview1.clock_time_get", "a module without imports"]);
    let described = |description: &str| refused(&module(description, "", ""));
    says(&described("{"), &["whose description is wrong ("]);
    let version = r#"{"netlull":9,"kind":"link_controller","name":"toy"}"#;
    says(&described(version), &["which has version 9 of the interface", "expected version 1"]);
    says(&described(&describing("router", "")), &["whose kind is \"router\"", "expected link_controller, "]);
    let station = describing("station_machine", "");
    says(&described(&station), &["whose kind is station_machine", "a module of the kind link_controller"]);
    let endless = module(&describing("link_controller", ""), "", "(func $s (loop $l (br $l))) (start $s)");
    says(&refused(&endless), &["whose start fails (it does not return)"]);
    let missing = netlull_document::read::<link::Config>(&json!({ "kind": "wasm", "module": "/nowhere/x.wasm" }));
    says(&missing.unwrap_err().to_string(), &["module: is /nowhere/x.wasm (there is no such file); expected one that"]);
    // A sparse file, by its length alone.
    let large = file(b"");
    std::fs::File::options().write(true).open(&large).unwrap().set_len(limit::MODULE as u64 + 1).unwrap();
    let large =
        netlull_document::read::<link::Config>(&json!({ "kind": "wasm", "module": large.display().to_string() }));
    says(&large.unwrap_err().to_string(), &[&format!("(too large); expected at most {} MiB", limit::MODULE >> 20)]);
    let none = netlull_document::read::<link::Config>(&json!({ "kind": "wasm" }));
    says(&none.unwrap_err().to_string(), &["module: is missing"]);
}

/// A module of nearly `bytes` bytes whose branches copy as many results as possible, each to another place.
fn branches(results: u32, bytes: usize) -> Vec<u8> {
    let all = vec![wasm_encoder::ValType::I64; results as usize];
    let mut types = wasm_encoder::TypeSection::new();
    types.ty().function([], []);
    types.ty().function([], all);
    let mut body = wasm_encoder::Function::new([(results + 1, wasm_encoder::ValType::I64)]);
    let mut code = body.instructions();
    code.block(wasm_encoder::BlockType::FunctionType(1));
    (0..results).for_each(|place| _ = code.local_get(place * 7 % results));
    (0..20_000).for_each(|_| _ = code.local_get(results).i32_wrap_i64().br_if(0));
    code.end();
    (0..results).for_each(|_| _ = code.drop());
    code.end();
    let (mut functions, mut codes) = (wasm_encoder::FunctionSection::new(), wasm_encoder::CodeSection::new());
    for _ in 0..bytes / (body.byte_len() + 4) {
        functions.function(0);
        codes.function(&body);
    }
    wasm_encoder::Module::new().section(&types).section(&functions).section(&codes).clone().finish()
}

#[test]
fn translation_needs_limited_memory() {
    says(&refused(&branches(999, 1 << 20)), &["which is not valid (", "32 results"]);
    // The largest module with the most results: 16 MiB would take 1.8 GB.
    let largest = branches(31, limit::MODULE);
    assert!(largest.len() > limit::MODULE * 9 / 10 && largest.len() <= limit::MODULE, "{}", largest.len());
    says(&refused(&largest), &["which has no memory"]);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    assert!(peak.is_none_or(|kilobytes| kilobytes < 700_000), "{peak:?} kB");
}

#[test]
fn an_error_names_its_own_file_although_an_equal_one_is_loaded() {
    let bytes = controller("unreachable", "");
    let (_first, second) = (machine(&bytes), file(&bytes));
    let table = json!({ "kind": "wasm", "module": second.display().to_string() });
    let mechanism: link::Config = netlull_document::read(&table).unwrap();
    let mut machine = mechanism.build(link(), Instant::ZERO).unwrap();
    machine.handle(at(1), TIMEOUT);
    let name = second.file_name().unwrap().to_string_lossy();
    says(&machine.fault().expect("a fault").to_string(), &[&format!("module is {name}, whose event 1 fails (")]);
}

#[test]
fn a_text_of_a_module_is_short_and_on_one_line() {
    // 1,000 bytes of control characters: 10 in every word.
    let fill = "(memory.fill (i32.const 20000) (i32.const 10) (i32.const 1000))";
    let body = [fill, &put(place::TEXT, "(i64.const 20000)"), &put(place::TEXT + 1, "(i64.const 1000)"), "unreachable"];
    let message = fault(&body.concat());
    assert!(message.chars().all(|each| !each.is_control()), "{message}");
    assert!(message.chars().count() < 600, "{message}");
}

#[test]
fn a_parameter_with_a_wrong_default_or_limit_is_refused() {
    let declared = |fields: &str| {
        let more = format!(r#","parameters":[{{"name":"pause","type":"duration"{fields}}}]"#);
        refused(&controller("", &more))
    };
    let duration = "expected a duration with its unit";
    for (what, value) in [("default", "3"), ("minimum", "true"), ("maximum", "\"10 kB\"")] {
        let message = declared(&format!(r#","{what}":{value}"#));
        says(&message, &[&format!("whose parameter \"pause\" has the {what} {value}"), duration]);
    }
    let beyond = declared(r#","default":"11 ms","maximum":"10 ms""#);
    says(&beyond, &["has the default \"11 ms\"", "of at most \"10 ms\""]);
    let twice = r#","parameters":[{"name":"x","type":"number"},{"name":"x","type":"rate"}]"#;
    says(&refused(&controller("", twice)), &["whose parameter is \"x\"", "each name once"]);
}

#[test]
fn a_digest_names_one_module() {
    let bytes = controller("", "");
    let digest = Module::from_bytes("toy.wasm", &bytes).unwrap().digest().to_owned();
    let read = mechanism(&bytes, &json!({ "digest": digest })).unwrap();
    let written = serde_json::to_value(&read).unwrap();
    assert_eq!((&written["kind"], &written["digest"]), (&json!("wasm"), &json!(digest)));
    assert_eq!(netlull_document::read::<link::Config>(&written).unwrap(), read);
    let other = mechanism(&bytes, &json!({ "digest": "00" })).unwrap_err();
    says(&other, &["digest: is 00; expected ", &digest]);
}

const PARAMETERS: &str = r#","parameters":[
    {"name":"share","type":"number","minimum":0,"maximum":1},
    {"name":"queue","type":"integer","default":5,"minimum":1},
    {"name":"pause","type":"duration","default":"2 ms","maximum":"10 ms"},
    {"name":"rate","type":"rate","default":"1 Mb/s"},
    {"name":"backlog","type":"bytes","default":"15 kB"},
    {"name":"eager","type":"boolean","default":false}]"#;

#[test]
fn declared_parameters_are_words_and_errors_name_them() {
    // The event answers with the parameter `rate` as the rate and the parameter `pause` as the pause.
    let load = |index: usize| format!("(i64.load (i32.const {}))", MAILBOX + (place::PARAMETERS + index) * 8);
    let body =
        [put(place::ANSWER, "(i64.const 1)"), put(place::ANSWER + 4, &load(3)), put(place::ANSWER + 5, &load(2))];
    let bytes = controller(&body.concat(), &PARAMETERS.replace('\n', ""));
    let given = |parameters: Value| mechanism(&bytes, &parameters);
    let mut machine = given(json!({ "share": 0.5, "rate": "3 Mb/s" })).unwrap().build(link(), Instant::ZERO).unwrap();
    machine.handle(at(1), TIMEOUT);
    let expected = LinkAction::SetRate { rate: BitRate::from_mbps(3), pause: Duration::from_millis(2) };
    assert_eq!(actions(&mut machine), [expected]);
    let why = |parameters: Value| given(parameters).unwrap_err();
    assert_eq!(why(json!({})), "share: is missing; expected a number from 0 to 1");
    assert_eq!(why(json!({ "share": 2 })), "share: is 2; expected a number from 0 to 1");
    assert_eq!(why(json!({ "share": "x" })), "share: is \"x\"; expected a number from 0 to 1");
    assert_eq!(why(json!({ "share": 1, "queue": 0 })), "queue: is 0; expected a whole number of at least 1");
    assert_eq!(why(json!({ "share": 1, "queue": 1.5 })), "queue: is 1.5; expected a whole number of at least 1");
    let pause = "expected a duration with its unit of at most \"10 ms\"";
    assert_eq!(why(json!({ "share": 1, "pause": "11 ms" })), format!("pause: is \"11 ms\"; {pause}"));
    assert_eq!(why(json!({ "share": 1, "pause": 3 })), format!("pause: is 3; {pause}"));
    says(&why(json!({ "share": 1, "speed": 1 })), &["speed: is no parameter of the module; expected one of share, "]);
}

#[test]
fn not_a_number_has_one_form() {
    // The bits of 0/0 with a sign and of a sum with a payload, as the pause and the rate of an answer.
    let nan = "(i64.reinterpret_f64 (f64.div (f64.const 0) (f64.const 0)))";
    let sum = "(i64.reinterpret_f64 (f64.add (f64.const -nan:0x4000000000123) (f64.const 1)))";
    let equal = format!(
        "(i64.extend_i32_u (i32.and (i64.eq {nan} (i64.const 0x7ff8000000000000)) (i64.eq {sum} (i64.const 0x7ff8000000000000))))"
    );
    let body =
        [put(place::ANSWER, "(i64.const 1)"), put(place::ANSWER + 4, "(i64.const 7)"), put(place::ANSWER + 5, &equal)];
    let mut machine = machine(&controller(&body.concat(), ""));
    machine.handle(at(1), TIMEOUT);
    let one = LinkAction::SetRate { rate: BitRate::from_bps(7), pause: Duration::from_nanos(1) };
    assert_eq!(actions(&mut machine), [one], "{:?}", machine.fault());
}

#[test]
fn a_rate_controller_gets_ticks_and_decides_rates() {
    // It answers each observation with half of the present rate.
    let present = MAILBOX + (place::EVENT + 1 + 16 + 1) * 8;
    let half = format!("(i64.shr_u (i64.load (i32.const {present})) (i64.const 1))");
    let body = [put(place::ANSWER, "(i64.const 1)"), put(place::ANSWER + 4, &half)].concat();
    let more = r#","subscription":{"tick":"10 ms"},"parameters":[
        {"name":"tick","type":"duration","default":"5 ms"},{"name":"transition","type":"duration","default":"1 ms"}]"#;
    let bytes = controller(&body, &more.replace('\n', ""));
    let why = mechanism(&bytes, &json!({ "transition": "10.1 s" })).unwrap_err();
    assert!(why.starts_with("transition: is 10.1 s; expected at most 10 s"), "{why}");
    let mut machine = machine(&bytes);
    assert_eq!(machine.next_timeout(), Some(at(5)));
    machine.handle(at(5), TIMEOUT);
    let expected = LinkAction::SetRate { rate: BitRate::from_mbps(5), pause: Duration::from_millis(1) };
    assert_eq!(actions(&mut machine), [expected], "{:?}", machine.fault());
    assert_eq!(machine.next_timeout(), Some(at(10)));
}

#[test]
fn a_station_machine_that_fails_stays_awake() {
    register();
    let bytes = module(&describing("station_machine", ""), "unreachable", "");
    let table = json!({ "kind": "wasm", "module": file(&bytes).display().to_string() });
    let mechanism: station::Config = netlull_document::read(&table).unwrap();
    let station = station::Context { air_rate: FULL, wake: Duration::from_millis(1), mtu: Bytes::new(1500) };
    let mut machine = mechanism.build(station, Instant::ZERO).unwrap();
    machine.handle(at(1), StationEvent::Beacon { buffered: true });
    let all: Vec<_> = std::iter::from_fn(|| machine.poll_action()).collect();
    assert_eq!((all, machine.next_timeout()), (vec![StationAction::Wake], None));
    says(&machine.fault().expect("a fault").to_string(), &["whose event 1 fails ("]);
}
