//! A station as the outcome and the tables of an emulation have it.

use super::LiveStation;
use super::flows::Entry;
use netlull_network::outcome::{ShaperOutcome, StationOutcome};
use netlull_network::probe::StationProbe;
use netlull_network::radio::Coming;
use netlull_network::station::Snapshot;
use netlull_units::Instant;

impl LiveStation {
    /// Keeps from now on what [`tell_probe`](Self::tell_probe) tells.
    pub fn watch(&mut self) {
        self.records.begin();
        self.radio.watch();
    }

    /// Tells a probe everything that has happened since the last time, under the number of this station.
    pub fn tell_probe(&mut self, station: u32, probe: &mut StationProbe) {
        for (at, state) in self.radio.changes() {
            probe.radio(at, station, state);
        }
        self.records.tell(station, probe);
    }

    /// Its outcome counts from here on, with the part that has come by then of a packet that is on the air to it.
    pub fn restart(&mut self, now: Instant, coming: Option<Coming>) {
        let times = self.radio.times(now, coming);
        self.base = (Snapshot { times, ..self.snapshot(now) }, self.counters);
    }

    /// Its counts since it was last restarted, `coming` as there. Its driver adds the packets that its access point held.
    #[must_use]
    pub fn outcome(&self, now: Instant, coming: Option<Coming>) -> StationOutcome {
        let (counters, (since, base)) = (&self.counters, &self.base);
        let known = || self.flows.entries().filter(|entry| entry.bytes > 0);
        let all_over = known().all(|entry| entry.over.is_some());
        let early = counters.early.saturating_sub(base.early);
        let detection = counters.detection.saturating_sub(base.detection);
        let largest = known().max_by_key(|entry| entry.bytes);
        StationOutcome {
            radio: self.radio.times(now, coming).since(&since.times),
            counts: counters.counts.since(&base.counts),
            shaper: self.config.has_machines_of_connections().then(|| {
                largest
                    .and_then(Entry::shaping)
                    .map_or_else(ShaperOutcome::initial, |shaping| ShaperOutcome::of(&shaping, early, detection))
            }),
            download: self.begun.zip(self.over).filter(|_| all_over).map(|(begun, over)| over.since(&begun)),
        }
    }
}
