//! What a station tells of itself while it is watched: what tables `radio`, `air` and `burst` are made from.

use super::Station;
use super::flow::Side;
use netlull_mechanism::radio::{Burst, PacketView};
use netlull_network::probe::{AirRow, StationProbe};
use netlull_units::Instant;
use netlull_wire::{Packet, parse};
use std::collections::VecDeque;

/// Something that a station did or saw.
#[derive(Clone, Copy, Debug)]
pub(super) enum Note {
    /// Something was on the air for it, or from it.
    Air(AirRow),
    /// A shaper has judged a burst over.
    Burst(Burst),
}

/// Notes, if anybody reads them.
#[derive(Debug, Default)]
pub(super) struct Notes(Option<VecDeque<Note>>);

impl Notes {
    pub(super) fn begin(&mut self) {
        self.0.get_or_insert_default();
    }

    pub(super) fn is_taken(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn take(&mut self, note: impl FnOnce() -> Note) {
        if let Some(notes) = &mut self.0 {
            notes.push_back(note());
        }
    }
}

impl Station {
    /// From now on it keeps what [`tell_probe`](Self::tell_probe) tells.
    pub fn watch(&mut self) {
        self.notes.begin();
        self.radio.watch();
    }

    /// Tells a probe what has happened since the last time, as the doings of the station of this index.
    pub fn tell_probe(&mut self, station: u32, probe: &mut StationProbe) {
        for (at, state) in self.radio.changes() {
            probe.radio(at, station, state);
        }
        for note in self.notes.0.iter_mut().flat_map(|notes| notes.drain(..)) {
            match note {
                Note::Air(row) => probe.air(station, &row),
                Note::Burst(burst) => probe.burst(station, &burst),
            }
        }
    }

    /// A packet was on the air.
    pub(super) fn note_packet(&mut self, kind: &'static str, times: (Instant, Instant), side: Side, bytes: &[u8]) {
        if self.notes.is_taken() {
            let view = self.view(side, bytes);
            self.notes.take(|| Note::Air(AirRow::packet(kind, times, &view)));
        }
    }

    /// A frame that is no packet was on the air.
    pub(super) fn note_frame(&mut self, kind: &'static str, times: (Instant, Instant), size: u32) {
        self.notes.take(|| Note::Air(AirRow::frame(kind, times, size)));
    }

    /// A packet of the host's or of its peer's, as the host reads it; of a connection that is not known only its size.
    pub(super) fn view(&mut self, side: Side, bytes: &[u8]) -> PacketView {
        let unknown = PacketView { size: u32::try_from(bytes.len()).unwrap_or(u32::MAX), segment: None };
        let Ok(Packet::Tcp(tcp)) = parse(bytes) else { return unknown };
        let connection = match side {
            Side::Host => tcp.connection(),
            Side::Peer => tcp.connection().reversed(),
        };
        self.flows.find(connection).map_or(unknown, |entry| entry.flow.view(side, &tcp))
    }
}
