//! The records of a watched station, the source of the tables `air` and `burst`.

use netlull_mechanism::radio::Burst;
use netlull_mechanism::station::PacketView;
use netlull_network::probe::{AirRow, AirTime, StationProbe};
use std::collections::VecDeque;

/// An action of a station, or an observation.
#[derive(Clone, Copy, Debug)]
enum Record {
    /// A transmission to it or from it.
    Air(AirRow),
    /// The end of a burst, as judged by a shaper.
    Burst(Burst),
}

/// The records, kept only if somebody reads them.
#[derive(Debug, Default)]
pub(super) struct Records(Option<VecDeque<Record>>);

impl Records {
    /// Starts to keep records.
    pub(super) fn begin(&mut self) {
        self.0.get_or_insert_default();
    }

    /// Whether records are kept.
    pub(super) fn is_watched(&self) -> bool {
        self.0.is_some()
    }

    /// Records a packet on the air.
    pub(super) fn packet(&mut self, kind: &'static str, time: AirTime, view: impl FnOnce() -> PacketView) {
        self.keep(|| Record::Air(AirRow::packet(kind, time, &view())));
    }

    /// Records a frame other than a packet on the air.
    pub(super) fn frame(&mut self, kind: &'static str, time: AirTime, size: u32) {
        self.keep(|| Record::Air(AirRow::frame(kind, time, size)));
    }

    /// Records a burst that a shaper has ended.
    pub(super) fn burst(&mut self, burst: Burst) {
        self.keep(|| Record::Burst(burst));
    }

    fn keep(&mut self, record: impl FnOnce() -> Record) {
        if let Some(records) = &mut self.0 {
            records.push_back(record());
        }
    }

    /// Passes all records to a probe, under the number of their station.
    pub(super) fn tell(&mut self, station: u32, probe: &mut StationProbe) {
        for record in self.0.iter_mut().flat_map(|records| records.drain(..)) {
            match record {
                Record::Air(row) => probe.air(station, &row),
                Record::Burst(burst) => probe.burst(station, &burst),
            }
        }
    }
}
