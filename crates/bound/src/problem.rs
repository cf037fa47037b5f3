//! The problem: packets, rates, powers, the departures at the highest rate, and the side of a bound.

use netlull_power::{PowerModel, Residency, Traffic, TransitionPower};
use netlull_units::{BitRate, Bytes, Duration, Instant};

/// A packet that the link accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The time of the arrival.
    pub at: Instant,
    /// The packet's size.
    pub size: Bytes,
}

/// The rule for the packet in service at a change of rate (`docs/models/link.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// The packet finishes at the old rate, and then the pause starts.
    FinishThenPause,
    /// The packet stops, and its rest is sent at the new rate.
    Suspend,
}

/// The measured part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The start.
    pub from: Instant,
    /// The end.
    pub until: Instant,
}

/// The rates of a link and the powers at them.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// The rates in bit/s, ascending.
    pub(crate) rates: Vec<f64>,
    /// The power above that of the lowest rate, in watts, for each rate.
    pub(crate) excess: Vec<f64>,
    /// The power at the lowest rate, in watts.
    pub(crate) base: f64,
    /// The rate whose power a transition takes.
    charged: TransitionPower,
}

impl Levels {
    /// The powers of a link under a power model. `rates` ascend, and the last one is the link's rate.
    #[must_use]
    pub fn new(rates: &[BitRate], model: &PowerModel, charged: TransitionPower) -> Self {
        let top = rates.last().copied().unwrap_or(BitRate::from_bps(1));
        let power = |rate: BitRate| model.power(rate, top).as_f64();
        let base = rates.first().map_or(0.0, |&rate| power(rate));
        // A higher rate never takes less power in any model; this guards the bound against rounding.
        let excess = rates.iter().map(|&rate| (power(rate) - base).max(0.0)).collect();
        Self { rates: rates.iter().map(|rate| rate.as_f64()).collect(), excess, base, charged }
    }

    /// The highest power above that of the lowest rate, in watts.
    pub(crate) fn most(&self) -> f64 {
        self.excess.iter().copied().fold(0.0, f64::max)
    }

    /// The shares of the old and the new rate's power in a transition to a higher or a lower rate.
    pub(crate) fn parts(&self, up: bool) -> [f64; 2] {
        match self.charged {
            TransitionPower::Higher if up => [0.0, 1.0],
            TransitionPower::Higher | TransitionPower::Old => [1.0, 0.0],
            TransitionPower::New => [0.0, 1.0],
        }
    }

    /// The power in a transition above that of the lowest rate, in watts.
    pub(crate) fn change(&self, old: usize, new: usize) -> f64 {
        match self.charged {
            TransitionPower::Higher => self.excess[old.max(new)],
            TransitionPower::New => self.excess[new],
            TransitionPower::Old => self.excess[old],
        }
    }
}

/// A packet of the measured window, in seconds from its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Item {
    /// The earliest start of its service.
    pub ready: f64,
    /// The bits left at the start of the window.
    pub bits: f64,
    /// The departure from the link at its highest rate.
    pub due: f64,
}

/// The energy of the window's bits and packets, in joules. A measured device may charge it by the speed of its port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrafficEnergy {
    /// All at the cheapest rate.
    pub least: f64,
    /// All at the dearest rate.
    pub most: f64,
    /// All at the highest rate.
    pub always_on: f64,
}

/// Packets, rates and powers of a link.
#[derive(Clone, Debug)]
pub struct Problem {
    pub(crate) items: Vec<Item>,
    /// The length of the window in seconds.
    pub(crate) length: f64,
    pub(crate) levels: Levels,
    /// delta in seconds.
    pub(crate) pause: f64,
    pub(crate) discipline: Discipline,
}

impl Problem {
    /// The problem of a link that serves `arrivals`, in order, at the highest of `rates`.
    ///
    /// A packet counts if it is in the link at the start of the window or arrives in it.
    #[must_use]
    pub fn new(arrivals: &[Arrival], window: Window, levels: Levels, pause: Duration, discipline: Discipline) -> Self {
        let top = levels.rates.last().copied().unwrap_or(1.0);
        let start = window.from.as_secs_f64();
        let mut items = Vec::new();
        let mut due = 0.0_f64;
        for arrival in arrivals.iter().filter(|arrival| arrival.at < window.until) {
            let (at, bits) = (arrival.at.as_secs_f64(), arrival.size.as_f64() * 8.0);
            due = due.max(at) + bits / top;
            if due > start {
                let (ready, left) = ((at - start).max(0.0), bits.min((due - start) * top));
                items.push(Item { ready, bits: left, due: due - start });
            }
        }
        let length = window.until.saturating_since(window.from).as_secs_f64();
        Self { items, length, levels, pause: pause.as_secs_f64(), discipline }
    }

    /// The packets that must leave within the window if none may be late by more than `late` seconds.
    pub(crate) fn due(&self, late: f64) -> &[Item] {
        let count = self.items.partition_point(|item| item.due + late <= self.length);
        &self.items[..count]
    }

    /// The highest rate, in bit/s.
    pub(crate) fn top(&self) -> f64 {
        self.levels.rates.last().copied().unwrap_or(1.0)
    }

    /// The packets per second.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn packets_per_second(&self) -> f64 {
        if self.length > 0.0 { self.items.len() as f64 / self.length } else { 0.0 }
    }

    /// The bits of the window.
    fn bits(&self) -> f64 {
        self.items.iter().map(|item| item.bits).sum()
    }

    /// The mean size of a packet, in bits; zero without packets.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn mean_bits(&self) -> f64 {
        if self.items.is_empty() { 0.0 } else { self.bits() / self.items.len() as f64 }
    }

    /// The energy of the bits and packets under a model at the rates of this problem.
    #[must_use]
    pub fn traffic(&self, model: &PowerModel, rates: &[BitRate]) -> TrafficEnergy {
        let top = rates.last().copied().unwrap_or(BitRate::from_bps(1));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let traffic = Traffic { bits: self.bits().round() as u64, packets: self.items.len() as u64 };
        let at = |&rate: &BitRate| {
            let residency = Residency::constant(rate, Duration::from_secs(1));
            model.energy(&residency, top, traffic).traffic.as_f64()
        };
        TrafficEnergy {
            least: rates.iter().map(at).fold(f64::INFINITY, f64::min),
            most: rates.iter().map(at).fold(0.0, f64::max),
            always_on: at(&top),
        }
    }

    /// The energy of the link at its highest rate, in joules.
    #[must_use]
    pub fn always_on(&self) -> f64 {
        self.joules(self.levels.excess.last().copied().unwrap_or(0.0) * self.length)
    }

    /// The energy with this energy above that of the lowest rate.
    pub(crate) fn joules(&self, excess: f64) -> f64 {
        self.levels.base * self.length + excess
    }
}

/// The direction of every rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// In favour of the schedule: the result is a lower bound.
    Below,
    /// Against the schedule: the result is the energy of a schedule, or more.
    Above,
}
