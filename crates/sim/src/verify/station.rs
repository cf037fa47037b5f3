//! Checks of a station's radio times.

use super::Findings;
use netlull_power::RadioTime;
use netlull_units::{BitRate, Bytes, Duration, Instant};

/// A station's ledger.
#[derive(Clone, Debug)]
pub struct StationLedger {
    /// The station's node.
    pub name: String,
    /// Time in each state of its radio since the start.
    pub times: RadioTime,
    /// Packets that arrived over the air.
    pub came: u64,
    /// Packets received by its radio.
    pub received: u64,
    /// Packets that arrived while the radio did not listen.
    pub missed: u64,
    /// The transmissions to the station.
    pub down: AirLedger,
    /// The transmissions from the station.
    pub up: AirLedger,
    /// Bytes delivered by the link from the station.
    pub delivered_bytes: u64,
}

/// The transmissions in a direction.
#[derive(Clone, Copy, Debug)]
pub struct AirLedger {
    /// The rate of the link.
    pub rate: BitRate,
    /// Packets and frames that the radio received, or that it transmitted and its queue did not drop.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The time of received frames with a duration instead of a size: beacons.
    pub beacons: Duration,
}

impl AirLedger {
    /// The total transmission time, with a tolerance of a nanosecond per packet.
    fn bounds(&self) -> (Duration, Duration) {
        let (time, slack) = (self.rate.time_for(Bytes::new(self.bytes)), Duration::from_nanos(self.packets + 1));
        (time.saturating_sub(slack), time + self.beacons + slack)
    }
}

/// Checks the times of a radio. It is in one state at a time, and transmits and receives for the duration of its
/// packets.
pub(super) fn check(findings: &mut Findings, station: &StationLedger, end: Instant) {
    let StationLedger { name, times, came, received, missed, .. } = station;
    let total = Instant::ZERO + times.total();
    findings.check(total == end, name, || format!("its radio's states add up to {total}, but the run lasted to {end}"));
    findings.check(*came == received + missed, name, || {
        format!("{came} packets came over the air, but {received} were received and {missed} missed")
    });
    let (least, most) = (station.down.bounds(), station.up.bounds());
    findings.check(times.receiving <= least.1, name, || {
        format!("it received for {}, but its received packets and beacons took {}", times.receiving, least.1)
    });
    // Simultaneous transmission and reception counts as transmission.
    findings.check(least.0 <= times.receiving + times.transmitting, name, || {
        let busy = times.receiving + times.transmitting;
        format!("it received and transmitted for {busy}, but its received packets and beacons took {}", least.0)
    });
    findings.check(times.transmitting <= most.1, name, || {
        format!("it transmitted for {}, but its transmitted packets took {}", times.transmitting, most.1)
    });
    let delivered = station.up.rate.time_for(Bytes::new(station.delivered_bytes));
    let slack = Duration::from_nanos(station.up.packets + 1);
    findings.check(delivered <= times.transmitting + slack, name, || {
        format!("its delivered packets took {delivered}, but it transmitted for {}", times.transmitting)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second of which 0.1 s is sleep. 5 packets of 2500 B are received at 10 Mb/s: 10 ms. 7 of 1000 B are sent at
    /// 10 Mb/s: 5.6 ms; 6 arrived.
    fn sound() -> StationLedger {
        let rate = BitRate::from_mbps(10);
        StationLedger {
            name: "phone".to_owned(),
            times: RadioTime {
                asleep: Duration::from_millis(100),
                idle: Duration::from_micros(884_400),
                receiving: Duration::from_millis(10),
                transmitting: Duration::from_micros(5_600),
                ..RadioTime::default()
            },
            came: 7,
            received: 5,
            missed: 2,
            down: AirLedger { rate, packets: 5, bytes: 12_500, beacons: Duration::ZERO },
            up: AirLedger { rate, packets: 7, bytes: 7_000, beacons: Duration::ZERO },
            delivered_bytes: 6_000,
        }
    }

    fn found(spoil: impl Fn(&mut StationLedger)) -> String {
        let (mut ledger, mut findings) = (sound(), Findings::default());
        spoil(&mut ledger);
        check(&mut findings, &ledger, Instant::from_nanos(1_000_000_000));
        findings.violations().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_rule_finds_its_violation() {
        assert_eq!(found(|_| ()), "");
        let has = |text: &str, spoil: &dyn Fn(&mut StationLedger)| {
            let message = found(spoil);
            assert!(message.contains(text), "{text:?} not in {message:?}");
        };
        has("its radio's states add up to", &|ledger| ledger.times.waking = Duration::from_millis(1));
        has("but 6 were received and 2 missed", &|ledger| ledger.received = 6);
        has("it received for 10 ms", &|ledger| ledger.down.bytes = 12_499);
        has("it received and transmitted for 15.6 ms", &|ledger| ledger.down.bytes = 19_510);
        has("it transmitted for 5.6 ms", &|ledger| ledger.up.bytes = 6_999);
        has("but it transmitted for 5.6 ms", &|ledger| ledger.delivered_bytes = 7_001);
        // A beacon received by the radio.
        assert_eq!(found(|ledger| (ledger.down.bytes, ledger.down.beacons) = (11_250, Duration::from_millis(1))), "");
    }
}
