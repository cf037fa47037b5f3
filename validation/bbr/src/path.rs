//! A sender on a simulated path, with two congestion controls: the first decides, and both hear the same events.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Bytes of a packet, all of them data.
pub const SIZE: u64 = 1200;
pub const INITIAL_WINDOW: u64 = 10 * SIZE;
/// Round-trip time of the path without a queue. The transmission of a packet comes on top.
pub const RTT: u64 = 40 * MS;
pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1000 * MS;

/// The state of a congestion control, by the draft's names. Rates are bytes per second, volumes bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    pub state: String,
    pub cwnd: u64,
    pub pacing_rate: f64,
    pub max_bw: f64,
    pub bw_shortterm: f64,
    pub min_rtt_us: u64,
    pub inflight_longterm: u64,
    pub inflight_shortterm: u64,
}

/// A snapshot as words: the names of [`Snapshot`] in their order, `-` for no bound.
pub fn print(snapshot: &Snapshot) -> String {
    let volume = |bytes: u64| if bytes == u64::MAX { "-".to_owned() } else { bytes.to_string() };
    format!(
        "{} {} {:.0} {:.0} {} {} {} {}",
        snapshot.state,
        snapshot.cwnd,
        snapshot.pacing_rate,
        snapshot.max_bw,
        if snapshot.bw_shortterm.is_infinite() { "-".to_owned() } else { format!("{:.0}", snapshot.bw_shortterm) },
        snapshot.min_rtt_us,
        volume(snapshot.inflight_longterm),
        volume(snapshot.inflight_shortterm),
    )
}

/// A transmission: `number` is unique, `segment` names the data.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub number: u64,
    pub segment: u64,
    pub sent: u64,
}

/// A congestion control and its records of deliveries. Times are nanoseconds.
pub trait Control {
    fn sent(&mut self, packet: &Packet, inflight: u64);
    /// The window held a packet back.
    fn cwnd_limited(&mut self, inflight: u64);
    /// All data is sent, and the window has room.
    fn app_limited(&mut self, inflight: u64);
    /// An acknowledgement of `packet`, and the losses that it revealed. All data before segment `una` has arrived.
    fn acked(&mut self, now: u64, packet: &Packet, lost: &[Packet], inflight: &Inflight, una: u64, app_limited: bool);
    /// All packets that had been taken for lost have arrived.
    fn spurious(&mut self, now: u64);
    fn window(&self) -> u64;
    fn pacing_rate(&self) -> f64;
    fn state(&self) -> String;
    fn snapshot(&self) -> Snapshot;
}

/// Bytes in flight after an acknowledgement, before and after the marks of losses.
pub struct Inflight {
    pub acked: u64,
    pub lost: u64,
}

/// A policer: packets beyond `rate` and `burst` are dropped.
pub struct Policer {
    pub rate: f64,
    pub burst: f64,
}

pub struct Path {
    pub name: &'static str,
    /// Rates of the bottleneck in b/s, from a time on.
    pub rates: Vec<(u64, u64)>,
    /// Bytes that wait at most.
    pub buffer: u64,
    /// Loses every n-th packet, if not zero.
    pub lose_every: u64,
    /// Acknowledgements arrive at multiples of it, if not zero.
    pub batch: u64,
    pub policer: Option<Policer>,
    /// Packets sent in this span arrive 15 ms late, after later ones.
    pub late: Option<(u64, u64)>,
    /// Writes of the application: time and bytes. Empty for an endless stream.
    pub writes: Vec<(u64, u64)>,
    pub duration: u64,
}

/// The bandwidth-delay product at 10 Mb/s.
pub const BDP: u64 = 50_000;

/// The paths: all have 40 ms, and 10 Mb/s unless they say otherwise.
pub fn paths() -> Vec<Path> {
    let plain = |name| Path {
        name,
        rates: vec![(0, 10_000_000)],
        buffer: 2 * BDP,
        lose_every: 0,
        batch: 0,
        policer: None,
        late: None,
        writes: Vec::new(),
        duration: 20 * SECOND,
    };
    let pulses = |bytes, every: u64, from: u64, to: u64| (from / every..to / every).map(move |i| (i * every, bytes));
    vec![
        plain("plain"),
        Path { buffer: BDP / 2, ..plain("shallow") },
        Path { lose_every: 101, ..plain("lossy") },
        Path { batch: 20 * MS, ..plain("aggregated") },
        Path { rates: vec![(0, 10_000_000), (6 * SECOND, 100_000_000)], buffer: 20 * BDP, ..plain("faster") },
        Path { rates: vec![(0, 100_000_000), (6 * SECOND, 10_000_000)], ..plain("slower") },
        // Two bursts of 20 kB in a second; from 8 s on data for 1.2 times the rate.
        Path {
            writes: pulses(20_000, 500 * MS, 0, 8 * SECOND).chain(pulses(15_000, 10 * MS, 8 * SECOND, 20 * SECOND)).collect(),
            ..plain("app-limited")
        },
        // 3 s of data, 6 s of silence, data again.
        Path { writes: vec![(0, 3_600_000), (9 * SECOND, 30_000_000)], ..plain("idle") },
        Path {
            rates: vec![(0, 100_000_000)],
            policer: Some(Policer { rate: 1_250_000.0, burst: 50_000.0 }),
            buffer: 20 * BDP,
            ..plain("policed")
        },
        Path { late: Some((2_460 * MS, 12 * MS)), ..plain("reordered") },
    ]
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Write(u64),
    Acked(u64),
    Send,
    Timer,
    Sample,
}

struct Sender {
    now: u64,
    queue: BinaryHeap<Reverse<(u64, u64, Event)>>,
    events: u64,
    // The path.
    free_at: u64,
    transmissions: u64,
    tokens: f64,
    tokens_at: u64,
    // The transport.
    available: u64,
    segments: u64,
    next_number: u64,
    outstanding: BTreeMap<u64, Packet>,
    resend: Vec<u64>,
    missing: std::collections::BTreeSet<u64>,
    /// Packets taken for lost in the present or last recovery, with their segments.
    lost: BTreeMap<u64, Packet>,
    is_spurious: bool,
    recover: u64,
    largest_acked: u64,
    latest_rtt: u64,
    progress_at: u64,
    next_send: u64,
    send_at: u64,
    app_limited: bool,
}

/// The observation of a run: time in ms, and the states of both.
pub struct Row {
    pub at: u64,
    pub snapshots: Vec<Snapshot>,
}

/// The result of a run.
pub struct Run {
    pub rows: Vec<Row>,
    /// Data that arrived, in bytes, without the first second.
    pub delivered: u64,
    pub lost_packets: u64,
    pub sent_packets: u64,
}

/// Runs `controls` on `path`; the first decides. A row is taken every 500 ms and at each change of a state.
pub fn run(path: &Path, controls: &mut [&mut dyn Control]) -> Run {
    let mut sender = Sender::new(path);
    let mut rows: Vec<Row> = Vec::new();
    let (mut delivered, mut lost_packets) = (0, 0);
    while let Some(Reverse((at, _, event))) = sender.queue.pop() {
        if at > path.duration {
            break;
        }
        sender.now = at;
        match event {
            Event::Write(bytes) => sender.available += bytes,
            Event::Acked(number) => {
                let (arrived, lost) = sender.acked(number, controls);
                lost_packets += lost;
                delivered += if at > SECOND { arrived } else { 0 };
            }
            Event::Send => {}
            Event::Timer => sender.on_timer(path, controls),
            Event::Sample => sender.at(at + 500 * MS, Event::Sample),
        }
        sender.send(path, controls);
        let changed = |last: &Row| last.snapshots.iter().zip(controls.iter()).any(|(old, new)| old.state != new.state());
        if event == Event::Sample || (matches!(event, Event::Acked(_)) && rows.last().is_some_and(changed)) {
            let snapshots = controls.iter().map(|control| control.snapshot()).collect();
            rows.push(Row { at: at / 1000, snapshots });
        }
    }
    Run { rows, delivered, lost_packets, sent_packets: sender.next_number - 1 }
}

impl Sender {
    fn new(path: &Path) -> Self {
        let mut sender = Self {
            now: 0,
            queue: BinaryHeap::new(),
            events: 0,
            free_at: 0,
            transmissions: 0,
            tokens: path.policer.as_ref().map_or(0.0, |policer| policer.burst),
            tokens_at: 0,
            available: if path.writes.is_empty() { u64::MAX / 2 } else { 0 },
            segments: 0,
            next_number: 1,
            outstanding: BTreeMap::new(),
            resend: Vec::new(),
            missing: std::collections::BTreeSet::new(),
            lost: BTreeMap::new(),
            is_spurious: false,
            recover: 0,
            largest_acked: 0,
            latest_rtt: RTT,
            progress_at: 0,
            next_send: 0,
            send_at: 0,
            app_limited: false,
        };
        for &(at, bytes) in &path.writes {
            sender.at(at, Event::Write(bytes));
        }
        sender.at(0, Event::Sample);
        sender.at(200 * MS, Event::Timer);
        sender
    }

    fn at(&mut self, time: u64, event: Event) {
        self.events += 1;
        self.queue.push(Reverse((time, self.events, event)));
    }

    fn inflight(&self) -> u64 {
        self.outstanding.len() as u64 * SIZE
    }

    /// Everything before this segment has arrived.
    fn una(&self) -> u64 {
        self.missing.first().copied().unwrap_or(self.segments)
    }

    fn acked(&mut self, number: u64, controls: &mut [&mut dyn Control]) -> (u64, u64) {
        let now = self.now;
        self.progress_at = now;
        let Some(packet) = self.outstanding.remove(&number) else {
            return (self.late_arrival(number, controls), 0);
        };
        let arrived = if self.missing.remove(&packet.segment) { SIZE } else { 0 };
        self.latest_rtt = now - packet.sent;
        self.largest_acked = self.largest_acked.max(number);
        let acked = self.inflight();
        // RFC 9002 section 6.1: three packets later, or 9/8 of a round trip earlier.
        let allowed = self.latest_rtt * 9 / 8;
        let is_lost = |lost: &&Packet| lost.number + 3 <= self.largest_acked || lost.sent + allowed <= now;
        let lost: Vec<Packet> = self.outstanding.range(..self.largest_acked).map(|entry| entry.1).filter(is_lost).copied().collect();
        for packet in &lost {
            if packet.number > self.recover {
                // A new recovery.
                (self.recover, self.is_spurious) = (self.next_number - 1, true);
                self.lost.clear();
            }
            self.outstanding.remove(&packet.number);
            self.lost.insert(packet.number, *packet);
            if self.missing.contains(&packet.segment) {
                self.resend.push(packet.segment);
            }
        }
        let inflight = Inflight { acked, lost: self.inflight() };
        let (una, app_limited) = (self.una(), self.app_limited);
        for control in controls {
            control.acked(now, &packet, &lost, &inflight, una, app_limited);
        }
        (arrived, lost.len() as u64)
    }

    /// A packet that was taken for lost.
    fn late_arrival(&mut self, number: u64, controls: &mut [&mut dyn Control]) -> u64 {
        let Some(packet) = self.lost.remove(&number) else { return 0 };
        self.resend.retain(|segment| *segment != packet.segment);
        if self.lost.is_empty() && self.is_spurious {
            self.is_spurious = false;
            controls.iter_mut().for_each(|control| control.spurious(self.now));
        }
        0
    }

    /// A probe: the oldest packet again (RFC 9002 section 6.2).
    fn on_timer(&mut self, path: &Path, controls: &mut [&mut dyn Control]) {
        let oldest = self.outstanding.first_key_value().map(|entry| entry.1.segment);
        let due = self.progress_at + (3 * self.latest_rtt).max(200 * MS);
        if let Some(segment) = oldest
            && self.now >= due
        {
            self.progress_at = self.now;
            self.transmit(path, segment, controls);
        }
        self.at(self.now + 50 * MS, Event::Timer);
    }

    fn send(&mut self, path: &Path, controls: &mut [&mut dyn Control]) {
        self.app_limited = false;
        loop {
            let resends = !self.resend.is_empty();
            if !resends && self.available < SIZE {
                self.app_limited = true;
                let inflight = self.inflight();
                if inflight < controls[0].window() {
                    controls.iter_mut().for_each(|control| control.app_limited(inflight));
                }
                return;
            }
            if self.inflight() + SIZE > controls[0].window() {
                let inflight = self.inflight();
                controls.iter_mut().for_each(|control| control.cwnd_limited(inflight));
                return;
            }
            if self.now < self.next_send {
                if self.send_at != self.next_send {
                    self.send_at = self.next_send;
                    self.at(self.next_send, Event::Send);
                }
                return;
            }
            let segment = if resends { self.resend.remove(0) } else { self.segments };
            if !resends {
                self.available -= SIZE;
                self.segments += 1;
                self.missing.insert(segment);
            }
            self.transmit(path, segment, controls);
            self.next_send = self.now.max(self.next_send) + (SIZE as f64 / controls[0].pacing_rate() * 1e9) as u64;
        }
    }

    fn transmit(&mut self, path: &Path, segment: u64, controls: &mut [&mut dyn Control]) {
        let packet = Packet { number: self.next_number, segment, sent: self.now };
        self.next_number += 1;
        let inflight = self.inflight();
        if inflight == 0 {
            self.progress_at = self.now;
        }
        controls.iter_mut().for_each(|control| control.sent(&packet, inflight));
        self.outstanding.insert(packet.number, packet);
        if let Some(arrival) = self.carry(path) {
            self.at(arrival, Event::Acked(packet.number));
        }
    }

    /// The time at which the acknowledgement of a packet sent now arrives; `None` if the path drops it.
    fn carry(&mut self, path: &Path) -> Option<u64> {
        let now = self.now;
        self.transmissions += 1;
        if path.lose_every > 0 && self.transmissions.is_multiple_of(path.lose_every) {
            return None;
        }
        if let Some(policer) = &path.policer {
            self.tokens = (self.tokens + (now - self.tokens_at) as f64 * 1e-9 * policer.rate).min(policer.burst);
            self.tokens_at = now;
            if self.tokens < SIZE as f64 {
                return None;
            }
            self.tokens -= SIZE as f64;
        }
        let start = self.free_at.max(now);
        let rate = path.rates.iter().rev().find(|change| change.0 <= start).map_or(0, |change| change.1);
        if (start - now) * rate / (8 * SECOND) > path.buffer {
            return None;
        }
        self.free_at = start + SIZE * 8 * SECOND / rate;
        let late = path.late.is_some_and(|(from, span)| (from..from + span).contains(&now));
        let arrival = self.free_at + RTT + if late { 15 * MS } else { 0 };
        Some(if path.batch > 0 { arrival.next_multiple_of(path.batch) } else { arrival })
    }
}
