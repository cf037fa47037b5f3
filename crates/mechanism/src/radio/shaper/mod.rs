//! The shaper of client-centered-2004 (section III): a station that turns a smooth download into bursts.
//!
//! It shapes the download with its advertised windows, and its radio sleeps between the bursts.

mod burst;
mod config;
mod judgement;
mod round_trip;
mod rounds;
mod sequence;
mod state;
#[cfg(test)]
mod tests;

pub use burst::Burst;
pub use config::{BurstAcks, PacedFrom, RepairAcks, RttFrom, ShaperConfig};
pub use state::{Fallback, ShaperState};

use super::eager::{Spacing, default_longest_wait};
use crate::gateway::SegmentKind;
use crate::station::{self, PacketView, Serves, Shaping, StationAction, StationEvent, TcpView};
use crate::{ConfigError, Machine};
use burst::{Arriving, Fastest, Order, expected_after};
use judgement::{Streaks, grow};
use netlull_units::{Bytes, Duration, Instant};
use round_trip::RoundTrip;
use rounds::{Rounds, SlowStart};
use sequence::{Arrival, Sequence, Stream};
use state::{Opening, Phase, Radio, Reply};

/// The size of a probe. Data of this length or less may be a probe into a closed window (RFC 9293 section
/// 3.8.6.1) and neither begins nor extends a burst.
const PROBE: u32 = 1;

/// The largest number of simultaneous requests: wake, window, acknowledge, sleep.
const ACTIONS: usize = 4;

/// The client-centred shaper of one download: the first connection with data.
#[derive(Clone, Debug)]
pub struct Shaper {
    config: ShaperConfig,
    station: station::Context,
    now: Instant,
    stream: Stream,
    state: ShaperState,
    fallback: Option<Fallback>,
    phase: Phase,
    rounds: Rounds,
    fastest: Fastest,
    round_trip: RoundTrip,
    spacing: Spacing,
    /// The time of the last packet with new data, stragglers excluded.
    last: Option<Instant>,
    expected: u32,
    /// The largest packet of the download so far, in bytes.
    largest: u32,
    /// The time of the last acknowledgement with an open window, except the first open ACK of each burst.
    freed: Option<Instant>,
    streaks: Streaks,
    /// The time of the first data.
    begun: Option<Instant>,
    /// The predicted time that shaping has cost: from the first packets of bursts to their ends (section IV-B).
    delayed: Duration,
    last_burst: Option<Burst>,
    bursts: u64,
    resent_opens: u64,
    actions: [Option<StationAction>; ACTIONS],
}

impl Shaper {
    /// Creates a shaper before any data, with the radio awake.
    ///
    /// # Errors
    /// If a value of `config` is out of range, or the station's air rate is zero.
    pub fn new(config: &ShaperConfig, station: station::Context, start: Instant) -> Result<Self, ConfigError> {
        config.check(station)?;
        if station.air_rate.is_zero() {
            return Err(ConfigError::new("air_rate", station.air_rate, "a rate above zero"));
        }
        Ok(Self {
            config: *config,
            station,
            now: start,
            stream: Stream::Awaited { connection: None, acknowledged: None },
            state: ShaperState::Initial,
            fallback: None,
            phase: Phase::Free { owed: None },
            rounds: Rounds::new(config.growth),
            fastest: Fastest::default(),
            round_trip: RoundTrip::new(config.rtt_from),
            spacing: Spacing::default(),
            last: None,
            expected: 1,
            largest: 0,
            freed: None,
            streaks: Streaks::default(),
            begun: None,
            delayed: Duration::ZERO,
            last_burst: None,
            bursts: 0,
            resent_opens: 0,
            actions: [None; ACTIONS],
        })
    }

    /// The current state.
    #[must_use]
    pub fn state(&self) -> ShaperState {
        self.state
    }

    /// The least round-trip time, once there is a sample.
    #[must_use]
    pub fn rtt(&self) -> Option<Duration> {
        self.round_trip.least()
    }

    /// The reason for unchanged windows, now or at the end; `None` if shaping never stopped.
    #[must_use]
    pub fn fallback(&self) -> Option<Fallback> {
        self.fallback
    }

    /// The expected number of packets, W, of the current or next burst.
    #[must_use]
    pub fn expected(&self) -> u32 {
        self.expected
    }

    /// The last completed burst.
    #[must_use]
    pub fn last_burst(&self) -> Option<&Burst> {
        self.last_burst.as_ref()
    }

    /// Returns true if the requested acknowledgement is an open ACK, rather than merely an eager one.
    #[must_use]
    pub fn opens(&self) -> bool {
        matches!(self.phase, Phase::Open(_))
    }

    /// The number of completed bursts.
    #[must_use]
    pub fn bursts(&self) -> u64 {
        self.bursts
    }

    /// The number of open ACKs repeated because no data answered.
    #[must_use]
    pub fn resent_opens(&self) -> u64 {
        self.resent_opens
    }

    fn ask(&mut self, action: StationAction) {
        if let Some(free) = self.actions.iter_mut().find(|slot| slot.is_none()) {
            *free = Some(action);
        }
    }

    fn ask_to_acknowledge(&mut self) {
        if let Stream::Of { connection, .. } = self.stream {
            self.ask(StationAction::Acknowledge { connection });
        }
    }

    /// Requests an open ACK. While the machine shapes, its window is at most `open_window`.
    fn ask_to_open(&mut self) {
        if let Some(window) = self.config.open_window.filter(|_| self.shapes()) {
            self.ask(StationAction::SetWindow(window));
        }
        self.ask_to_acknowledge();
    }

    /// The round-trip time for timers: the upper bound of the least one, because a clock tick must not cause a
    /// repetition. The least wait is a lower bound, because a timer of zero would expire at once, for ever.
    fn round_trip(&self) -> Duration {
        self.round_trip.most().unwrap_or(default_longest_wait()).max(self.config.least_wait)
    }

    /// The time from an open ACK until the radio wakes. The last bit of the first packet arrives after the least
    /// round-trip time (section III-A.2). The radio must also hear the first bit. It therefore wakes earlier by
    /// the air time of the largest packet.
    fn sleep(&self) -> Duration {
        let hears = self.station.air_rate.time_for(Bytes::new(u64::from(self.largest)));
        let early = [self.station.wake, self.config.margin, hears];
        self.rtt().map_or(Duration::ZERO, |rtt| early.into_iter().fold(rtt, Duration::saturating_sub))
    }

    /// The upper bound of `T_d`, "the one-way trip time" (section III-A.1): half of the least round-trip time.
    fn longest_wait(&self) -> Duration {
        self.rtt().map_or(default_longest_wait(), |rtt| rtt / 2)
    }

    fn received(&mut self, now: Instant, packet: &PacketView) {
        if let Some(segment) = packet.segment.filter(|segment| self.stream.is_of(segment.connection)) {
            self.round_trip.is_shaken(now, &segment);
        }
        let Some(segment) = packet.segment.filter(|segment| self.follows(segment)) else { return };
        let arrival = self.stream.receive(&segment);
        if let Some(echo) = self.round_trip.echo(now, &segment)
            && segment.len > 0
        {
            self.round_trip.sample(now, echo);
            self.largest = self.largest.max(packet.size);
        }
        if arrival != Arrival::Old && segment.len > PROBE {
            let order = if arrival == Arrival::Jump { Order::Broken } else { Order::Kept };
            self.data(now, packet.size, &segment, order);
        } else if segment.len > 0 {
            self.owe(now);
        }
        if segment.fin {
            self.end(now);
        }
    }

    /// Returns true if a segment belongs to the download, which begins with the first data.
    fn follows(&mut self, segment: &TcpView) -> bool {
        if let Stream::Awaited { connection, acknowledged } = self.stream
            && segment.len > 0
        {
            let known = acknowledged.filter(|_| connection == Some(segment.connection));
            if known.is_none() {
                self.round_trip = RoundTrip::new(self.config.rtt_from);
            }
            let sequence = Sequence::new(known.unwrap_or(segment.seq));
            self.stream = Stream::Of { connection: segment.connection, sequence };
        }
        matches!(self.stream, Stream::Of { connection, .. } if connection == segment.connection)
            && self.state != ShaperState::Ended
    }

    /// Handles new data.
    fn data(&mut self, now: Instant, bytes: u32, segment: &TcpView, order: Order) {
        self.fastest.received(now, bytes);
        self.begun.get_or_insert(now);
        match self.phase {
            Phase::Free { .. } => {
                self.sample_gap(now);
                self.phase = Phase::Free { owed: Some(now) };
                match self.state {
                    ShaperState::Initial => self.slow_start(now, bytes, segment, order),
                    ShaperState::Standard(Fallback::Saturated) => self.saturated(now, bytes, segment, order),
                    _ => {}
                }
            }
            Phase::Burst(mut arriving) => {
                self.sample_gap(now);
                arriving.add(now, bytes, order);
                self.phase = Phase::Burst(arriving);
            }
            Phase::Open(opening) if self.answers(now, &opening, segment) => {
                self.answered(now, opening, bytes, order);
            }
            // A straggler of the previous burst.
            Phase::Open(_) => self.expected = expected_after(self.expected),
        }
    }

    /// Returns true if data answers the open ACK.
    fn answers(&self, now: Instant, opening: &Opening, segment: &TcpView) -> bool {
        opening.reply == Reply::Sent
            && if self.config.rtt_from.is_without_timestamps() {
                self.round_trip.answers_in_time(now, opening.first)
            } else {
                self.round_trip.answers(self.round_trip.echo(now, segment))
            }
    }

    /// Takes the sample `S_A`. A gap longer than any gap within a burst lies between two flights of slow start.
    fn sample_gap(&mut self, now: Instant) {
        let gap = self.last.replace(now).map(|last| now.saturating_since(last));
        if let Some(gap) = gap.filter(|&gap| gap <= self.longest_wait().max(self.config.least_wait)) {
            self.spacing.add(gap);
        }
    }

    fn owe(&mut self, now: Instant) {
        if let Phase::Free { owed } = &mut self.phase {
            *owed = Some(now);
        }
    }

    /// Adds data to its round; `None` without an echo.
    fn round(&mut self, now: Instant, bytes: u32, segment: &TcpView) -> Option<SlowStart> {
        let echo = self.round_trip.echo(now, segment)?;
        Some(self.rounds.received(now, bytes, echo, self.round_trip.newest()))
    }

    /// Handles data in the state Initial. Without a round-trip time, shaping ends for good. Otherwise Initial lasts as
    /// long as slow start.
    fn slow_start(&mut self, now: Instant, bytes: u32, segment: &TcpView, order: Order) {
        let Some(round) = self.round(now, bytes, segment) else {
            self.leave_alone(Fallback::NoTimestamps);
            return;
        };
        self.count_round(&round);
        if self.spread_for_long() {
            self.leave_alone(Fallback::Paced);
        } else if let SlowStart::Over(Arriving { packets, .. }) = round
            && self.rtt().is_some()
        {
            self.begin_bursts(packets, Arriving::begin(now, now, bytes, order));
        }
    }

    /// Begins to shape after a round of `packets`. Data in flight arrives as smoothly as before. Closed acknowledgements
    /// release nothing after it, so it ends in silence like a burst.
    fn begin_bursts(&mut self, packets: u32, first: Arriving) {
        self.state = ShaperState::Saving;
        self.expected = expected_after(packets);
        self.phase = Phase::Burst(first);
    }

    /// Handles data while the air is saturated. With `resume`, shaping starts again after enough small rounds in a row.
    fn saturated(&mut self, now: Instant, bytes: u32, segment: &TcpView, order: Order) {
        let Some(share) = self.config.resume else { return };
        let Some(SlowStart::Grown(round) | SlowStart::Over(round)) = self.round(now, bytes, segment) else { return };
        let is_small = !self.fills(share, round.bytes);
        grow(&mut self.streaks.small, is_small);
        if self.streaks.small >= self.config.saturated_bursts {
            self.streaks = Streaks::default();
            self.fallback = None;
            self.begin_bursts(round.packets, Arriving::begin(now, now, bytes, order));
        }
    }

    fn leave_alone(&mut self, why: Fallback) {
        self.state = ShaperState::Standard(why);
        self.fallback = Some(why);
    }

    /// Handles the first data released by an open ACK.
    fn answered(&mut self, now: Instant, opening: Opening, bytes: u32, order: Order) {
        self.awaken(opening.radio);
        // A repeated open ACK is ambiguous.
        if opening.at == opening.first {
            self.round_trip.answered(now.saturating_since(opening.first));
        }
        self.last = Some(now);
        self.phase = match self.state {
            ShaperState::Saving | ShaperState::Recovery => {
                Phase::Burst(Arriving::begin(now, opening.first, bytes, order))
            }
            ShaperState::Initial | ShaperState::Standard(_) | ShaperState::Ended => Phase::Free { owed: Some(now) },
        };
    }

    fn awaken(&mut self, radio: Radio) {
        if radio == Radio::Asleep {
            self.ask(StationAction::Wake);
        }
    }

    /// Handles the FIN.
    fn end(&mut self, now: Instant) {
        match self.phase {
            Phase::Burst(arriving) => self.record(now, &arriving, Duration::ZERO),
            Phase::Open(opening) => self.awaken(opening.radio),
            Phase::Free { .. } => {}
        }
        self.state = ShaperState::Ended;
        self.phase = Phase::Free { owed: None };
    }

    /// The threshold `T_d`(P) for the packets so far.
    fn threshold(&self, arriving: &Arriving) -> Duration {
        let outstanding = self.expected.saturating_sub(arriving.packets);
        self.spacing.threshold(outstanding, self.config.least_wait, self.longest_wait())
    }

    fn record(&mut self, now: Instant, arriving: &Arriving, threshold: Duration) {
        let &Arriving { opened, first, last, packets, bytes, order } = arriving;
        self.last_burst = Some(Burst {
            opened,
            first,
            last,
            ended: now,
            packets,
            bytes,
            expected: self.expected,
            interarrival: self.spacing.interarrival(),
            deviation: self.spacing.deviation(),
            threshold,
            intact: order == Order::Kept && !self.stream.has_hole(),
            state: self.state,
        });
        self.bursts += 1;
    }

    /// Ends a burst after its silence: judges it, opens the window, and sleeps if the state allows it.
    fn close_burst(&mut self, now: Instant, arriving: &Arriving) {
        self.record(now, arriving, self.threshold(arriving));
        if let Some(burst) = self.last_burst {
            if !burst.intact {
                self.spacing.missed(self.longest_wait());
            }
            self.count(arriving, burst.intact);
            self.delayed += now.saturating_since(arriving.first);
            self.state = self.judge(now, burst.intact);
            self.fallback = self.state.fallback();
            if self.state == ShaperState::Standard(Fallback::Saturated) {
                self.streaks = Streaks::default();
                self.rounds = Rounds::new(self.config.growth);
            }
        }
        self.expected = expected_after(arriving.packets);
        self.ask_to_open();
        let radio = if self.is_settled(now) && self.state == ShaperState::Saving && !self.sleep().is_zero() {
            self.ask(StationAction::Sleep);
            Radio::Asleep
        } else {
            Radio::Awake
        };
        let resend_at = now + self.round_trip().saturating_mul(2);
        self.phase = Phase::Open(Opening { first: now, at: now, reply: Reply::Awaited, radio, resend_at });
    }

    /// Returns true if all data released by open windows has arrived, except after open ACKs. Such windows occur in
    /// slow start and during repairs with open windows. The data arrives one round trip later, within the least wait
    /// (reading).
    fn is_settled(&self, now: Instant) -> bool {
        self.freed.is_none_or(|freed| freed + self.round_trip() + self.config.least_wait <= now)
    }

    fn sending(&mut self, now: Instant, packet: &PacketView) {
        // The acknowledgement of data that fills a hole belongs to its repair.
        let repairs = self.config.repair == RepairAcks::AsTheyAre && self.stream.has_hole();
        let Some(segment) = packet.segment else { return };
        let bare = segment.kind == SegmentKind::Other && !segment.fin && segment.len == 0;
        let frees = bare && segment.acknowledged.is_some() && segment.window > Bytes::new(0);
        let shaped = frees && self.shapes() && !repairs;
        if shaped && self.config.burst_acks == BurstAcks::Withheld && self.stream.is_shaped(&segment) {
            self.stream.note_acknowledged(&segment);
            self.ask(StationAction::Withhold);
            return;
        }
        if !self.note_sent(now, &segment) || !frees {
            return;
        }
        if shaped {
            self.ask(StationAction::SetWindow(Bytes::new(0)));
        } else {
            self.freed = Some(now);
        }
    }

    /// Returns true if acknowledgements are closed.
    fn shapes(&self) -> bool {
        matches!(self.state, ShaperState::Saving | ShaperState::Recovery)
    }

    /// Updates the stream from a segment of the host. Returns true if it belongs to the download.
    fn note_sent(&mut self, now: Instant, segment: &TcpView) -> bool {
        match &mut self.stream {
            Stream::Of { connection, .. } if *connection != segment.connection => return false,
            Stream::Of { .. } => self.stream.note_acknowledged(segment),
            Stream::Awaited { connection, acknowledged } => {
                if *connection != Some(segment.connection) {
                    self.round_trip = RoundTrip::new(self.config.rtt_from);
                    (*connection, *acknowledged) = (Some(segment.connection), None);
                }
                *acknowledged = segment.acknowledged.or(*acknowledged);
            }
        }
        self.round_trip.shakes(now, segment);
        if let Some(stamp) = self.round_trip.stamp(now, segment) {
            self.round_trip.sent(now, stamp);
            self.rounds.sent(stamp);
        }
        if segment.acknowledged.is_some()
            && let Phase::Free { owed } = &mut self.phase
        {
            *owed = None;
        }
        true
    }

    /// Handles the requested acknowledgement after the host has sent it.
    fn acknowledged(&mut self, now: Instant, packet: &PacketView) {
        let Some(segment) = packet.segment.filter(|segment| self.note_sent(now, segment)) else { return };
        let rtt = self.round_trip();
        let Phase::Open(opening) = &mut self.phase else {
            self.freed = Some(now);
            return;
        };
        opening.at = now;
        if opening.reply == Reply::Awaited {
            opening.reply = Reply::Sent;
            opening.first = now;
            opening.resend_at = now + rtt.saturating_mul(2);
            if let Some(stamp) = self.round_trip.stamp(now, &segment) {
                self.round_trip.opened(stamp);
            }
        } else {
            opening.resend_at = now + rtt;
            // If the first open ACK was not lost, this one releases more data after the answering burst.
            self.freed = Some(now);
        }
    }

    fn timeout(&mut self, now: Instant) {
        if self.due().is_none_or(|due| due > now) {
            return;
        }
        match self.phase {
            Phase::Free { .. } => {
                self.phase = Phase::Free { owed: None };
                self.ask_to_acknowledge();
            }
            Phase::Burst(arriving) => self.close_burst(now, &arriving),
            Phase::Open(opening) => self.wait_on(now, opening),
        }
    }

    /// Wakes the radio, or repeats the open ACK (section III-B.3).
    fn wait_on(&mut self, now: Instant, mut opening: Opening) {
        self.awaken(opening.radio);
        opening.radio = Radio::Awake;
        if now >= opening.resend_at {
            self.ask_to_open();
            self.resent_opens += 1;
            opening.resend_at = now + self.round_trip();
        }
        self.phase = Phase::Open(opening);
    }

    /// The time of the next timeout without other events.
    fn due(&self) -> Option<Instant> {
        match self.phase {
            Phase::Free { owed } => {
                let since = owed.filter(|_| self.config.eager && self.state != ShaperState::Ended)?;
                Some(since + self.spacing.threshold(1, self.config.least_wait, self.longest_wait()))
            }
            Phase::Burst(arriving) => Some(arriving.last + self.threshold(&arriving)),
            Phase::Open(Opening { radio: Radio::Asleep, at, resend_at, .. }) => {
                Some((at + self.sleep()).min(resend_at))
            }
            Phase::Open(Opening { resend_at, .. }) => Some(resend_at),
        }
    }
}

impl Machine for Shaper {
    type Event = StationEvent;
    type Action = StationAction;

    fn handle(&mut self, now: Instant, event: StationEvent) {
        self.now = now;
        match event {
            StationEvent::Received { packet, .. } => self.received(now, &packet),
            StationEvent::Sending { packet } => self.sending(now, &packet),
            StationEvent::Acknowledged { packet } => self.acknowledged(now, &packet),
            StationEvent::Timeout => self.timeout(now),
            StationEvent::Beacon { .. } => {}
        }
    }

    fn poll_action(&mut self) -> Option<StationAction> {
        let next = self.actions[0].take();
        self.actions.rotate_left(1);
        next
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.due().map(|due| due.max(self.now))
    }
}

impl station::Policy for Shaper {
    fn shaping(&self) -> Option<Shaping> {
        Some(Shaping {
            state: self.state,
            fallback: self.fallback,
            round_trip: self.rtt(),
            bursts: self.bursts,
            last_burst: self.last_burst,
            resent_opens: self.resent_opens,
            opens: self.opens(),
        })
    }
}

impl station::Parameters for ShaperConfig {
    type Machine = Box<Shaper>;
    const SERVES: Serves = Serves::OneDownload;

    fn build(&self, station: station::Context, start: Instant) -> Result<Box<Shaper>, ConfigError> {
        Shaper::new(self, station, start).map(Box::new)
    }
}
