//! The eBPF programs in the kernel: loading, orders, counters.
//!
//! They are attached by links that only this process holds (tcx, Linux 6.6). When the process ends in any way, the
//! kernel detaches them, and packets pass unchanged.

use super::qdisc::Device;
use super::segment::Sighting;
use crate::error::{LiveError, Result};
use aya::maps::{Array, MapData, PerCpuArray, RingBuf};
use aya::programs::tc::TcAttachOptions;
use aya::programs::{LinkOrder, SchedClassifier, TcAttachType};
use aya::{Ebpf, EbpfLoader, include_bytes_aligned};
use netlull_units::Bytes;

static PROGRAMS: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/clamp.bpf.o"));

/// The counters of the programs, summed over all processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets on their way to the queue.
    pub forward_packets: u64,
    /// Packets in the reverse direction.
    pub backward_packets: u64,
    /// Segments with an ACK flag in the reverse direction, except handshakes and resets.
    pub acknowledgements: u64,
    /// Acknowledgements with a lowered window.
    pub rewritten: u64,
    /// Acknowledgements left unchanged because the connection's window scale is unknown.
    pub unknown_scale: u64,
    /// Malformed packets, left unchanged.
    pub malformed: u64,
    /// Fragments, left unchanged.
    pub fragments: u64,
    /// Segments reported to the daemon.
    pub told: u64,
    /// Segments not reported because the ring was full.
    pub untold: u64,
}

/// The orders of the daemon to the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orders {
    /// The expiry of the orders, in ns of CLOCK_MONOTONIC. Afterwards windows pass unchanged and no segment is
    /// reported.
    pub deadline: u64,
    /// The largest window that passes; `None`: no limit.
    pub window: Option<Bytes>,
    /// The flow mask: a flow is reported completely if its key has no bit of the mask.
    pub mask: u64,
}

/// The interval of data segments reported for a sampled flow, in ns: a tenth of the default interval in which flows are
/// counted.
const MARK_INTERVAL: u64 = 100_000_000;

/// The attached programs.
#[allow(missing_debug_implementations)] // The maps of aya do not implement `Debug`.
pub struct Clamp {
    control: Array<MapData, [u64; 4]>,
    counters: PerCpuArray<MapData, [u64; 9]>,
    told: RingBuf<MapData>,
    /// Owns the programs, which own their links.
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

/// Joins all causes of an error, because the outermost says little.
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
    /// Checks that the kernel accepts the programs: loads them, does not attach them, and unloads them.
    ///
    /// # Errors
    /// If the kernel rejects them.
    pub fn check(forward: &Device, backward: &Device) -> Result<()> {
        load(forward, backward).map(|_| ())
    }

    /// Attaches the programs: to the egress of one device and the ingress of another, which may be the same.
    ///
    /// # Errors
    /// If the kernel refuses them.
    pub fn attach(forward: &Device, backward: &Device) -> Result<Self> {
        let mut programs = load(forward, backward)?;
        let places = [
            ("forward", forward, TcAttachType::Egress, "the egress of"),
            ("backward", backward, TcAttachType::Ingress, "the ingress of"),
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

    /// Passes orders to the programs.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn order(&mut self, orders: Orders) -> Result<()> {
        let window = orders.window.map_or(0, |window| window.as_u64().max(1));
        self.control
            .set(0, [orders.deadline, window, orders.mask, MARK_INTERVAL], 0)
            .map_err(|error| cannot("giving the eBPF programs their orders", &error))
    }

    /// Takes the segments reported since the last call, at most `most`, in case they arrive faster than they are read.
    pub fn take(&mut self, most: usize, into: &mut Vec<Sighting>) {
        for _ in 0..most {
            let Some(told) = self.told.next() else { break };
            into.extend(Sighting::read(&told));
        }
    }

    /// Reads the programs' counters.
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
