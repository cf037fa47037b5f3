//! The records of a station that is watched: what tables `air` and `burst` are made from.

use netlull_mechanism::radio::Burst;
use netlull_mechanism::station::PacketView;
use netlull_network::probe::{AirRow, StationProbe};
use netlull_units::Instant;
use std::collections::VecDeque;

/// An act of a station, or something that it saw.
#[derive(Clone, Copy, Debug)]
enum Record {
    /// Something was on the air for it, or from it.
    Air(AirRow),
    /// A shaper has judged a burst over.
    Burst(Burst),
}

/// Records, if anybody reads them.
#[derive(Debug, Default)]
pub(super) struct Records(Option<VecDeque<Record>>);

impl Records {
    /// Keeps records from now on.
    pub(super) fn begin(&mut self) {
        self.0.get_or_insert_default();
    }

    /// True if records are kept.
    pub(super) fn is_watched(&self) -> bool {
        self.0.is_some()
    }

    /// A packet was on the air.
    pub(super) fn packet(&mut self, kind: &'static str, times: (Instant, Instant), view: impl FnOnce() -> PacketView) {
        self.keep(|| Record::Air(AirRow::packet(kind, times, &view())));
    }

    /// A frame that is no packet was on the air.
    pub(super) fn frame(&mut self, kind: &'static str, times: (Instant, Instant), size: u32) {
        self.keep(|| Record::Air(AirRow::frame(kind, times, size)));
    }

    /// A shaper has judged a burst over.
    pub(super) fn burst(&mut self, burst: Burst) {
        self.keep(|| Record::Burst(burst));
    }

    fn keep(&mut self, record: impl FnOnce() -> Record) {
        if let Some(records) = &mut self.0 {
            records.push_back(record());
        }
    }

    /// Hands all records to a probe, under the number of their station.
    pub(super) fn tell(&mut self, station: u32, probe: &mut StationProbe) {
        for record in self.0.iter_mut().flat_map(|records| records.drain(..)) {
            match record {
                Record::Air(row) => probe.air(station, &row),
                Record::Burst(burst) => probe.burst(station, &burst),
            }
        }
    }
}
