//! A client that closes and opens its sender's window arbitrarily, over a path that loses packets. In every case all
//! data arrives, once and in order, and both ends close.

use netlull_tcp::{
    Algorithm, Config, Data, Endpoint, Flags, LossRecovery, Segment, SeqNr, ShrunkWindow, State, WindowUpdate,
};
use netlull_units::{Duration, Instant};
use proptest::collection::vec;
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Fate of an acknowledgement on its way to the sender.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Open,
    Closed,
    /// A window of two segments.
    Small,
    /// Twice, closed first, half a millisecond apart.
    ClosedThenOpen,
    OpenThenClosed,
    Lost,
}

/// Ends 0, which sends, and 1.
struct Path {
    now: Instant,
    ends: [Endpoint; 2],
    arrivals: BinaryHeap<Reverse<(Instant, usize, usize)>>,
    segments: Vec<Segment>,
    /// Fates to apply, the next one last; afterwards all is open and nothing is lost.
    shapes: Vec<Shape>,
    /// Losses of segments from end 0, the next one last.
    losses: Vec<bool>,
    sent: u64,
    delay: Duration,
}

impl Path {
    fn carry(&mut self, to: usize, late: Duration, segment: Segment) {
        self.arrivals.push(Reverse((self.now + self.delay + late, self.segments.len(), to)));
        self.segments.push(segment);
    }

    fn shape(&mut self, segment: Segment) {
        let now = Duration::ZERO;
        let later = Duration::from_micros(500);
        let closed = Segment { window: 0, ..segment };
        match self.shapes.pop().unwrap_or(Shape::Open) {
            Shape::Lost => {}
            _ if segment.flags.contains(Flags::SYN) => self.carry(0, now, segment),
            Shape::Open => self.carry(0, now, segment),
            Shape::Closed => self.carry(0, now, closed),
            Shape::Small => {
                let shift = self.ends[1].window_shift();
                let window = u16::try_from(2920_u32 >> shift).unwrap_or(0).min(segment.window);
                self.carry(0, now, Segment { window, ..segment });
            }
            Shape::ClosedThenOpen => {
                self.carry(0, now, closed);
                self.carry(0, later, segment);
            }
            Shape::OpenThenClosed => {
                self.carry(0, now, segment);
                self.carry(0, later, closed);
            }
        }
    }

    fn settle(&mut self) -> Result<(), String> {
        for end in 0..2 {
            let mut burst = 0;
            while let Some(segment) = self.ends[end].poll_transmit(self.now) {
                burst += 1;
                if burst > 10_000 {
                    return Err(format!("end {end} never falls silent"));
                }
                if end == 1 {
                    self.shape(segment);
                    continue;
                }
                self.check_sent(&segment)?;
                if !self.losses.pop().unwrap_or(false) {
                    self.carry(1, Duration::ZERO, segment);
                }
            }
        }
        if self.ends[1].peer_has_closed() {
            self.ends[1].close();
        }
        match self.ends[1].poll_transmit(self.now) {
            Some(segment) => {
                self.shape(segment);
                self.settle()
            }
            None => Ok(()),
        }
    }

    /// New data goes into an open window, except for a probe of one byte.
    fn check_sent(&mut self, segment: &Segment) -> Result<(), String> {
        if segment.len == 0 {
            return Ok(());
        }
        let tcp = &self.ends[0];
        let end = tcp.offset_of(segment) + u64::from(segment.len);
        if end > self.sent {
            if end > tcp.send_window_edge() && segment.len > 1 {
                return Err(format!("sends up to {end} into a window up to {}", tcp.send_window_edge()));
            }
            self.sent = end;
        }
        Ok(())
    }

    fn run(&mut self, bytes: u64) -> Result<(), String> {
        self.ends[0].open(self.now);
        self.ends[0].send(Data::Bytes(bytes));
        self.ends[0].close();
        self.settle()?;
        for _ in 0..100_000 {
            if self.ends[1].is_closed() && matches!(self.ends[0].state(), State::TimeWait | State::Closed) {
                return match self.ends[1].bytes_delivered() {
                    delivered if delivered == bytes => Ok(()),
                    delivered => Err(format!("{delivered} of {bytes} bytes arrived")),
                };
            }
            let arrival = self.arrivals.peek().map_or(Instant::NEVER, |Reverse(next)| next.0);
            let timeouts = self.ends.each_ref().map(Endpoint::next_timeout);
            self.now = arrival.min(timeouts[0]).min(timeouts[1]);
            if self.now == Instant::NEVER {
                return Err(format!("stalled: {:?}", self.ends.each_ref().map(Endpoint::state)));
            }
            if self.now == arrival {
                let Some(Reverse((_, index, to))) = self.arrivals.pop() else { continue };
                self.ends[to].handle_segment(self.now, &self.segments[index]);
            } else {
                let end = usize::from(timeouts[0] != self.now);
                self.ends[end].handle_timeout(self.now);
            }
            self.settle()?;
        }
        Err(format!("no end in sight at {}, {} acknowledged", self.now, self.ends[0].snd_una()))
    }
}

fn senders() -> Vec<Config> {
    let with = |algorithm| Config::default().with_algorithm(algorithm);
    let bsd = |loss_recovery| {
        Config::default().with(|c| {
            c.recovery.loss_recovery = loss_recovery;
            c.flow_control.shrunk_window = ShrunkWindow::PullBack;
        })
    };
    vec![
        Config::default(),
        Config::freebsd_4_5(),
        bsd(LossRecovery::NewReno),
        bsd(LossRecovery::Reno),
        bsd(LossRecovery::Tahoe).with(|c| c.flow_control.window_update = WindowUpdate::Larger),
        with(Algorithm::Cubic).with(|c| c.recovery.loss_recovery = LossRecovery::Sack),
        with(Algorithm::Cubic),
        with(Algorithm::Bbr),
        with(Algorithm::Bbr).with(|c| {
            c.flow_control.shrunk_window = ShrunkWindow::PullBack;
            c.recovery.loss_recovery = LossRecovery::NewReno;
        }),
        with(Algorithm::Reno2622),
        with(Algorithm::Vegas),
        Config::ns2(),
        Config::linux_6(),
    ]
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        4 => Just(Shape::Open),
        8 => Just(Shape::Closed),
        1 => Just(Shape::Small),
        2 => Just(Shape::ClosedThenOpen),
        2 => Just(Shape::OpenThenClosed),
        2 => Just(Shape::Lost),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_download_completes_whatever_the_client_advertises(
        sender in 0..senders().len(),
        window_update in prop_oneof![
            Just(WindowUpdate::Any),
            Just(WindowUpdate::Larger),
            Just(WindowUpdate::LargerOrZero),
        ],
        timestamps in any::<bool>(),
        bytes in 1_u64..200_000,
        shapes in vec(shape(), 0..300),
        losses in vec(prop::bool::weighted(0.1), 0..300),
        delay_ms in 1_u64..100,
    ) {
        let time_wait = Duration::from_secs(100_000);
        let own = senders()[sender].clone();
        let config = own.with(|c| {
            c.timestamps = timestamps;
            c.flow_control.window_update = window_update;
            c.time_wait = time_wait;
        });
        prop_assert_eq!(config.validate(), Ok(()));
        let mut path = Path {
            now: Instant::ZERO,
            ends: [Endpoint::client(&config, SeqNr::new(u32::MAX - 5000)), Endpoint::server(&config, SeqNr::new(9))],
            arrivals: BinaryHeap::new(),
            segments: Vec::new(),
            shapes,
            losses,
            sent: 0,
            delay: Duration::from_millis(delay_ms),
        };
        if let Err(why) = path.run(bytes) {
            prop_assert!(false, "{:?}: {}", config.congestion_control, why);
        }
    }
}
