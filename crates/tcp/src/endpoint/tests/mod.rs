//! Packet scripts: time, segment in, segment out.
//!
//! A [`Script`] is one endpoint and the log of its segments. Offsets in segments are stream offsets: the first byte
//! is 0 for any initial sequence numbers. `"5 ms 2000+1000"` is 1000 bytes from offset 2000 at 5 ms, `"5 ms ack
//! 3000"` a pure acknowledgement.

mod closed_window;
mod closing;
mod ecn;
mod fast;
mod handshake;
mod loss;
mod options;
#[path = "../../../tests/support/plain.rs"]
mod plain;
mod receiving;
mod selective;
mod sending;
mod template;
mod timer;

use crate::{Config, Data, DelayedAck, Endpoint, Flags, HandshakeRtt, InitialWindow, Segment, SeqNr, State};
use netlull_units::{Duration, Instant};
use plain::plain;

const ISS: SeqNr = SeqNr::new(100);
const IRS: SeqNr = SeqNr::new(700);

fn at_ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// `count` full segments of 1000 bytes from segment `first`, all at `ms`.
fn full_segments(ms: u64, first: u64, count: u64) -> Vec<String> {
    (first..first + count).map(|n| format!("{ms} ms {}+1000", n * 1000)).collect()
}

struct Script {
    tcp: Endpoint,
    iss: SeqNr,
    irs: SeqNr,
    now: Instant,
    /// The window field that the peer advertises.
    window: u16,
    log: Vec<String>,
    last: Segment,
}

impl Script {
    fn new(tcp: Endpoint) -> Self {
        let last = Segment::default();
        Self { tcp, iss: ISS, irs: IRS, now: Instant::ZERO, window: u16::MAX, log: Vec::new(), last }
    }

    fn client(config: &Config) -> Self {
        assert_eq!(config.validate(), Ok(()));
        Self::new(Endpoint::client(config, ISS))
    }

    fn server(config: &Config) -> Self {
        Self::new(Endpoint::server(config, ISS))
    }

    /// A client after a handshake of no duration, with an empty log.
    fn connected(config: &Config) -> Self {
        Self::connected_with(config, ISS, IRS)
    }

    fn connected_with(config: &Config, iss: SeqNr, irs: SeqNr) -> Self {
        let mut script = Self::new(Endpoint::client(config, iss));
        (script.iss, script.irs) = (iss, irs);
        script.open();
        let syn = script.last;
        let flags = syn.flags | Flags::ACK;
        let answer = Segment { seq: irs, ack: iss.advanced_by(1), flags, ts_val: 0, ts_ecr: syn.ts_val, ..syn };
        script.takes(0, &Segment { window: u16::MAX, window_scale: 0, ..answer });
        assert_eq!(script.tcp.state(), State::Established);
        script.log.clear();
        script
    }

    fn open(&mut self) {
        self.tcp.open(self.now);
        self.drain();
    }

    fn send(&mut self, bytes: u64) {
        self.tcp.send(Data::Bytes(bytes));
        self.drain();
    }

    fn send_endless(&mut self) {
        self.tcp.send(Data::Endless);
        self.drain();
    }

    fn close(&mut self) {
        self.tcp.close();
        self.drain();
    }

    fn read(&mut self, max: u64) -> u64 {
        let taken = self.tcp.read(max);
        self.drain();
        taken
    }

    /// Advances the time and expires timers on the way.
    fn until(&mut self, ms: u64) {
        while self.tcp.next_timeout() <= at_ms(ms) {
            self.now = self.tcp.next_timeout();
            self.tcp.handle_timeout(self.now);
            self.drain();
        }
        self.now = at_ms(ms);
    }

    fn takes(&mut self, ms: u64, segment: &Segment) {
        self.until(ms);
        self.tcp.handle_segment(self.now, segment);
        self.drain();
    }

    /// Receives an acknowledgement of everything before `offset`.
    fn ack(&mut self, ms: u64, offset: u64) {
        let ack = self.peer_segment(0, offset);
        self.takes(ms, &ack);
    }

    /// Receives the same acknowledgement `count` times.
    fn acks(&mut self, ms: u64, offset: u64, count: usize) {
        for _ in 0..count {
            self.ack(ms, offset);
        }
    }

    /// Receives `len` bytes from `offset` of the peer's stream.
    fn data(&mut self, ms: u64, offset: u64, len: u16) {
        let data = Segment { len, ..self.peer_segment(offset, self.tcp.snd_una()) };
        self.takes(ms, &data);
    }

    /// Receives `len` bytes from `offset` of the peer's stream, and a FIN.
    fn fin(&mut self, ms: u64, offset: u64, len: u16) {
        let fin = Segment { len, flags: Flags::ACK | Flags::FIN, ..self.peer_segment(offset, self.tcp.snd_una()) };
        self.takes(ms, &fin);
    }

    fn peer_segment(&self, seq: u64, ack: u64) -> Segment {
        Segment {
            seq: self.irs.advanced_by(1 + seq),
            ack: self.iss.advanced_by(1 + ack),
            window: self.window,
            flags: Flags::ACK,
            ..Segment::default()
        }
    }

    fn drain(&mut self) {
        while let Some(segment) = self.tcp.poll_transmit(self.now) {
            let line = format!("{} ms {}", self.now.as_nanos() / 1_000_000, self.describe(&segment));
            self.log.push(line);
            self.last = segment;
        }
    }

    fn describe(&self, segment: &Segment) -> String {
        let has = |flag| segment.flags.contains(flag);
        let offset = segment.seq.distance_from(self.iss.advanced_by(1));
        let what = match segment.len {
            _ if has(Flags::RST) => "RST".to_owned(),
            _ if has(Flags::SYN | Flags::ACK) => "SYN+ACK".to_owned(),
            _ if has(Flags::SYN) => "SYN".to_owned(),
            len if has(Flags::FIN) => format!("{offset}+{len} FIN"),
            0 => format!("ack {}", segment.ack.distance_from(self.irs.advanced_by(1))),
            len => format!("{offset}+{len}"),
        };
        let congestion = [(Flags::ECT, " ECT"), (Flags::ECE, " ECE"), (Flags::CWR, " CWR")];
        congestion.into_iter().filter(|&(flag, _)| has(flag)).fold(what, |line, (_, name)| line + name)
    }

    /// The segments sent since the last call.
    fn sent(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }
}
