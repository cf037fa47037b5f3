//! The smallest download that can drive a station's machine: a window sender, a path with loss and delay, a host
//! and its radio.

use netlull_mechanism::Machine;
use netlull_mechanism::gateway::{SegmentKind, Timestamps, spread};
use netlull_mechanism::radio::{Burst, BurstAcks, Fallback, RepairAcks, RttFrom, Shaper, ShaperConfig, ShaperState};
use netlull_mechanism::station::{self, PacketView, StationAction, StationEvent, TcpView};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};

/// The host's window, which requires its window scale.
pub const WINDOW: u64 = 65_536;
const RTO: Duration = Duration::from_secs(1);
const DELAYED_ACK: Duration = Duration::from_millis(200);

/// The probe of a sender with a closed window (RFC 9293 section 3.8.6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// The next byte, as in BSD.
    Byte,
    /// The sequence number before the first unacknowledged byte, without data, as in Linux.
    Empty,
}

/// A station with an air of `mbps` Mb/s and a wake time of `wake` milliseconds.
pub fn station(mbps: u64, wake: u64) -> station::Context {
    let (air_rate, wake) = (BitRate::from_mbps(mbps), Duration::from_millis(wake));
    station::Context { air_rate, wake, mtu: Bytes::new(1500) }
}

/// The settings of a download.
#[derive(Clone, Debug)]
pub struct Setting {
    pub config: ShaperConfig,
    pub station: station::Context,
    pub seed: u64,
    /// The size of the download in bytes.
    pub size: u64,
    pub mss: u64,
    pub initial_sequence: u32,
    /// Half of the round trip.
    pub delay: Duration,
    /// The largest random addition to a packet's delay.
    pub jitter: Duration,
    /// True if jitter may reorder packets.
    pub reorders: bool,
    pub data_loss: f64,
    pub ack_loss: f64,
    pub rate: BitRate,
    /// A tick of the hosts' timestamp clocks.
    pub tick: Duration,
    pub probe: Probe,
    /// The number of events per unrequested timeout.
    pub uncalled: Option<u64>,
}

impl Setting {
    /// 20 Mb/s, 60 ms, no losses.
    pub fn clean(size: u64) -> Self {
        Self {
            config: ShaperConfig::default(),
            station: station(20, 2),
            seed: 1,
            size,
            mss: 1460,
            initial_sequence: u32::MAX - 20_000,
            delay: Duration::from_millis(30),
            jitter: Duration::ZERO,
            reorders: false,
            data_loss: 0.0,
            ack_loss: 0.0,
            rate: BitRate::from_mbps(20),
            tick: Duration::from_millis(1),
            probe: Probe::Byte,
            uncalled: None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Occurrence {
    Data { offset: u64, len: u64, fin: bool, echo: u32 },
    Ack { number: u64, window: u64, value: u32 },
    Retransmit { asked: u64 },
    DelayedAck { asked: u64 },
}

/// The result of a download.
#[derive(Debug)]
pub struct Outcome {
    pub completed: Option<Instant>,
    pub asleep: Duration,
    /// Packets that arrived while the radio could not hear.
    pub missed: u64,
    pub states: Vec<ShaperState>,
    pub bursts: Vec<Burst>,
    pub resent_opens: u64,
    pub rtt: Option<Duration>,
    pub log: Vec<(Instant, StationEvent, Vec<StationAction>)>,
}

struct Sender {
    una: u64,
    next: u64,
    window: u64,
    /// The congestion window in bytes.
    cwnd: f64,
    ssthresh: f64,
    duplicates: u32,
    recent: u32,
    armed: u64,
}

struct Host {
    next: u64,
    beyond: BTreeMap<u64, u64>,
    fin: bool,
    unacknowledged: u32,
    delayed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Radio {
    /// The instant from which the radio hears. A packet whose last bit arrives at that instant is heard.
    Awake {
        hears: Instant,
    },
    Asleep {
        since: Instant,
    },
}

pub struct Download {
    setting: Setting,
    shaper: Shaper,
    sender: Sender,
    host: Host,
    radio: Radio,
    /// The shaper's last open ACK.
    opened: Option<Instant>,
    now: Instant,
    agenda: BTreeSet<(Instant, u64)>,
    occurrences: BTreeMap<u64, Occurrence>,
    numbers: u64,
    draws: u64,
    busy_until: Instant,
    last_arrivals: [Instant; 2],
    outcome: Outcome,
}

impl Download {
    /// Runs to the end, or for two hours.
    pub fn run(setting: &Setting) -> Outcome {
        let shaper = Shaper::new(&setting.config, setting.station, Instant::ZERO).unwrap();
        let mut download = Self {
            sender: Sender {
                una: 0,
                next: 0,
                window: WINDOW,
                cwnd: 2.0 * setting.mss as f64,
                ssthresh: f64::INFINITY,
                duplicates: 0,
                recent: 0,
                armed: 0,
            },
            host: Host { next: 0, beyond: BTreeMap::new(), fin: false, unacknowledged: 0, delayed: 0 },
            setting: setting.clone(),
            shaper,
            radio: Radio::Awake { hears: Instant::ZERO },
            opened: None,
            now: Instant::ZERO,
            agenda: BTreeSet::new(),
            occurrences: BTreeMap::new(),
            numbers: 0,
            draws: 0,
            busy_until: Instant::ZERO,
            last_arrivals: [Instant::ZERO; 2],
            outcome: Outcome {
                completed: None,
                asleep: Duration::ZERO,
                missed: 0,
                states: vec![ShaperState::Initial],
                bursts: Vec::new(),
                resent_opens: 0,
                rtt: None,
                log: Vec::new(),
            },
        };
        download.shake_hands();
        download.go(Instant::ZERO + Duration::from_secs(7200));
        assert_eq!(download.shaper.bursts(), download.outcome.bursts.len() as u64);
        download.outcome.resent_opens = download.shaper.resent_opens();
        download.outcome.rtt = download.shaper.rtt();
        download.outcome
    }

    fn go(&mut self, end: Instant) {
        while self.outcome.completed.is_none() {
            let due = self.shaper.next_timeout().unwrap_or(Instant::NEVER);
            let first = self.agenda.first().copied().unwrap_or((Instant::NEVER, 0));
            if due.min(first.0) > end {
                return;
            }
            if due < first.0 {
                self.now = due;
                let before = self.outcome.log.len();
                self.tell(StationEvent::Timeout);
                if self.outcome.log.len() == before + 1 {
                    assert_ne!(self.shaper.next_timeout(), Some(due), "the same timeout again at {due}");
                }
            } else {
                self.agenda.pop_first();
                self.now = first.0;
                let occurrence = self.occurrences.remove(&first.1).unwrap();
                self.occur(occurrence);
            }
        }
    }

    fn draw(&mut self) -> f64 {
        self.draws += 1;
        (spread(self.setting.seed ^ spread(self.draws)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn plan(&mut self, at: Instant, occurrence: Occurrence) {
        self.numbers += 1;
        self.agenda.insert((at, self.numbers));
        self.occurrences.insert(self.numbers, occurrence);
    }

    fn cross(&mut self, from: Instant, way: usize, loss: f64, occurrence: Occurrence) {
        let jitter = Duration::from_nanos((self.draw() * self.setting.jitter.as_nanos() as f64) as u64);
        if self.draw() < loss {
            return;
        }
        let mut at = from + self.setting.delay + jitter;
        if !self.setting.reorders {
            at = at.max(self.last_arrivals[way]);
        }
        self.last_arrivals[way] = at;
        self.plan(at, occurrence);
    }

    fn occur(&mut self, occurrence: Occurrence) {
        match occurrence {
            Occurrence::Data { offset, len, fin, echo } => self.arrive(offset, len, fin, echo),
            Occurrence::Ack { number, window, value } => self.acknowledged(number, window, value),
            Occurrence::Retransmit { asked } if asked == self.sender.armed => self.retransmit(),
            Occurrence::DelayedAck { asked } if asked == self.host.delayed => self.host_acknowledges(),
            Occurrence::Retransmit { .. } | Occurrence::DelayedAck { .. } => {}
        }
    }

    fn clock(&self) -> u32 {
        // Near the clock's end, to make it wrap.
        ((self.now.as_nanos() / self.setting.tick.as_nanos()) as u32).wrapping_add(0xffff_ff00)
    }

    // The sender.

    fn shake_hands(&mut self) {
        // The sender opens the connection; its host answers.
        let packet = PacketView { size: 60, segment: Some(self.view(SegmentKind::SynAck, 0, WINDOW)) };
        self.tell(StationEvent::Sending { packet });
        self.sender.recent = self.clock();
        self.now += self.setting.delay;
        self.fill();
    }

    fn fill(&mut self) {
        let before = self.sender.next;
        loop {
            let sender = &self.sender;
            let edge = sender.una + sender.window.min(sender.cwnd as u64);
            let len = self.setting.mss.min(self.setting.size - sender.next);
            if len == 0 || sender.next + len > edge {
                break;
            }
            self.send(sender.next, len);
            self.sender.next += len;
        }
        // An acknowledgement that neither acknowledges nor releases data does not postpone the timer.
        if self.sender.next > before {
            self.arm();
        }
    }

    /// Starts the single timer: for data in flight or, with a closed window, for the next probe.
    fn arm(&mut self) {
        self.sender.armed += 1;
        if self.sender.una <= self.setting.size {
            let asked = self.sender.armed;
            self.plan(self.now + RTO, Occurrence::Retransmit { asked });
        }
    }

    fn send(&mut self, offset: u64, len: u64) {
        let start = self.busy_until.max(self.now);
        self.busy_until = start + self.setting.rate.time_for(Bytes::new(len + 52));
        let fin = offset + len == self.setting.size && len > 0;
        let data = Occurrence::Data { offset, len, fin, echo: self.sender.recent };
        self.cross(self.busy_until, 0, self.setting.data_loss, data);
    }

    fn retransmit(&mut self) {
        let Sender { una, next, window, cwnd, .. } = self.sender;
        let size = self.setting.size;
        if una == next && window < self.setting.mss.min(size - una) {
            match self.setting.probe {
                Probe::Byte => self.send(una, 1),
                Probe::Empty => self.send(una.saturating_sub(1), 0),
            }
        } else {
            // Go back; the first segment is sent whatever the window.
            self.sender.ssthresh = (cwnd / 2.0).max(2.0 * self.setting.mss as f64);
            self.sender.cwnd = self.setting.mss as f64;
            self.sender.duplicates = 0;
            let len = self.setting.mss.min(size.saturating_sub(una)).max(1);
            self.send(una.min(size - 1), len.min(size - una.min(size - 1)));
            self.sender.next = (una + len).min(size);
        }
        self.arm();
    }

    fn acknowledged(&mut self, number: u64, window: u64, value: u32) {
        let mss = self.setting.mss as f64;
        let newer = value.wrapping_sub(self.sender.recent) < 1 << 31;
        if newer {
            self.sender.recent = value;
        }
        let sender = &mut self.sender;
        if number > sender.una {
            let growth = if sender.cwnd < sender.ssthresh { mss } else { mss * mss / sender.cwnd };
            sender.cwnd += growth;
            sender.una = number;
            sender.next = sender.next.max(number).min(self.setting.size);
            sender.duplicates = 0;
            sender.window = window;
            self.arm();
        } else if number == sender.una && newer {
            sender.duplicates += u32::from(window == sender.window);
            sender.window = window;
        } else {
            return;
        }
        if self.sender.una > self.setting.size {
            self.outcome.completed = Some(self.now);
            return;
        }
        if self.sender.duplicates == 3 && self.sender.una < self.sender.next {
            self.sender.ssthresh = (self.sender.cwnd / 2.0).max(2.0 * mss);
            self.sender.cwnd = self.sender.ssthresh;
            let una = self.sender.una;
            self.send(una, self.setting.mss.min(self.setting.size - una));
        }
        self.fill();
    }

    // The station.

    fn number(&self, offset: u64) -> u32 {
        self.setting.initial_sequence.wrapping_add(1).wrapping_add(offset as u32)
    }

    fn view(&self, kind: SegmentKind, number: u64, window: u64) -> TcpView {
        TcpView {
            connection: 0,
            kind,
            fin: false,
            seq: 77,
            len: 0,
            acknowledged: Some(self.number(number)),
            window: Bytes::new(window),
            timestamps: Some(Timestamps { value: self.clock(), echo: 0 }),
        }
    }

    fn arrive(&mut self, offset: u64, len: u64, fin: bool, echo: u32) {
        if !self.hears() {
            self.outcome.missed += 1;
            return;
        }
        let segment = TcpView {
            seq: self.number(offset),
            len: len as u32,
            fin,
            acknowledged: Some(78),
            timestamps: Some(Timestamps { value: 1, echo }),
            ..self.view(SegmentKind::Other, 0, WINDOW)
        };
        let packet = PacketView { size: len as u32 + 52, segment: Some(segment) };
        self.tell(StationEvent::Received { packet, more: false });
        let at_once = self.take(offset, len, fin);
        if at_once || self.host.unacknowledged >= 2 {
            self.host_acknowledges();
        } else {
            self.host.delayed += 1;
            let asked = self.host.delayed;
            self.plan(self.now + DELAYED_ACK, Occurrence::DelayedAck { asked });
        }
    }

    /// Delivers data to the host. Returns true if the host acknowledges at once (RFC 5681 section 4.2).
    fn take(&mut self, offset: u64, len: u64, fin: bool) -> bool {
        let host = &mut self.host;
        let (held, before) = (!host.beyond.is_empty(), host.next);
        if len > 0 {
            let end = host.beyond.entry(offset).or_insert(0);
            *end = (*end).max(offset + len);
        }
        while let Some((&from, &to)) = host.beyond.first_key_value()
            && from <= host.next
        {
            host.beyond.pop_first();
            host.next = host.next.max(to);
        }
        host.fin |= fin;
        host.unacknowledged += 1;
        host.next == before || held || (host.fin && host.next == self.setting.size)
    }

    fn host_view(&mut self) -> TcpView {
        self.host.unacknowledged = 0;
        self.host.delayed += 1;
        let fin = self.host.fin && self.host.next == self.setting.size;
        self.view(SegmentKind::Other, self.host.next + u64::from(fin), WINDOW)
    }

    fn host_acknowledges(&mut self) {
        let segment = self.host_view();
        self.rouse(Duration::ZERO);
        let packet = PacketView { size: 52, segment: Some(segment) };
        let actions = self.tell(StationEvent::Sending { packet });
        let mut window = WINDOW;
        for action in actions {
            if action == StationAction::Withhold {
                assert_eq!(self.setting.config.burst_acks, BurstAcks::Withheld);
                return;
            }
            if let StationAction::SetWindow(bytes) = action {
                assert!(bytes < segment.window);
                assert!(
                    matches!(self.shaper.state(), ShaperState::Saving | ShaperState::Recovery),
                    "a window is changed in {:?}",
                    self.shaper.state()
                );
                window = bytes.as_u64();
            }
        }
        self.send_ack(segment, window);
    }

    fn send_ack(&mut self, segment: TcpView, window: u64) {
        let number = u64::from(segment.acknowledged.unwrap().wrapping_sub(self.number(0)));
        let value = segment.timestamps.unwrap().value;
        self.cross(self.now, 1, self.setting.ack_loss, Occurrence::Ack { number, window, value });
    }

    /// Wakes a sleeping radio, which hears after `wake`.
    fn rouse(&mut self, wake: Duration) {
        let Radio::Asleep { since } = self.radio else { return };
        self.outcome.asleep += self.now - since;
        let hears = self.now + wake;
        self.radio = Radio::Awake { hears };
        if let (Some(opened), Some(rtt)) = (self.opened, self.shaper.rtt()) {
            assert!(hears <= opened + rtt, "deaf until {hears}, and data is due from {opened} + {rtt} on");
        }
    }

    fn hears(&self) -> bool {
        matches!(self.radio, Radio::Awake { hears } if hears <= self.now)
    }

    /// Delivers an event to the machine and carries out its actions.
    fn tell(&mut self, event: StationEvent) -> Vec<StationAction> {
        let actions = self.hand_over(event);
        let mut offered = WINDOW;
        for &action in &actions {
            match action {
                StationAction::Sleep => {
                    assert_eq!(self.shaper.state(), ShaperState::Saving);
                    assert!(self.hears(), "it heard the burst");
                    self.radio = Radio::Asleep { since: self.now };
                }
                StationAction::Wake => self.rouse(self.setting.station.wake),
                StationAction::Acknowledge { connection } => {
                    assert_eq!(connection, 0);
                    let segment = self.host_view();
                    let packet = PacketView { size: 52, segment: Some(segment) };
                    if matches!(self.shaper.state(), ShaperState::Saving | ShaperState::Recovery) {
                        self.opened = Some(self.now);
                    }
                    assert!(self.hand_over(StationEvent::Acknowledged { packet }).is_empty());
                    self.send_ack(segment, offered);
                }
                // The window of the open acknowledgement that follows.
                StationAction::SetWindow(bytes) if event == StationEvent::Timeout => {
                    assert_eq!(Some(bytes), self.setting.config.open_window);
                    offered = offered.min(bytes.as_u64());
                }
                StationAction::SetWindow(_) | StationAction::Withhold => {
                    assert!(matches!(event, StationEvent::Sending { .. }));
                }
                StationAction::Poll | StationAction::Announce(_) => panic!("there is no such access point"),
            }
        }
        actions
    }

    fn hand_over(&mut self, event: StationEvent) -> Vec<StationAction> {
        if let (Radio::Asleep { .. }, Some(opened), Some(rtt)) = (self.radio, self.opened, self.shaper.rtt()) {
            assert!(self.now <= opened + rtt, "asleep at {}, and data is due from {opened} + {rtt} on", self.now);
        }
        let was = *self.outcome.states.last().unwrap();
        self.shaper.handle(self.now, event);
        let mut actions = Vec::new();
        actions.extend(std::iter::from_fn(|| self.shaper.poll_action()));
        self.check(was);
        if self.shaper.bursts() > self.outcome.bursts.len() as u64 {
            self.outcome.bursts.push(*self.shaper.last_burst().unwrap());
        }
        self.outcome.log.push((self.now, event, actions.clone()));
        if self.setting.uncalled.is_some_and(|every| (self.outcome.log.len() as u64).is_multiple_of(every))
            && self.shaper.next_timeout() != Some(self.now)
        {
            self.shaper.handle(self.now, StationEvent::Timeout);
            assert_eq!(self.shaper.poll_action(), None, "nothing is due");
        }
        actions
    }

    fn check(&mut self, was: ShaperState) {
        let is = self.shaper.state();
        if is != was {
            let allowed = match was {
                ShaperState::Initial => is != ShaperState::Recovery,
                ShaperState::Saving | ShaperState::Recovery => is != ShaperState::Initial,
                ShaperState::Standard(Fallback::Saturated) if self.setting.config.resume.is_some() => {
                    matches!(is, ShaperState::Saving | ShaperState::Ended)
                }
                ShaperState::Standard(_) => is == ShaperState::Ended,
                ShaperState::Ended => false,
            };
            assert!(allowed, "{was:?} -> {is:?}");
            self.outcome.states.push(is);
        }
        let next = self.shaper.next_timeout();
        assert!(next.is_none_or(|at| at >= self.now), "{next:?} lies before {}", self.now);
        if matches!(is, ShaperState::Saving | ShaperState::Recovery) {
            assert!(next.is_some(), "a window is closed and nothing is pending");
        }
    }
}

/// A configuration with any reading of the paper's gaps, and any addition without a number.
pub fn reading(bits: u8) -> ShaperConfig {
    ShaperConfig {
        rtt_from: [RttFrom::AnyEcho, RttFrom::OpenAck, RttFrom::Handshake, RttFrom::Answers][usize::from(bits & 3)],
        repair: if bits & 4 == 0 { RepairAcks::Closed } else { RepairAcks::AsTheyAre },
        burst_acks: if bits & 8 == 0 { BurstAcks::Closed } else { BurstAcks::Withheld },
        eager: bits & 16 == 0,
        ..ShaperConfig::default()
    }
}
