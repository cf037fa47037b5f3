//! The modelled access point of a host under PSM or bounded slowdown, and the air between the two.
//!
//! It is the proxy of client-centered-2004 section IV-C, which runs on the client itself. It uses no socket and no clock.
//!
//! ```text
//!   device ──► queue ──► [proxy holds] ──► air, one packet at a time ──► [station hears] ──► host's TCP
//!                            ▲  beacons ──────────────────────────────────►  │
//!                            └──────────── polls, announcements ─────────────┘
//! ```

use crate::error::Result;
use crate::station::{Beacon, Checksum, LiveStation, Output, Proxy, ProxyOutput, Sent, Verdict};
use netlull_mechanism::radio::AccessPointConfig;
use netlull_network::radio::Coming;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use std::collections::VecDeque;
use std::path::Path;

/// A packet that the access point may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Held {
    /// The packet's number in the queue.
    pub(super) id: u32,
    pub(super) bytes: Vec<u8>,
    pub(super) checksum: Checksum,
}

/// A packet on the air.
#[derive(Debug)]
struct OnAir {
    packet: Held,
    more: bool,
    until: Instant,
}

impl OnAir {
    fn coming(&self) -> Coming {
        let size = u32::try_from(self.packet.bytes.len()).unwrap_or(u32::MAX);
        Coming { arrives: self.until, size }
    }
}

/// The kind of the next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Station,
    Beacon,
    Packet,
    Told(usize),
    Proxy,
}

/// An access point and the air to its station.
#[derive(Debug)]
pub(super) struct Access {
    proxy: Proxy<Held>,
    rate: BitRate,
    /// The transmission time of a beacon.
    beacon_time: Duration,
    on_air: Option<OnAir>,
    beacon: Option<Beacon>,
    /// Polls and announcements of the station, with the instants at which they take effect.
    told: Vec<(Instant, Sent)>,
    /// The verdicts on packets.
    fates: VecDeque<(u32, Verdict)>,
}

impl Access {
    /// Creates an access point with an air of a given rate to its station. With a `tape`, its events are recorded.
    ///
    /// # Errors
    /// If a value of `config` is out of range, or the file cannot be written.
    pub(super) fn new(config: &AccessPointConfig, rate: BitRate, start: Instant, tape: Option<&Path>) -> Result<Self> {
        let proxy = Proxy::new(config, start, tape)?;
        Ok(Self {
            proxy,
            rate,
            beacon_time: config.beacon_time(),
            on_air: None,
            beacon: None,
            told: Vec::new(),
            fates: VecDeque::new(),
        })
    }

    /// Accepts a packet for the station, after all events before `now`.
    pub(super) fn arrives(
        &mut self,
        now: Instant,
        packet: Held,
        station: &mut LiveStation,
        outputs: &mut VecDeque<Output>,
    ) {
        self.advance(now, station, outputs);
        self.proxy.arrives(now, packet);
        self.act(now, station);
    }

    /// The instant of the next internal event.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.next(None).map(|(at, _)| at)
    }

    fn next(&self, station: Option<Instant>) -> Option<(Instant, Next)> {
        let told = self.told.iter().enumerate().map(|(index, (at, _))| (*at, Next::Told(index)));
        [
            station.map(|at| (at, Next::Station)),
            self.beacon.map(|beacon| (beacon.until, Next::Beacon)),
            self.on_air.as_ref().map(|packet| (packet.until, Next::Packet)),
            self.proxy.next_timeout().map(|at| (at, Next::Proxy)),
        ]
        .into_iter()
        .flatten()
        .chain(told)
        .min()
    }

    /// Processes all events due by `now`, each at its instant, including the station's. The station's own packets go to
    /// `outputs`.
    pub(super) fn advance(&mut self, now: Instant, station: &mut LiveStation, outputs: &mut VecDeque<Output>) {
        self.listen(station, outputs);
        while let Some((at, next)) = self.next(station.next_timeout()).filter(|(at, _)| *at <= now) {
            match next {
                Next::Station => station.handle_timeout(at),
                Next::Beacon => {
                    if let Some(beacon) = self.beacon.take() {
                        station.hears_beacon(beacon, self.on_air.as_ref().map(OnAir::coming));
                    }
                }
                Next::Packet => {
                    if let Some(OnAir { packet, more, .. }) = self.on_air.take() {
                        let verdict = station.receives_with(at, &packet.bytes, more, packet.checksum);
                        self.fates.push_back((packet.id, verdict));
                    }
                }
                Next::Told(index) => match self.told.remove(index).1 {
                    Sent::Poll => self.proxy.polled(at),
                    Sent::Announce(mode) => self.proxy.announced(at, mode),
                    Sent::Packet(_) => {}
                },
                Next::Proxy => self.proxy.handle_timeout(at),
            }
            self.act(at, station);
            self.listen(station, outputs);
        }
    }

    /// Puts beacons and packets on the air.
    fn act(&mut self, at: Instant, station: &mut LiveStation) {
        while let Some(output) = self.proxy.poll_output() {
            match output {
                ProxyOutput::Beacon { buffered } => {
                    self.beacon = Some(Beacon { from: at, until: at + self.beacon_time, buffered });
                }
                ProxyOutput::Refused(packet) => self.fates.push_back((packet.id, Verdict::Missed)),
            }
        }
        if self.on_air.is_none()
            && let Some((packet, more)) = self.proxy.next_packet()
        {
            station.expects_packet();
            let takes = self.rate.time_for(Bytes::new(packet.bytes.len() as u64));
            self.on_air = Some(OnAir { packet, more, until: at + takes });
        }
    }

    fn listen(&mut self, station: &mut LiveStation, outputs: &mut VecDeque<Output>) {
        while let Some(output) = station.poll_output() {
            match output.what {
                Sent::Packet(_) => outputs.push_back(output),
                what => self.told.push((output.at, what)),
            }
        }
    }

    /// Takes the next verdict, with the packet's number in the queue.
    pub(super) fn poll_fate(&mut self) -> Option<(u32, Verdict)> {
        self.fates.pop_front()
    }

    /// The numbers of packets held and refused.
    pub(super) fn counts(&self) -> (u64, u64) {
        self.proxy.counts()
    }

    /// Writes the rest of the recording.
    ///
    /// # Errors
    /// If it could not be written.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.proxy.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::station::StationConfig;
    use netlull_mechanism::radio::PsmConfig;
    use netlull_mechanism::station;

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    /// Packets of 1000 B arrive at 50 ms over an air of 8 Mb/s: 1 ms each. The radio wakes at 98 ms for the beacon from
    /// 100 to 101 ms. Its poll of 20 B takes 20 us, and the answer starts 0.5 ms after the start of the poll. The
    /// packets are complete at 102.5 and 103.5 ms.
    #[test]
    fn packets_wait_for_the_beacon_and_come_one_by_one() {
        let air = BitRate::from_mbps(8);
        let psm = station::Config::Psm(PsmConfig::default());
        let config = StationConfig::new(Some(psm), Duration::from_millis(2), [air; 2]);
        let mut station = LiveStation::new(config, at(0), None).unwrap();
        let mut access = Access::new(&AccessPointConfig::default(), air, at(0), None).unwrap();
        let mut outputs = VecDeque::new();
        for id in [1, 2] {
            let packet = Held { id, bytes: vec![0; 1000], checksum: Checksum::Unknown };
            access.arrives(at(50_000), packet, &mut station, &mut outputs);
        }
        assert_eq!((access.proxy.held(), station.is_asleep()), (2, true));
        access.advance(at(102_499), &mut station, &mut outputs);
        assert_eq!(access.poll_fate(), None);
        // A late call processes each event at its own instant.
        access.advance(at(150_000), &mut station, &mut outputs);
        let fates: Vec<_> = std::iter::from_fn(|| access.poll_fate()).collect();
        assert_eq!(fates, [(1, Verdict::Deliver), (2, Verdict::Deliver)]);
        let report = station.summary(at(150_000));
        assert_eq!(
            (report.counts.beacons, report.counts.polls, report.counts.received_packets, report.counts.missed_packets),
            (1, 1, 2, 0)
        );
        // Awake from 100 ms to 103.5 ms, and for the announcement at the start: 28 B, 28 us.
        assert!(
            (report.radio.idle_s + report.radio.receiving_s + report.radio.transmitting_s - 0.003_528).abs() < 1e-6,
            "{report:?}"
        );
        assert_eq!((access.counts(), outputs.len()), ((2, 0), 0));
    }

    #[test]
    fn what_has_no_room_is_lost() {
        let air = BitRate::from_mbps(8);
        let psm = station::Config::Psm(PsmConfig::default());
        let config = StationConfig::new(Some(psm), Duration::from_millis(2), [air; 2]);
        let mut station = LiveStation::new(config, at(0), None).unwrap();
        let mut access = Access::new(&AccessPointConfig::default(), air, at(0), None).unwrap();
        let mut outputs = VecDeque::new();
        for id in 0..1002 {
            let packet = Held { id, bytes: vec![0; 100], checksum: Checksum::Unknown };
            access.arrives(at(50_000), packet, &mut station, &mut outputs);
        }
        assert_eq!(access.counts(), (1000, 2));
        assert_eq!(access.poll_fate(), Some((1000, Verdict::Missed)));
    }
}
