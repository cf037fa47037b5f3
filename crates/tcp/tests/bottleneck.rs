//! A flow over a bottleneck with a finite buffer and marks above a threshold: the effects of HyStart++ and ECN.

use netlull_tcp::{Algorithm, Config, Data, DelayedAck, Ecn, Endpoint, Flags, LossRecovery, Segment, SeqNr};
use netlull_units::{Bytes, Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// 10 Mb/s: a packet of 1500 bytes takes 1.2 ms.
const PACKET: Duration = Duration::from_micros(1200);
/// Each way: the bandwidth-delay product is 40 ms / 1.2 ms = 33.3 packets.
const DELAY: Duration = Duration::from_millis(20);

/// A server that sends an endless stream to a client, over a queue.
pub struct Path {
    ends: [Endpoint; 2],
    now: Instant,
    /// The time at which the bottleneck is idle.
    free_at: Instant,
    /// Limits in packets: for drops, and for marks.
    buffer: u64,
    threshold: u64,
    /// (time, number, destination).
    arrivals: BinaryHeap<Reverse<(Instant, usize, usize)>>,
    segments: Vec<Segment>,
    pub drops: u64,
    /// The queues that packets met since the last read.
    queues: Vec<u64>,
}

impl Path {
    pub fn new(config: &Config, buffer: u64, threshold: u64) -> Self {
        let ends = [Endpoint::client(config, SeqNr::new(0)), Endpoint::server(config, SeqNr::new(0))];
        let mut path = Self {
            ends,
            now: Instant::ZERO,
            free_at: Instant::ZERO,
            buffer,
            threshold,
            arrivals: BinaryHeap::new(),
            segments: Vec::new(),
            drops: 0,
            queues: Vec::new(),
        };
        path.ends[0].open(path.now);
        path.ends[0].send(Data::Endless);
        path.drain(0);
        path
    }

    pub fn until(&mut self, millis: u64) {
        let end = Instant::ZERO + Duration::from_millis(millis);
        loop {
            let arrival = self.arrivals.peek().map_or(Instant::NEVER, |Reverse(next)| next.0);
            let timeouts = self.ends.each_ref().map(Endpoint::next_timeout);
            let next = arrival.min(timeouts[0]).min(timeouts[1]);
            if next > end {
                self.now = end;
                return;
            }
            self.now = next;
            if next == arrival {
                let Some(Reverse((_, number, to))) = self.arrivals.pop() else { return };
                let segment = self.segments[number];
                self.ends[to].handle_segment(next, &segment);
                self.drain(to);
            } else {
                let to = usize::from(next == timeouts[1]);
                self.ends[to].handle_timeout(next);
                self.drain(to);
            }
        }
    }

    fn drain(&mut self, from: usize) {
        while let Some(mut segment) = self.ends[from].poll_transmit(self.now) {
            let mut at = self.now;
            if segment.len > 0 {
                let waiting = self.free_at.saturating_since(self.now).as_nanos().div_ceil(PACKET.as_nanos());
                self.queues.push(waiting);
                if waiting >= self.buffer {
                    self.drops += 1;
                    continue;
                }
                if waiting >= self.threshold && segment.flags.contains(Flags::ECT) {
                    segment.flags = segment.flags | Flags::CE;
                }
                self.free_at = self.free_at.max(self.now) + PACKET;
                at = self.free_at;
            }
            self.arrivals.push(Reverse((at + DELAY, self.segments.len(), 1 - from)));
            self.segments.push(segment);
        }
    }

    /// Packets delivered in the `millis` that follow, and the smallest and the largest queue met.
    pub fn measure(&mut self, millis: u64) -> (u64, u64, u64) {
        let before = self.ends[1].bytes_delivered();
        self.queues.clear();
        self.until(self.now.as_nanos() / 1_000_000 + millis);
        let least = self.queues.iter().copied().min().unwrap_or(0);
        let most = self.queues.iter().copied().max().unwrap_or(0);
        ((self.ends[1].bytes_delivered() - before) / 1460, least, most)
    }
}

/// Segments of 1460 bytes, no options, each acknowledged.
pub fn config(algorithm: Algorithm) -> Config {
    let base = Config::default().with(|c| {
        c.timestamps = false;
        c.acks.delayed_ack = DelayedAck::Off;
        c.flow_control.receive_buffer = Bytes::new(1 << 20);
    });
    base.with_algorithm(algorithm).with(|c| c.recovery.loss_recovery = LossRecovery::Sack)
}

#[test]
fn hystart_ends_slow_start_without_a_loss() {
    // 250 packets of buffer: 283 fit. Slow start doubles the window each round trip, 10, 20, ..., 160, and 320
    // overflows. With HyStart++, the first eight acknowledgements of a round of about 80 are 5 ms later (an eighth of
    // 40), which ends slow start. Five rounds of 1.25 make that at most 3.05 times as much: 244.
    for (hystart, overflows) in [(true, false), (false, true)] {
        let mut path = Path::new(&config(Algorithm::Cubic).with(|c| c.cwnd.hystart = hystart), 250, u64::MAX);
        path.until(2000);
        assert_eq!(path.drops > 0, overflows, "{hystart}: {}", path.drops);
        // Slow start has ended in both.
        assert!(path.ends[0].ssthresh() < 283 * 1460, "{}", path.ends[0].ssthresh());
    }
}

#[test]
fn dctcp_keeps_the_queue_below_the_threshold_and_the_link_busy() {
    // Marks from K = 10 packets on. Alizadeh et al. 2010, section 3.3, one flow: the window reaches W = C RTT + K =
    // 43.3, and swings by half of sqrt(2 W), 4.7 packets. Between 5 and 10 or 11 packets are queued, and the link is
    // never idle: 10 s of 1.2 ms.
    let mut path = Path::new(&config(Algorithm::Dctcp), 100, 10);
    path.until(5000);
    let (delivered, least, most) = path.measure(10_000);
    assert!((8332..=8334).contains(&delivered), "{delivered}");
    assert!((4..=7).contains(&least) && (10..=11).contains(&most), "{least} {most}");
    assert_eq!(path.drops, 0);
}

#[test]
fn marks_halve_the_window_of_reno_and_take_three_tenths_of_cubics() {
    // From W = 43.3 Reno falls to 21.7 and grows by one each round trip. Up to 33.3 (12 round trips of 40 ms) the
    // link sends 27.5 of 33.3 packets, then (10 round trips of 46 ms on average) its full rate. It is idle for 84 of
    // 940 ms, and slightly longer because echoes stop growth for a round trip: about 0.9. CUBIC falls to 30.3, 0.91
    // of the window that fills the link, and begins to grow at once: its average is above that.
    let [reno, cubic] = [Algorithm::NewReno, Algorithm::Cubic].map(|algorithm| {
        let mut path = Path::new(&Config { ecn: Ecn::Classic, ..config(algorithm) }, 100, 10);
        path.until(5000);
        let (delivered, least, most) = path.measure(10_000);
        assert_eq!((path.drops, path.ends[0].counters().retransmitted_segments), (0, 0));
        assert!(least == 0 && most <= 11, "{least} {most}");
        // Of 8333.
        delivered
    });
    assert!((7170..=7670).contains(&reno), "{reno}");
    assert!((7670..=8330).contains(&cubic), "{cubic}");
}
