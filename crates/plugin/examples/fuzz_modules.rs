//! Feeds the host with modules of four kinds: random valid ones with the exports of netlull, valid mutants of real
//! ones, real ones with changed bytes, and random bytes.
//!
//! ```text
//! fuzz_modules --seed 1 --count 1000 --out FOLDER [REAL.wasm]...
//! ```
//!
//! A module that crashes the host or keeps it busy is left in FOLDER: the program writes each module there before it
//! loads it, and removes it afterwards.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::disallowed_methods)]

use arbitrary::Unstructured;
use netlull_guest::abi::VERSION;
use netlull_mechanism::Machine;
use netlull_mechanism::link::{self, Controller as _, LinkEvent};
use netlull_mechanism::rate::{Admission, QueueView};
use netlull_mechanism::station::{self, StationEvent};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use wasm_smith::{Config, Module};

/// A module that takes longer stays in FOLDER.
const SLOW: std::time::Duration = std::time::Duration::from_secs(5);

/// The next number of SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(1);
    netlull_mechanism::gateway::spread(*state)
}

fn below(state: &mut u64, bound: usize) -> usize {
    usize::try_from(next(state) % bound.max(1) as u64).unwrap()
}

/// The exports of a module, whose bodies wasm-smith fills.
fn shape() -> Vec<u8> {
    wat::parse_str(
        r#"(module
            (memory (export "memory") 1)
            (func (export "netlull_mailbox") (result i32) unreachable)
            (func (export "netlull_describe") unreachable)
            (func (export "netlull_create") (result i32) unreachable)
            (func (export "netlull_event") unreachable))"#,
    )
    .unwrap()
}

/// A random valid module with the exports. Its mailbox and its description are real, so that its events run.
fn random(state: &mut u64, kind: &str) -> Option<Vec<u8>> {
    let bytes: Vec<u8> = (0..256 + below(state, 4096)).flat_map(|_| next(state).to_le_bytes()).collect();
    let config = Config {
        exports: Some(shape()),
        max_imports: 0,
        // The exported memory is an extra one.
        max_memories: 0,
        reference_types_enabled: false,
        max_memory32_bytes: 1 << 20,
        threads_enabled: false,
        relaxed_simd_enabled: false,
        memory64_enabled: false,
        gc_enabled: false,
        exceptions_enabled: false,
        tail_call_enabled: false,
        custom_page_sizes_enabled: false,
        wide_arithmetic_enabled: false,
        shared_everything_threads_enabled: false,
        allow_start_export: false,
        ..Config::default()
    };
    let module = Module::new(config, &mut Unstructured::new(&bytes)).ok()?.to_bytes();
    Some(described(&module, kind).unwrap_or(module))
}

/// Replaces the bodies of `netlull_mailbox`, `netlull_describe` and `netlull_create`, and adds a description as data.
fn described(module: &[u8], kind: &str) -> Option<Vec<u8>> {
    use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
    use wasm_encoder::{CodeSection, Function, Instruction as I, MemArg};
    use wasmparser::{ExternalKind, Parser, Payload};
    let text = format!(r#"{{"netlull":{VERSION},"kind":"{kind}","name":"random"}}"#);
    let mut functions: BTreeMap<u32, &str> = BTreeMap::new();
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::ExportSection(exports) = payload.ok()? {
            for export in exports {
                let export = export.ok()?;
                if export.kind == ExternalKind::Func {
                    functions.insert(export.index, export.name);
                }
            }
        }
    }
    let at = |offset| MemArg { offset, align: 3, memory_index: 0 };
    let mut out = wasm_encoder::Module::new();
    let mut code = CodeSection::new();
    let mut number = 0;
    for payload in Parser::new(0).parse_all(module) {
        match payload.ok()? {
            Payload::CodeSectionStart { .. } => code = CodeSection::new(),
            Payload::CodeSectionEntry(body) => {
                let mut own = Function::new([]);
                match functions.get(&number).copied() {
                    Some("netlull_mailbox") => {
                        own.instruction(&I::I32Const(1024)).instruction(&I::End);
                        code.function(&own);
                    }
                    Some("netlull_create") => {
                        own.instruction(&I::I32Const(0)).instruction(&I::End);
                        code.function(&own);
                    }
                    Some("netlull_describe") => {
                        for (index, chunk) in text.as_bytes().chunks(8).enumerate() {
                            let mut word = [0; 8];
                            word[..chunk.len()].copy_from_slice(chunk);
                            own.instruction(&I::I32Const(8192 + 8 * i32::try_from(index).ok()?));
                            own.instruction(&I::I64Const(i64::from_le_bytes(word)));
                            own.instruction(&I::I64Store(at(0)));
                        }
                        for (place, value) in [(1024, 8192), (1032, i64::try_from(text.len()).ok()?)] {
                            own.instruction(&I::I32Const(place)).instruction(&I::I64Const(value));
                            own.instruction(&I::I64Store(at(0)));
                        }
                        own.instruction(&I::End);
                        code.function(&own);
                    }
                    _ => {
                        RoundtripReencoder.parse_function_body(&mut code, body).ok()?;
                    }
                }
                number += 1;
            }
            other => {
                if !code.is_empty() {
                    out.section(&code);
                    code = CodeSection::new();
                }
                if let Some((id, range)) = other.as_section() {
                    out.section(&wasm_encoder::RawSection { id, data: &module[range] });
                }
            }
        }
    }
    if !code.is_empty() {
        out.section(&code);
    }
    Some(out.finish())
}

/// Copies a module with a few other constants, operators and offsets, and perhaps a byte of data. None makes it invalid.
struct Mutation<'a> {
    state: &'a mut u64,
    /// The mean number of places from one change to the next.
    rarity: usize,
}

impl Mutation<'_> {
    fn strikes(&mut self) -> bool {
        below(self.state, self.rarity) == 0
    }

    fn number(&mut self) -> i64 {
        [0, 1, -1, i64::MIN, i64::MAX, i64::from(i32::MAX), 65_536, next(self.state).cast_signed()]
            [below(self.state, 8)]
    }
}

impl wasm_encoder::reencode::Reencode for Mutation<'_> {
    type Error = std::convert::Infallible;

    fn instruction<'a>(
        &mut self,
        operator: wasmparser::Operator<'a>,
    ) -> Result<wasm_encoder::Instruction<'a>, wasm_encoder::reencode::Error<Self::Error>> {
        use wasm_encoder::Instruction as I;
        let same = wasm_encoder::reencode::utils::instruction(self, operator)?;
        if !self.strikes() {
            return Ok(same);
        }
        let which = below(self.state, 6);
        Ok(match same {
            I::I32Const(_) => I::I32Const(i32::try_from(self.number()).unwrap_or(i32::MIN)),
            I::I64Const(_) => I::I64Const(self.number()),
            I::F64Const(_) => I::F64Const(f64::from_bits(next(self.state)).into()),
            I::I32Add | I::I32Sub | I::I32Mul | I::I32DivU | I::I32Shl | I::I32LtU | I::I32Eq => {
                [I::I32Add, I::I32Sub, I::I32Mul, I::I32DivU, I::I32LtU, I::I32Eq][which].clone()
            }
            I::I64Add | I::I64Sub | I::I64Mul | I::I64DivU | I::I64Shl | I::I64ShrU => {
                [I::I64Add, I::I64Sub, I::I64Mul, I::I64DivU, I::I64RemS, I::I64ShrU][which].clone()
            }
            I::I64LtU | I::I64GtU | I::I64LtS | I::I64GtS | I::I64Eq | I::I64Ne => {
                [I::I64LtU, I::I64GtU, I::I64LtS, I::I64GtS, I::I64Eq, I::I64Ne][which].clone()
            }
            I::F64Add | I::F64Sub | I::F64Mul | I::F64Div | I::F64Min | I::F64Max => {
                [I::F64Add, I::F64Sub, I::F64Mul, I::F64Div, I::F64Min, I::F64Max][which].clone()
            }
            I::I32Load(mut place) => {
                place.offset = next(self.state) >> (32 + below(self.state, 32));
                I::I32Load(place)
            }
            I::I64Store(mut place) => {
                place.offset = next(self.state) >> (32 + below(self.state, 32));
                I::I64Store(place)
            }
            I::BrIf(_) => I::Drop,
            _ => same,
        })
    }

    fn parse_data(
        &mut self,
        section: &mut wasm_encoder::DataSection,
        datum: wasmparser::Data<'_>,
    ) -> Result<(), wasm_encoder::reencode::Error<Self::Error>> {
        let mut bytes = datum.data.to_vec();
        // Seldom, since most changes spoil the description.
        if below(self.state, 8) == 0 {
            let place = below(self.state, bytes.len());
            if let Some(byte) = bytes.get_mut(place) {
                *byte = next(self.state).to_le_bytes()[0];
            }
        }
        wasm_encoder::reencode::utils::parse_data(self, section, wasmparser::Data { data: &bytes, ..datum })
    }
}

/// A real module with changes that keep it valid.
fn mutated(state: &mut u64, real: &[u8]) -> Option<Vec<u8>> {
    use wasm_encoder::reencode::Reencode as _;
    let rarity = 1 << (4 + below(state, 7));
    let mut module = wasm_encoder::Module::new();
    Mutation { state, rarity }.parse_core_module(&mut module, wasmparser::Parser::new(0), real).ok()?;
    Some(module.finish())
}

/// A real module with changed, repeated or missing bytes.
fn changed(state: &mut u64, real: &[u8]) -> Vec<u8> {
    let mut bytes = real.to_vec();
    for _ in 0..=below(state, 4) {
        let place = below(state, bytes.len());
        match below(state, 4) {
            0 => bytes[place] ^= 1 << below(state, 8),
            1 => bytes[place] = u8::try_from(below(state, 256)).unwrap(),
            2 => bytes.truncate(place.max(8)),
            _ => {
                let end = (place + below(state, 64)).min(bytes.len());
                let piece = bytes[place..end].to_vec();
                let to = below(state, bytes.len());
                bytes.splice(to..to, piece);
            }
        }
    }
    bytes
}

/// How far a module came.
fn attempt(file: &Path, state: &mut u64, station: bool) -> &'static str {
    let table = json!({ "kind": "wasm", "module": file.display().to_string() });
    if station {
        let Ok(mechanism) = netlull_document::read::<station::Config>(&table) else { return "refused" };
        let context = station::Context {
            air_rate: BitRate::from_mbps(11),
            wake: Duration::from_millis(2),
            mtu: Bytes::new(1500),
        };
        let Ok(mut machine) = mechanism.build(context, Instant::ZERO) else { return "not created" };
        for number in 0..50 {
            let event = if number % 2 == 0 { StationEvent::Timeout } else { StationEvent::Beacon { buffered: true } };
            machine.handle(Instant::from_nanos(number * 1_000_000), event);
            while machine.poll_action().is_some() {}
        }
        use netlull_mechanism::station::Policy as _;
        return if machine.fault().is_some() { "failed" } else { "ran" };
    }
    let Ok(mechanism) = netlull_document::read::<link::Config>(&table) else { return "refused" };
    let link = link::Context::new(BitRate::from_mbps(10), Bytes::new(1500));
    let Ok(mut machine) = mechanism.build(link, Instant::ZERO) else { return "not created" };
    for number in 0..50 {
        let queue = QueueView { waiting: Bytes::new(next(state) % 100_000), in_service: Bytes::new(1500) };
        let event = match number % 3 {
            0 => LinkEvent::Arrival { size: Bytes::new(1500), admission: Admission::Accepted, queue, segment: None },
            1 => LinkEvent::Departure { queue },
            _ => LinkEvent::Timeout { queue },
        };
        machine.handle(Instant::from_nanos(number * 1_000_000), event);
        while machine.poll_action().is_some() {}
        assert!(machine.rate() <= link.rate && !machine.rate().is_zero(), "an impossible rate");
    }
    if machine.fault().is_some() { "failed" } else { "ran" }
}

/// The resident memory of this process in MB.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) / 1e3
}

fn main() {
    let (mut seed, mut count, mut out, mut real) = (1, 1000, PathBuf::from("out/fuzz"), Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().unwrap();
        match argument.as_str() {
            "--seed" => seed = value().parse().unwrap(),
            "--count" => count = value().parse().unwrap(),
            "--out" => out = value().into(),
            file => real.push(std::fs::read(file).unwrap()),
        }
    }
    netlull_plugin::register();
    std::fs::create_dir_all(&out).unwrap();
    let mut state: u64 = netlull_mechanism::gateway::spread(seed);
    let mut ends: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let mut slowest = std::time::Duration::ZERO;
    let before = resident();
    let file = out.join(format!("module-{seed}-{}.wasm", std::process::id()));
    for number in 0..count {
        let station = number % 4 == 3;
        let kind = if station { "station_machine" } else { "link_controller" };
        let (source, bytes) = match number % 20 {
            0..10 => ("random", random(&mut state, kind)),
            10..17 if !real.is_empty() => {
                let which = below(&mut state, real.len());
                ("mutated", mutated(&mut state, &real[which]))
            }
            17..19 if !real.is_empty() => {
                let which = below(&mut state, real.len());
                ("changed", Some(changed(&mut state, &real[which])))
            }
            _ => ("bytes", Some((0..below(&mut state, 500)).map(|_| next(&mut state).to_le_bytes()[0]).collect())),
        };
        let Some(bytes) = bytes else { continue };
        std::fs::write(&file, bytes).unwrap();
        let start = std::time::Instant::now();
        let end = match attempt(&file, &mut state, station) {
            // A real module can be of the other kind.
            "refused" => attempt(&file, &mut state, !station),
            end => end,
        };
        let took = start.elapsed();
        if took > SLOW {
            std::fs::copy(&file, out.join(format!("slow-{seed}-{number}.wasm"))).unwrap();
        }
        slowest = slowest.max(took);
        *ends.entry((source, end)).or_default() += 1;
    }
    std::fs::remove_file(&file).unwrap_or_default();
    let total: u64 = ends.values().sum();
    let ends: Vec<_> = ends.iter().map(|((source, end), count)| format!("{source} {end} {count}")).collect();
    println!(
        "seed {seed}: {total} modules: {}; slowest {:.1} s, memory {before:.0} MB to {:.0} MB",
        ends.join(", "),
        slowest.as_secs_f64(),
        resident()
    );
}
