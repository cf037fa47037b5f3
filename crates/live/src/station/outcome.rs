//! A station as the outcome of an emulation has it.

use super::Station;
use super::flows::Entry;
use super::report::{Snapshot, between};
use netlull_mechanism::radio::Shaper;
use netlull_network::outcome::{DownloadOutcome, RadioMark, ShaperOutcome, StationOutcome};
use netlull_power::RadioTime;
use netlull_units::Instant;

fn mark(times: &RadioTime) -> RadioMark {
    let RadioTime { asleep, waking, idle, receiving, transmitting, wakes } = *times;
    RadioMark { asleep, waking, idle, receiving, transmitting, wakes }
}

fn download(begun: &Snapshot, over: &Snapshot) -> DownloadOutcome {
    DownloadOutcome {
        begun: begun.at,
        over: over.at,
        radio: mark(&between(&begun.times, &over.times)),
        missed_packets: over.missed_packets - begun.missed_packets,
    }
}

impl Station {
    /// What it counted since its start; what its access point held is for its driver to add.
    #[must_use]
    pub fn outcome(&self, now: Instant) -> StationOutcome {
        let counters = &self.counters;
        let known = || self.flows.entries().filter(|entry| entry.bytes > 0);
        let all_over = known().all(|entry| entry.over.is_some());
        let shaper = |shaper: &Shaper| ShaperOutcome {
            state: shaper.state(),
            fallback: shaper.fallback(),
            round_trip: shaper.rtt(),
            resent_opens: shaper.resent_opens(),
            early: counters.early,
            detection: counters.detection,
        };
        let largest = known().max_by_key(|entry| entry.bytes);
        StationOutcome {
            radio: mark(&self.radio.times(now)),
            received_packets: counters.received_packets,
            missed_packets: counters.missed_packets,
            missed_bytes: counters.missed_bytes,
            held_packets: 0,
            refused_packets: 0,
            beacons: counters.beacons,
            polls: counters.polls,
            closed_acks: counters.closed_acks,
            bursts: counters.bursts,
            shaper: largest.and_then(Entry::shaper).map(shaper),
            download: self.begun.zip(self.over).filter(|_| all_over).map(|(begun, over)| download(&begun, &over)),
        }
    }
}
