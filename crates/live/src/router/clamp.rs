//! The eBPF programs in the kernel: loaded, held, told what to do, read.
//!
//! They are attached by links that only this process holds (tcx, Linux 6.6): when it ends, however it ends, they are gone, and packets pass.

use super::qdisc::Device;
use super::segment::Sighting;
use crate::error::{LiveError, Result};
use aya::maps::{Array, MapData, PerCpuArray, RingBuf};
use aya::programs::tc::TcAttachOptions;
use aya::programs::{LinkOrder, SchedClassifier, TcAttachType};
use aya::{Ebpf, EbpfLoader, include_bytes_aligned};
use netlull_units::Bytes;

static PROGRAMS: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/clamp.bpf.o"));

/// What the programs have counted, over all processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets on their way to the queue.
    pub forward_packets: u64,
    /// Packets on their way back.
    pub backward_packets: u64,
    /// Segments with an ACK flag among those, without those of handshakes and resets.
    pub acknowledgements: u64,
    /// Those whose window was lowered.
    pub rewritten: u64,
    /// Those whose connection's scale is not known: left alone.
    pub unknown_scale: u64,
    /// Packets that are not what their headers say: left alone.
    pub malformed: u64,
    /// Fragments: left alone.
    pub fragments: u64,
    /// Segments told of.
    pub told: u64,
    /// Segments that the ring had no room for.
    pub untold: u64,
}

/// What the programs are to do from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orders {
    /// Until when, in ns of CLOCK_MONOTONIC; after that windows pass as they are and nothing is told.
    pub deadline: u64,
    /// The largest window that passes; `None`: any does.
    pub window: Option<Bytes>,
    /// Which flows are told of whole: those whose key has no bit of it.
    pub mask: u64,
}

/// Of a flow that is not told of whole: a data segment in so many ns, a tenth of the interval in which flows are counted by default.
const MARK_INTERVAL: u64 = 100_000_000;

/// The programs at work.
#[allow(missing_debug_implementations)] // The maps of aya have none.
pub struct Clamp {
    control: Array<MapData, [u64; 4]>,
    counters: PerCpuArray<MapData, [u64; 9]>,
    told: RingBuf<MapData>,
    /// Holds the programs, and they their links.
    _programs: Ebpf,
}

fn load(forward: &Device, backward: &Device) -> Result<Ebpf> {
    let mut loader = EbpfLoader::new();
    loader.override_global("forward_link_header", &forward.link_header, true);
    loader.override_global("backward_link_header", &backward.link_header, true);
    let mut programs = loader.load(PROGRAMS).map_err(|error| cannot("loading the eBPF programs", &error))?;
    for name in ["forward", "backward"] {
        program(&mut programs, name)?
            .load()
            .map_err(|error| cannot(&format!("loading eBPF program {name}"), &error))?;
    }
    Ok(programs)
}

fn program<'a>(programs: &'a mut Ebpf, name: &str) -> Result<&'a mut SchedClassifier> {
    let found = programs.program_mut(name).ok_or_else(|| LiveError::new(format!("eBPF program {name} is missing")))?;
    found.try_into().map_err(|error| LiveError::system(format!("eBPF program {name}"), error))
}

/// With all causes, for the outermost says little.
fn cannot(doing: &str, error: &dyn std::error::Error) -> LiveError {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    LiveError::system(doing, text)
}

impl Clamp {
    /// Whether the kernel takes the programs: they are loaded, not attached, and gone again.
    ///
    /// # Errors
    /// If it does not.
    pub fn check(forward: &Device, backward: &Device) -> Result<()> {
        load(forward, backward).map(|_| ())
    }

    /// Attaches the programs: to what leaves by one device, and to what comes in by the other, which may be the same.
    ///
    /// # Errors
    /// If the kernel refuses them.
    pub fn attach(forward: &Device, backward: &Device) -> Result<Self> {
        let mut programs = load(forward, backward)?;
        let places = [
            ("forward", forward, TcAttachType::Egress, "what leaves by"),
            ("backward", backward, TcAttachType::Ingress, "what comes in by"),
        ];
        for (name, device, way, what) in places {
            let options = TcAttachOptions::TcxOrder(LinkOrder::default());
            program(&mut programs, name)?
                .attach_with_options(&device.name, way, options)
                .map_err(|error| cannot(&format!("attaching to {what} {} (tcx, Linux 6.6)", device.name), &error))?;
        }
        let mut map =
            |name: &str| programs.take_map(name).ok_or_else(|| LiveError::new(format!("eBPF map {name} is missing")));
        let wrong = |error: aya::maps::MapError| cannot("the maps of the eBPF programs", &error);
        Ok(Self {
            control: Array::try_from(map("CONTROL")?).map_err(wrong)?,
            counters: PerCpuArray::try_from(map("COUNTERS")?).map_err(wrong)?,
            told: RingBuf::try_from(map("TOLD")?).map_err(wrong)?,
            _programs: programs,
        })
    }

    /// Gives the programs their orders.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn order(&mut self, orders: Orders) -> Result<()> {
        let window = orders.window.map_or(0, |window| window.as_u64().max(1));
        self.control
            .set(0, [orders.deadline, window, orders.mask, MARK_INTERVAL], 0)
            .map_err(|error| cannot("giving the eBPF programs their orders", &error))
    }

    /// Takes what the programs have told since the last time; at most `most` segments, should they come faster than they are read.
    pub fn take(&mut self, most: usize, into: &mut Vec<Sighting>) {
        for _ in 0..most {
            let Some(told) = self.told.next() else { break };
            into.extend(Sighting::read(&told));
        }
    }

    /// What they have counted.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn counters(&self) -> Result<Counters> {
        let each = self.counters.get(&0, 0).map_err(|error| cannot("the eBPF programs' counters", &error))?;
        let mut sum = [0_u64; 9];
        for counts in each.iter() {
            for (sum, count) in sum.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        let [forward_packets, backward_packets, acknowledgements, rewritten, ..] = sum;
        let [.., unknown_scale, malformed, fragments, told, untold] = sum;
        Ok(Counters {
            forward_packets,
            backward_packets,
            acknowledgements,
            rewritten,
            unknown_scale,
            malformed,
            fragments,
            told,
            untold,
        })
    }
}
