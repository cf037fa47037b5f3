//! A station's part of an emulation's outcome and tables.

use super::LiveStation;
use super::flows::Entry;
use netlull_network::outcome::{ShaperOutcome, Snapshot, StationOutcome};
use netlull_network::probe::StationProbe;
use netlull_network::radio::Coming;
use netlull_units::Instant;

impl LiveStation {
    /// Starts the records for [`tell_probe`](Self::tell_probe).
    pub fn watch(&mut self) {
        self.records.begin();
        self.radio.watch();
    }

    /// Reports all events since the last call to a probe, under the number of this station.
    pub fn tell_probe(&mut self, station: u32, probe: &mut StationProbe) {
        for (at, state) in self.radio.changes() {
            probe.radio(at, station, state);
        }
        self.records.tell(station, probe);
    }

    /// Starts the outcome's counts here. Of a packet on the air, `coming`, the part received so far does not count.
    pub fn restart(&mut self, now: Instant, coming: Option<Coming>) {
        let times = self.radio.times(now, coming);
        self.base = (Snapshot { times, ..self.snapshot(now) }, self.counters);
    }

    /// The counts since the last restart; `coming` as there. The driver adds the packets that its access point held.
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
