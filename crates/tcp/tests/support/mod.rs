//! A deterministic event loop with two endpoints, and a model that checks them after each step.

use netlull_tcp::{
    ApplicationRead, Config, Counters, Data, Endpoint, Flags, LossRecovery, SackDetection, Segment, SeqNr, State,
    WindowReduction,
};
use netlull_units::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

mod scene;

pub use scene::{HEAD, fuzz_input};

/// Fate of a segment on the path.
#[derive(Clone, Copy, Debug)]
pub enum Fate {
    Deliver,
    Drop,
    /// Twice, the second time after this number of milliseconds.
    Duplicate(u64),
    /// Later than the path's delay by this number of milliseconds.
    Delay(u64),
    /// With a congestion mark, if allowed.
    Mark,
}

/// Reads of an application on demand.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    pub bytes: u64,
    pub every: Duration,
}

/// Writes of an application.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    pub bytes: u64,
    pub every: Duration,
}

#[derive(Clone, Copy, Debug)]
pub enum Closing {
    /// Both sides close as soon as they have queued their data.
    BothAtOnce,
    /// The server closes after the client.
    ServerFollows,
}

#[derive(Clone, Debug)]
pub struct Scene {
    pub configs: [Config; 2],
    pub initial_numbers: [u32; 2],
    pub bytes: [u64; 2],
    /// Fates of the first segments from each side; later ones are delivered.
    pub fates: [Vec<Fate>; 2],
    pub delay: Duration,
    pub readers: [Reader; 2],
    pub writers: [Writer; 2],
    pub closing: Closing,
}

/// State of the model for one direction; `from` is the sender of the data.
#[derive(Clone, Debug, Default)]
struct Direction {
    /// Data that reached the receiver, sorted and disjoint.
    arrived: Vec<(u64, u64)>,
    /// The highest offset sent.
    sent: u64,
    /// The highest right edge that has reached the sender.
    edge: u64,
    /// The highest right edge advertised.
    advertised: u64,
    una: u64,
    delivered: u64,
    /// The data queued by the application.
    given: u64,
    /// Data reported by SACK blocks that reached the sender, sorted and disjoint.
    sacked: Vec<(u64, u64)>,
}

impl Direction {
    fn arrive(&mut self, start: u64, end: u64) {
        add(&mut self.arrived, (start, end));
    }

    fn has_arrived(&self, start: u64, end: u64) -> bool {
        covers(&self.arrived, (start, end))
    }

    /// The data that arrived without a gap.
    fn prefix(&self) -> u64 {
        self.arrived.first().filter(|first| first.0 == 0).map_or(0, |first| first.1)
    }
}

/// Adds to sorted, disjoint ranges.
fn add(ranges: &mut Vec<(u64, u64)>, new: (u64, u64)) {
    ranges.push(new);
    ranges.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for &(start, end) in ranges.iter() {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    *ranges = merged;
}

fn covers(ranges: &[(u64, u64)], (start, end): (u64, u64)) -> bool {
    ranges.iter().any(|range| range.0 <= start && end <= range.1)
}

type Arrival = Reverse<(Instant, u64, usize, usize)>;

pub struct World {
    scene: Scene,
    now: Instant,
    ends: [Endpoint; 2],
    directions: [Direction; 2],
    /// (time, number, destination, index into `segments`).
    arrivals: BinaryHeap<Arrival>,
    segments: Vec<Segment>,
    next_fate: [usize; 2],
    next_read: [Instant; 2],
    next_write: [Instant; 2],
    scaled: bool,
    /// Tail loss probes sent so far.
    tail_probes: [u64; 2],
    /// The events, if recorded.
    trace: Option<Vec<String>>,
}

type Checked = Result<(), String>;

macro_rules! check {
    ($holds:expr, $($why:tt)*) => {
        if !$holds {
            return Err(format!($($why)*));
        }
    };
}

impl World {
    pub fn new(scene: &Scene) -> Self {
        let numbers = scene.initial_numbers.map(SeqNr::new);
        Self {
            now: Instant::ZERO,
            ends: [Endpoint::client(&scene.configs[0], numbers[0]), Endpoint::server(&scene.configs[1], numbers[1])],
            directions: [Direction::default(), Direction::default()],
            arrivals: BinaryHeap::new(),
            segments: Vec::new(),
            next_fate: [0; 2],
            next_read: scene.readers.map(|reader| Instant::ZERO + reader.every),
            next_write: [Instant::ZERO; 2],
            scaled: scene.configs.iter().all(|config| config.flow_control.window_scaling),
            scene: scene.clone(),
            tail_probes: [0; 2],
            trace: None,
        }
    }

    /// The counters of both ends.
    pub fn counters(&self) -> [Counters; 2] {
        self.ends.each_ref().map(|end| *end.counters())
    }

    /// A loop that records a line for each segment sent and each that arrives.
    pub fn traced(scene: &Scene) -> Self {
        Self { trace: Some(Vec::new()), ..Self::new(scene) }
    }

    /// The recorded lines.
    pub fn trace(&self) -> &[String] {
        self.trace.as_deref().unwrap_or_default()
    }

    /// Records a line for a segment from `from`, with the state of `end`.
    fn note(&mut self, what: &str, from: usize, end: usize, segment: &Segment) {
        if self.trace.is_none() {
            return;
        }
        let tcp = &self.ends[end];
        let (cwnd, flight, phase) = (tcp.cwnd(), tcp.flight(), tcp.recovery_phase());
        let start = self.offset(from, segment.seq);
        let ack = self.offset(1 - from, segment.ack);
        let blocks: Vec<String> = segment
            .sack_blocks()
            .iter()
            .map(|block| format!("{}:{}", self.offset(1 - from, block.left), self.offset(1 - from, block.right)))
            .collect();
        let line = format!(
            "{} end {end} {what} {start}+{} ack {ack} win {} {:?} {} | cwnd {cwnd} flight {flight} {phase:?}",
            self.now,
            segment.len,
            segment.window,
            segment.flags,
            blocks.join(" ")
        );
        self.trace.get_or_insert_default().push(line);
    }

    /// Runs until both ends are closed.
    pub fn run(&mut self) -> Checked {
        self.ends[0].open(self.now);
        self.write(0)?;
        self.write(1)?;
        for _ in 0..400_000 {
            if self.ends.iter().all(Endpoint::is_closed) {
                return self.check_outcome();
            }
            self.step()?;
        }
        Err(format!("no end in sight at {}: {:?}", self.now, self.ends.each_ref().map(Endpoint::state)))
    }

    /// Queues the next piece of the application of `end`, and closes after the last.
    fn write(&mut self, end: usize) -> Checked {
        let (total, writer) = (self.scene.bytes[end], self.scene.writers[end]);
        let piece = writer.bytes.min(total - self.directions[end].given);
        self.ends[end].send(Data::Bytes(piece));
        self.directions[end].given += piece;
        let done = self.directions[end].given == total;
        self.next_write[end] = if done { Instant::NEVER } else { self.now + writer.every };
        if done && (end == 0 || matches!(self.scene.closing, Closing::BothAtOnce)) {
            self.ends[end].close();
        }
        self.settle(end)
    }

    fn step(&mut self) -> Checked {
        let arrival = self.arrivals.peek().map_or(Instant::NEVER, |Reverse(next)| next.0);
        let timeouts = self.ends.each_ref().map(Endpoint::next_timeout);
        let reads = [self.read_time(0), self.read_time(1)];
        let writes = self.next_write;
        let of_network = arrival.min(timeouts[0]).min(timeouts[1]);
        let next = of_network.min(reads[0]).min(reads[1]).min(writes[0]).min(writes[1]);
        check!(next != Instant::NEVER, "stalled at {}: {:?}", self.now, self.ends.each_ref().map(Endpoint::state));
        check!(next >= self.now, "time goes back from {} to {next}", self.now);
        self.now = next;
        if next == arrival {
            return self.deliver();
        }
        for end in 0..2 {
            if next == timeouts[end] {
                self.ends[end].handle_timeout(next);
                return self.settle(end);
            }
            if next == reads[end] {
                self.next_read[end] = next + self.scene.readers[end].every;
                self.ends[end].read(self.scene.readers[end].bytes);
                return self.settle(end);
            }
            if next == writes[end] {
                return self.write(end);
            }
        }
        Ok(())
    }

    fn read_time(&self, end: usize) -> Instant {
        let waits = self.scene.configs[end].flow_control.application_read == ApplicationRead::OnDemand
            && self.ends[end].unread() > 0;
        if waits { self.next_read[end].max(self.now) } else { Instant::NEVER }
    }

    fn deliver(&mut self) -> Checked {
        let Some(Reverse((_, _, to, index))) = self.arrivals.pop() else { return Ok(()) };
        let segment = self.segments[index];
        let from = 1 - to;
        let len = u64::from(segment.len) + u64::from(segment.flags.contains(Flags::FIN));
        if len > 0 {
            let start = self.offset(from, segment.seq);
            self.directions[from].arrive(start, start + len);
        }
        if segment.flags.contains(Flags::ACK) && !segment.flags.contains(Flags::RST) {
            let edge = self.right_edge(from, &segment);
            self.directions[to].edge = self.directions[to].edge.max(edge);
        }
        let refused = self.ends[to].counters().refused_segments;
        self.ends[to].handle_segment(self.now, &segment);
        self.note("takes", from, to, &segment);
        if self.ends[to].counters().refused_segments == refused {
            self.note_sacked(to, &segment);
        }
        self.settle(to)
    }

    /// Records the SACKed data of a segment that `end` has taken, unless its acknowledgement is old.
    fn note_sacked(&mut self, end: usize, segment: &Segment) {
        let una = self.directions[end].una;
        if !segment.flags.contains(Flags::ACK) || self.offset(end, segment.ack) < una {
            return;
        }
        for block in segment.sack_blocks() {
            let range = (self.offset(end, block.left), self.offset(end, block.right));
            add(&mut self.directions[end].sacked, range);
        }
    }

    /// Sends the segments of `end`, checks everything, and checks that an early timeout changes nothing.
    fn settle(&mut self, end: usize) -> Checked {
        let all_given = self.directions[1].given == self.scene.bytes[1];
        if all_given && self.ends[1].peer_has_closed() && matches!(self.scene.closing, Closing::ServerFollows) {
            self.ends[1].close();
        }
        let mut burst = 0;
        while let Some(segment) = self.ends[end].poll_transmit(self.now) {
            burst += 1;
            self.note("sends", end, end, &segment);
            check!(burst < 100_000, "end {end} never falls silent");
            self.check_sent(end, &segment)?;
            self.tail_probes[end] = self.ends[end].counters().tail_probes;
            self.transmit(end, segment);
        }
        if self.now < self.ends[end].next_timeout() {
            let before = format!("{:?}", self.ends[end]);
            self.ends[end].handle_timeout(self.now);
            check!(self.ends[end].poll_transmit(self.now).is_none(), "an early timeout sent something");
            check!(before == format!("{:?}", self.ends[end]), "an early timeout changed something");
        }
        self.check_state(end)
    }

    fn transmit(&mut self, from: usize, segment: Segment) {
        let fate = self.scene.fates[from].get(self.next_fate[from]).copied().unwrap_or(Fate::Deliver);
        self.next_fate[from] += 1;
        let (first, second) = match fate {
            Fate::Deliver | Fate::Mark => (Some(0), None),
            Fate::Drop => (None, None),
            Fate::Duplicate(ms) => (Some(0), Some(ms)),
            Fate::Delay(ms) => (Some(ms), None),
        };
        let marked = matches!(fate, Fate::Mark) && segment.flags.contains(Flags::ECT);
        let flags = if marked { segment.flags | Flags::CE } else { segment.flags };
        let segment = Segment { flags, ..segment };
        for ms in first.into_iter().chain(second) {
            let at = self.now + self.scene.delay + Duration::from_millis(ms);
            self.arrivals.push(Reverse((at, self.segments.len() as u64, 1 - from, self.segments.len())));
            self.segments.push(segment);
        }
    }

    /// The offset of a sequence number in the stream from `from`; transfers here are shorter than 2^32.
    fn offset(&self, from: usize, seq: SeqNr) -> u64 {
        u64::from(seq.as_u32().wrapping_sub(self.scene.initial_numbers[from]).wrapping_sub(1))
    }

    /// The right edge that a segment from `from` advertises, as an offset in the other side's stream.
    fn right_edge(&self, from: usize, segment: &Segment) -> u64 {
        let shift = if self.scaled && !segment.flags.contains(Flags::SYN) { self.shift(from) } else { 0 };
        self.offset(1 - from, segment.ack) + (u64::from(segment.window) << shift)
    }

    fn shift(&self, end: usize) -> u32 {
        let buffer = self.scene.configs[end].flow_control.receive_buffer.as_u64();
        (0..15).find(|shift| 65_535_u64 << shift >= buffer).unwrap_or(14)
    }

    fn check_sent(&mut self, end: usize, segment: &Segment) -> Checked {
        if segment.flags.contains(Flags::RST) {
            // A stray segment may still reach a closed end.
            check!(self.ends[end].is_closed(), "end {end} resets the connection at {}", self.now);
            return Ok(());
        }
        if segment.flags.contains(Flags::SYN) {
            check!(!segment.flags.contains(Flags::ECT), "end {end} sends a SYN as ECN-capable");
            return Ok(());
        }
        let edge = self.right_edge(end, segment);
        // Rounding to 2^shift may move the edge back by less than that if the buffer is full (RFC 7323 section 2.4).
        let slack = match self.scene.configs[end].flow_control.application_read {
            ApplicationRead::Immediate => 0,
            ApplicationRead::OnDemand => (1 << if self.scaled { self.shift(end) } else { 0 }) - 1,
        };
        let other = &mut self.directions[1 - end];
        check!(edge + slack >= other.advertised, "end {end} takes its window back from {} to {edge}", other.advertised);
        other.advertised = other.advertised.max(edge);
        self.check_sack_blocks(end, segment)?;
        self.check_data_sent(end, segment)
    }

    /// SACK blocks name arrived data. Data already acknowledged, or named in the next block, may appear in the first
    /// block only (RFC 2018 section 4, RFC 2883 section 4).
    fn check_sack_blocks(&self, end: usize, segment: &Segment) -> Checked {
        let blocks: Vec<(u64, u64)> = segment
            .sack_blocks()
            .iter()
            .map(|block| (self.offset(1 - end, block.left), self.offset(1 - end, block.right)))
            .collect();
        let acked = self.offset(1 - end, segment.ack);
        for (index, &(left, right)) in blocks.iter().enumerate() {
            check!(left < right, "end {end} sends an empty SACK block {left}:{right}");
            check!(
                self.directions[1 - end].has_arrived(left, right),
                "end {end} SACKs {left}:{right}, which has not arrived"
            );
            let repeats =
                index == 0 && (left < acked || blocks.get(1).is_some_and(|next| covers(&[*next], (left, right))));
            check!(repeats || left > acked, "end {end} SACKs {left}:{right}, and acknowledges {acked}");
            let apart = blocks[..index].iter().enumerate().all(|(n, other)| {
                let duplicate = n == 0 && (other.0 < acked || covers(&[(left, right)], *other));
                duplicate || right < other.0 || left > other.1
            });
            check!(apart, "end {end} sends SACK blocks that overlap: {blocks:?}");
        }
        Ok(())
    }

    fn check_data_sent(&mut self, end: usize, segment: &Segment) -> Checked {
        let (start, len) = (self.offset(end, segment.seq), u64::from(segment.len));
        let tcp = &self.ends[end];
        check!(len <= u64::from(tcp.smss()), "end {end} sends {len} bytes, more than a full segment");
        check!(len == 0 || start + len <= self.directions[end].given, "end {end} sends what it was not given");
        let direction = &mut self.directions[end];
        // RFC 3168 sections 6.1.2 to 6.1.6: retransmissions, probes and bare acknowledgements are not ECN-capable.
        let may_be_marked = len > 0 && start >= direction.sent;
        let says_so = segment.flags.intersects(Flags::ECT | Flags::CWR);
        check!(may_be_marked || !says_so, "end {end} sends {start}+{len} as ECN-capable");
        let config = &self.scene.configs[end];
        let uses_sack = matches!(config.recovery.loss_recovery, LossRecovery::Sack | LossRecovery::Rack);
        if len > 0 {
            check!(
                start >= tcp.snd_una(),
                "end {end} sends {start}+{len} again, and {} is acknowledged",
                tcp.snd_una()
            );
            // ns-2's TCP/Linux erases SACK information at the end of recovery.
            let forgets = config.recovery.sack_detection != SackDetection::Rfc6675;
            check!(
                !uses_sack || forgets || !covers(&direction.sacked, (start, start + len)),
                "end {end} sends {start}+{len} again, which is SACKed"
            );
        }
        // The send buffer holds whole segments.
        let held = config
            .flow_control
            .send_buffer
            .map_or(u64::MAX, |buffer| buffer.as_u64().div_ceil(u64::from(tcp.smss())) * u64::from(tcp.smss()));
        check!(
            len == 0 || start + len <= tcp.snd_una().saturating_add(held),
            "end {end} has sent {start}+{len}, and {} is acknowledged, with a send buffer of {held}",
            tcp.snd_una()
        );
        if start + len > direction.sent && len > 0 {
            let probe = len == 1 && start == direction.edge.max(start);
            check!(
                start + len <= direction.edge || probe,
                "end {end} overruns the window: {start}+{len} beyond {}",
                direction.edge
            );
            // A FIN counts as one; rate halving reduces the window by a segment for each that it sends.
            let halves = uses_sack && config.recovery.window_reduction == WindowReduction::RateHalving;
            let most = tcp.cwnd() + 1 + if halves { u64::from(tcp.smss()) } else { 0 };
            // A tail loss probe ignores the window (RFC 8985 section 7.3).
            let tail_probe = tcp.counters().tail_probes > self.tail_probes[end];
            check!(
                tcp.flight() <= most || probe || tail_probe,
                "end {end} has {} in flight with a window of {}",
                tcp.flight(),
                tcp.cwnd()
            );
            direction.sent = start + len;
        }
        Ok(())
    }

    fn check_state(&mut self, end: usize) -> Checked {
        let (tcp, peer) = (&self.ends[end], &self.ends[1 - end]);
        let direction = &mut self.directions[end];
        check!(tcp.snd_una() >= direction.una, "SND.UNA of end {end} goes back");
        direction.una = tcp.snd_una();
        check!(tcp.snd_una() <= tcp.snd_nxt(), "SND.UNA of end {end} is beyond SND.NXT");
        check!(tcp.snd_una() <= peer.rcv_nxt(), "end {end} takes for acknowledged what its peer does not have");
        check!(tcp.cwnd() >= u64::from(tcp.smss()), "the window of end {end} is below a segment");

        let incoming = &mut self.directions[1 - end];
        check!(tcp.bytes_delivered() >= incoming.delivered, "end {end} delivers backwards");
        incoming.delivered = tcp.bytes_delivered();
        check!(
            tcp.bytes_delivered() + tcp.unread() <= incoming.prefix(),
            "end {end} delivers {} bytes, and {} have arrived without a gap",
            tcp.bytes_delivered() + tcp.unread(),
            incoming.prefix()
        );
        check!(
            tcp.unread() <= self.scene.configs[end].flow_control.receive_buffer.as_u64(),
            "end {end} holds {} bytes, more than its buffer",
            tcp.unread()
        );
        Ok(())
    }

    fn check_outcome(&self) -> Checked {
        for end in 0..2 {
            let (tcp, peer, bytes) = (&self.ends[end], &self.ends[1 - end], self.scene.bytes[end]);
            check!(tcp.all_acked() && tcp.bytes_acked() == bytes, "end {end}: {} acknowledged", tcp.bytes_acked());
            check!(tcp.state() == State::Closed, "end {end} is in {:?}", tcp.state());
            let got = peer.bytes_delivered() + peer.unread();
            check!(got == bytes, "{got} of {bytes} bytes arrived from end {end}");
            check!(peer.peer_has_closed(), "the FIN of end {end} is missing");
            let counters = tcp.counters();
            check!(
                counters.bytes_sent >= bytes + counters.retransmitted_bytes,
                "end {end} sent {} bytes, {} of them again, of {bytes}",
                counters.bytes_sent,
                counters.retransmitted_bytes
            );
        }
        Ok(())
    }
}
