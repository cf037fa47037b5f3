use super::*;
use crate::link::{Controller as _, Parameters as _};
use crate::view::Timestamps;

const MTU: u64 = 1500;

fn mbps(rate: u64) -> BitRate {
    BitRate::from_mbps(rate)
}

/// 1 to 10 Mb/s, delta = 2 ms.
fn config() -> LullConfig {
    LullConfig::new(RateSet::from_range(mbps(1), mbps(10), mbps(1)).unwrap(), Duration::from_millis(2))
}

/// A link of 10 Mb/s with a buffer for 50 ms.
fn link() -> link::Context {
    link::Context { buffer: Some(Bytes::new(62_500)), ..link::Context::new(mbps(10), Bytes::new(MTU)) }
}

/// A link that serves packets at the rates that Lull requests. A packet in service finishes at its old rate.
struct Bench {
    lull: Box<Lull>,
    now: Instant,
    waiting: std::collections::VecDeque<u64>,
    serving: Option<(u64, Instant)>,
    free_at: Instant,
    changes: Vec<(f64, u64)>,
    departures: Vec<f64>,
}

impl Bench {
    fn new(config: &LullConfig) -> Self {
        Self::on(config, link())
    }

    fn on(config: &LullConfig, link: link::Context) -> Self {
        let lull = config.build(link, Instant::ZERO).unwrap();
        let (waiting, changes, departures) = Default::default();
        Self { lull, now: Instant::ZERO, waiting, serving: None, free_at: Instant::ZERO, changes, departures }
    }

    fn view(&self) -> QueueView {
        let in_service = self.serving.map_or(0, |(size, _)| size);
        QueueView { waiting: Bytes::new(self.waiting.iter().sum()), in_service: Bytes::new(in_service) }
    }

    fn tell(&mut self, event: LinkEvent) {
        self.lull.handle(self.now, event);
        while let Some(LinkAction::SetRate { rate, pause }) = self.lull.poll_action() {
            self.changes.push((self.now.as_secs_f64(), rate.as_bps() / 1_000_000));
            let from = self.serving.map_or(self.now, |(_, ends)| ends).max(self.free_at);
            self.free_at = from + pause;
        }
    }

    fn begin(&mut self) {
        if self.serving.is_none()
            && self.free_at <= self.now
            && let Some(size) = self.waiting.pop_front()
        {
            let ends = self.now + self.lull.rate().time_for(Bytes::new(size));
            self.serving = Some((size, ends));
        }
    }

    /// Runs the link to a time in milliseconds.
    fn run_to(&mut self, millis: f64) {
        let end = Instant::ZERO + Duration::from_secs_f64(millis / 1e3).unwrap();
        loop {
            let departs = self.serving.map(|(_, ends)| ends);
            let begins = (self.serving.is_none() && !self.waiting.is_empty()).then_some(self.free_at);
            let due = [departs, begins, self.lull.next_timeout()].into_iter().flatten().min().filter(|&at| at <= end);
            let Some(due) = due else { break };
            self.now = self.now.max(due);
            if departs == Some(due) {
                self.serving = None;
                self.departures.push(self.now.as_secs_f64());
                self.begin();
                self.tell(LinkEvent::Departure { queue: self.view() });
            } else if begins == Some(due) {
                self.begin();
            } else {
                self.tell(LinkEvent::Timeout { queue: self.view() });
            }
        }
        self.now = end;
    }

    fn packet(&mut self, size: u64, segment: Option<SegmentView>) {
        self.waiting.push_back(size);
        self.begin();
        let (queue, size) = (self.view(), Bytes::new(size));
        self.tell(LinkEvent::Arrival { size, admission: Admission::Accepted, queue, segment });
    }

    /// Sends `count` data packets of a connection at once.
    fn burst(&mut self, millis: f64, count: u64) {
        self.run_to(millis);
        (0..count).for_each(|_| self.packet(MTU, Some(data(7))));
    }
}

fn segment(flow: u64, kind: SegmentKind, data: bool, fin: bool) -> SegmentView {
    let timestamps: Option<Timestamps> = None;
    SegmentView { flow, kind, end: 1, acknowledged: 1, data, fin, timestamps }
}

use crate::view::SegmentKind;

fn data(flow: u64) -> SegmentView {
    segment(flow, SegmentKind::Other, true, false)
}

#[test]
fn an_idle_link_falls_to_its_lowest_rate_and_is_quiet() {
    let mut bench = Bench::new(&config());
    bench.burst(0.0, 1);
    bench.run_to(1000.0);
    assert_eq!(bench.lull.rate(), mbps(1));
    assert_eq!(bench.lull.next_timeout(), None);
}

#[test]
fn datagrams_that_would_be_late_bring_the_highest_rate_at_once() {
    // x = 7 delta = 14 ms. At 1 Mb/s the second packet of 1500 B would leave at 24 ms instead of 2.4: too late.
    let mut bench = Bench::new(&config());
    bench.run_to(1000.0);
    assert_eq!(bench.lull.rate(), mbps(1));
    bench.packet(MTU, None);
    assert_eq!(bench.lull.rate(), mbps(1), "12 ms instead of 1.2 are allowed");
    // The queue of 1 Mb/s drains at 0.9 Mb/s; that of 2 Mb/s would be late by 24/1.8 - 2.4 = 10.9 ms only.
    bench.packet(MTU, None);
    assert_eq!(bench.lull.rate(), mbps(10), "straight to the top");
    // Without a known round trip the violated rate is forbidden for H = 30 delta = 60 ms. 2 Mb/s were not violated.
    bench.run_to(1059.0);
    assert_eq!(bench.lull.rate(), mbps(2));
    bench.run_to(1064.0);
    assert_eq!(bench.lull.rate(), mbps(1));
}

/// A connection that sends four packets per round, each 50 ms after the first packet of the last round has left. The
/// time of the next round in milliseconds comes with the bench.
fn rounds(count: u64) -> (Bench, f64) {
    let mut bench = Bench::new(&config());
    bench.run_to(1000.0);
    bench.packet(40, Some(segment(7, SegmentKind::Syn, false, false)));
    let mut next = 1050.4;
    for _ in 0..count {
        bench.burst(next, 4);
        let sent = bench.departures.len();
        bench.run_to(next + 45.0);
        next = bench.departures[sent] * 1e3 + 50.0;
    }
    (bench, next)
}

#[test]
fn the_link_is_ready_when_the_next_round_arrives_and_rests_before() {
    // The first round is a surprise, so lower rates are forbidden for a while. The later rounds are forecast. Four
    // packets leave within 4.8 ms at 10 Mb/s.
    let (mut bench, next) = rounds(5);
    bench.run_to(next - 10.0);
    assert_eq!(bench.lull.rate(), mbps(1));
    // Slow start doubles the burst. Late by s RTT/4 = 0.6 ms at most: no rate below the highest will do.
    bench.run_to(next - 0.1);
    assert_eq!(bench.lull.rate(), mbps(10));
    let (before, sent) = (bench.changes.len(), bench.departures.len());
    bench.burst(next, 4);
    bench.run_to(next + 4.9);
    assert_eq!(bench.changes.len(), before);
    let last = bench.departures[sent + 3] * 1e3;
    assert!((last - next - 4.8).abs() < 0.01, "no packet is late: the last leaves after {} ms", last - next);
}

#[test]
fn an_overdue_round_is_waited_for() {
    // A quarter of 50 ms, more than the slack of 4 ms.
    let (mut bench, next) = rounds(5);
    bench.run_to(next + 12.0);
    assert_eq!(bench.lull.rate(), mbps(10));
    bench.run_to(next + 13.0);
    assert_eq!(bench.lull.rate(), mbps(1), "it stays away");
    let (mut bench, next) = rounds(5);
    let before = bench.changes.len() + 1;
    bench.burst(next + 12.0, 4);
    assert_eq!((bench.changes.len(), bench.lull.doubt), (before, 0), "up before the expected time, and no surprise");
}

#[test]
fn a_burst_that_comes_slowly_keeps_its_rate() {
    // Ten packets each 1.3 ms leave the link empty between two. The last comes long after the slack of 4 ms.
    let (mut bench, next) = rounds(5);
    bench.burst(next, 1);
    let before = bench.changes.len();
    for n in 1..10_u32 {
        bench.burst(next + 1.3 * f64::from(n), 1);
    }
    assert_eq!((bench.changes.len(), bench.lull.rate()), (before, mbps(10)));
}

#[test]
fn surprises_lengthen_the_hold_and_a_correct_forecast_ends_it() {
    let (mut bench, _) = rounds(1);
    assert_eq!(bench.lull.doubt, 1, "the first round is a surprise");
    let mut holds = Vec::new();
    for second in 2..6_u32 {
        let at = 1e3 * f64::from(second);
        bench.run_to(at - 1.0);
        bench.changes.clear();
        bench.burst(at, 4);
        bench.run_to(at + 998.0);
        let times: Vec<f64> = bench.changes.iter().map(|change| (1e3 * change.0).round() - at).collect();
        assert_eq!((times.len(), times[0]), (2, 0.0));
        holds.push(times[1]);
    }
    // H = 30 delta = 60 ms, doubled with each surprise after the first.
    assert_eq!(holds, [120.0, 240.0, 480.0, 960.0]);
    let (bench, _) = rounds(2);
    assert_eq!(bench.lull.doubt, 0, "the second round is forecast");
}

#[test]
fn only_an_avoidable_surprise_raises_the_doubt_and_only_a_forecast_lowers_it() {
    let doubt_after = |suspends: bool, waiting: u64, (is_late, is_due): (bool, bool), bound: f64| {
        let mut bench = Bench::on(&config(), link::Context { suspends, ..link() });
        bench.run_to(1000.0);
        bench.lull.doubt = 3;
        bench.lull.queue.waiting = Bytes::new(waiting);
        bench.lull.learn(is_late, is_due, bound);
        bench.lull.doubt
    };
    // At 1 Mb/s a packet of 12 ms and a pause of 2 ms are later than 13.9 ms in any case, but not than 14.1 ms.
    let surprise = (true, false);
    assert_eq!([0.0139, 0.0141].map(|bound| doubt_after(false, MTU, surprise, bound)), [4, 3]);
    // A packet that stops for the pause costs the pause alone.
    assert_eq!([0.0019, 0.0021].map(|bound| doubt_after(true, MTU, surprise, bound)), [4, 3]);
    assert_eq!(doubt_after(false, MTU, (true, true), 0.001), 3, "late, but forecast");
    assert_eq!(doubt_after(false, 0, (false, true), 0.001), 2, "in time thanks to the forecast");
    assert_eq!(doubt_after(false, MTU, (false, true), 0.001), 3, "not the first of its burst");
    assert_eq!(doubt_after(false, 0, (false, false), 0.001), 3, "in time without a forecast");
}

#[test]
fn late_datagrams_are_no_surprises() {
    // A packet at 1 Mb/s and a pause take 14 ms, longer than the bound.
    let mut bench = Bench::new(&LullConfig { lateness: Some(Duration::from_millis(10)), ..config() });
    for second in 1..4_u32 {
        bench.run_to(1e3 * f64::from(second));
        (0..4).for_each(|_| bench.packet(MTU, None));
        assert_eq!((bench.lull.rate(), bench.lull.doubt), (mbps(10), 0));
    }
}

#[test]
fn packets_without_data_judge_the_rates_until_their_connection_is_forecast() {
    let unlimited = link::Context::new(mbps(10), Bytes::new(MTU));
    let bare = segment(7, SegmentKind::Other, false, false);
    // Four packets of 1500 B would be later than 14 ms at 1 and 2 Mb/s. Forbidden for 60 ms.
    let mut bench = Bench::on(&config(), unlimited);
    bench.run_to(1000.0);
    (0..4).for_each(|_| bench.packet(MTU, Some(bare)));
    bench.run_to(1050.0);
    assert_eq!(bench.lull.rate(), mbps(3));
    // With a known round trip only the lateness of the packet itself counts: that of the second, at 1 Mb/s.
    let (mut bench, _) = rounds(1);
    bench.run_to(2000.0);
    bench.changes.clear();
    (0..4).for_each(|_| bench.packet(MTU, Some(bare)));
    bench.run_to(2030.0);
    assert_eq!(bench.changes.iter().map(|change| change.1).collect::<Vec<_>>(), [10, 2]);
}

#[test]
fn the_bounds_follow_from_the_round_trip_and_the_burst() {
    let bounds_of = |bench: &Bench, round_trip: Option<f64>| {
        let Bounds { now, echo } = bench.lull.bounds(round_trip);
        [now, echo].map(|seconds| (1e9 * seconds).round() / 1e6)
    };
    // x = 14 ms and s = 5 %: 2 s RTT now, and s RTT/4 for the echo of a burst, up to x/2.
    let (mut bench, _) = rounds(1);
    assert_eq!(bounds_of(&bench, Some(0.05)), [5.0, 0.625]);
    assert_eq!(bounds_of(&bench, Some(0.5)), [14.0, 6.25]);
    assert_eq!(bounds_of(&bench, Some(1.0)), [14.0, 7.0]);
    assert_eq!(bounds_of(&bench, None), [14.0, 14.0]);
    bench.burst(2000.0, 2);
    assert_eq!(bounds_of(&bench, Some(0.05)), [5.0, 5.0], "two packets are no burst");
    // 16 rounds without lateness in a period: the bounds grow by a quarter, up to x.
    (0..16).for_each(|_| bench.lull.budget.pay(0.0, 0.0));
    assert!(bench.lull.budget.is_over(3.001));
    assert_eq!(bounds_of(&bench, Some(0.05)), [5.625, 5.625]);
    assert_eq!(bounds_of(&bench, Some(1.0)), [14.0, 14.0]);
}

#[test]
fn forecasts_that_leave_no_lulls_are_not_used() {
    let (mut bench, next) = rounds(5);
    bench.run_to(next - 0.1);
    assert_eq!(bench.lull.rate(), mbps(10), "a round is forecast");
    bench.run_to(next + 1000.0);
    // A need each 6 ms: 2.5 ms before and 4 ms after it, the link is ready.
    (1..350).for_each(|number| {
        bench.lull.echoes.mark((next + 6.0 * f64::from(number)) / 1e3, 9, 0);
    });
    bench.burst(next + 1500.0, 1);
    assert!(bench.lull.echoes.leave_no_lulls());
    bench.run_to(next + 1600.0);
    assert_eq!(bench.lull.rate(), mbps(1), "the needs are not heeded");
    // A violation is held for H = 60 ms, although its echo is forecast.
    bench.burst(next + 1601.0, 4);
    let rates = [10.0, 55.0, 75.0].map(|after| {
        bench.run_to(next + 1601.0 + after);
        bench.lull.rate()
    });
    assert_eq!(rates, [mbps(10), mbps(10), mbps(1)]);
    // For a second there were no needs.
    bench.burst(next + 3600.0, 1);
    assert!(!bench.lull.echoes.leave_no_lulls());
}

#[test]
fn a_dropped_packet_raises_the_rate() {
    let mut bench = Bench::new(&config());
    bench.run_to(1000.0);
    let (size, admission) = (Bytes::new(40), Admission::Dropped);
    bench.tell(LinkEvent::Arrival { size, admission, queue: QueueView::EMPTY, segment: None });
    assert_eq!(bench.lull.rate(), mbps(10));
}

#[test]
fn a_drop_or_a_mark_that_a_link_at_the_top_would_not_have_had_tightens_the_bounds() {
    let size = Bytes::new(MTU);
    let arrival = |admission| move |queue| LinkEvent::Arrival { size, admission, queue, segment: None };
    let after = |rests: bool, at: f64, event: &dyn Fn(QueueView) -> LinkEvent| {
        let mut bench = Bench::new(&config());
        if rests {
            bench.run_to(1000.0);
        }
        (0..42).for_each(|_| bench.packet(MTU, None));
        bench.run_to(at);
        (0..16).for_each(|_| bench.lull.budget.pay(0.0, 0.0));
        assert!(bench.lull.budget.is_over(1010.0));
        bench.tell(event(bench.view()));
        bench.lull.budget.scale()
    };
    // At rest the first packet leaves 12 ms after its arrival. A link at the top sends a packet in 1.2 ms.
    let times = [(false, 10.0), (true, 1001.1), (true, 1001.3)];
    let after_each = |event: &dyn Fn(QueueView) -> LinkEvent| times.map(|(rests, at)| after(rests, at, event));
    assert_eq!(after_each(&arrival(Admission::Dropped)), [1.25, 1.25, 1.0]);
    // An accepted packet is in the queue.
    let with = |queue: QueueView| QueueView { waiting: queue.waiting + size, ..queue };
    let [accepted, marked] = [Admission::Accepted, Admission::Marked].map(arrival);
    assert_eq!(after_each(&|queue| marked(with(queue))), [1.25, 1.25, 1.0]);
    assert_eq!(after_each(&|queue| accepted(with(queue))), [1.25; 3]);
}

#[test]
fn the_initial_window_of_a_new_connection_is_late_by_half_of_the_longest_lateness_at_most() {
    let mut bench = Bench::new(&config());
    bench.run_to(1000.0);
    bench.packet(40, Some(segment(7, SegmentKind::Syn, false, false)));
    bench.burst(2000.0, 1);
    bench.run_to(5000.0);
    bench.packet(40, Some(segment(8, SegmentKind::Syn, false, false)));
    bench.run_to(5900.0);
    assert_eq!(bench.lull.rate(), mbps(1));
    // A round trip of 1 s: s RTT/4 is 12.5 ms, and x/2 = 7 ms. Ten packets take 12 ms at 10 Mb/s, 16.7 ms at 0.9 x 8 Mb/s
    // and 19.05 ms at 0.9 x 7 Mb/s.
    bench.run_to(5999.0);
    assert_eq!(bench.lull.rate(), mbps(8));
}

#[test]
fn after_the_end_of_a_stream_no_round_is_expected() {
    let changes_after = |fin: bool| {
        let (mut bench, next) = rounds(5);
        bench.burst(next, 4);
        bench.packet(MTU, Some(segment(7, SegmentKind::Other, true, fin)));
        bench.run_to(next + 35.0);
        let before = bench.changes.len();
        bench.run_to(next + 100.0);
        bench.changes.len() - before
    };
    // Up before the echo, and down again; with FIN neither.
    assert_eq!((changes_after(false), changes_after(true)), (2, 0));
}

#[test]
fn a_link_with_many_new_connections_rests_at_the_rate_of_their_first_windows() {
    let rates = RateSet::from_range(mbps(100), mbps(1000), mbps(100)).unwrap();
    let fast = link::Context { buffer: None, ..link::Context::new(mbps(1000), Bytes::new(MTU)) };
    let mut bench = Bench::on(&LullConfig::new(rates, Duration::from_millis(2)), fast);
    let open = |flow| segment(flow, SegmentKind::Syn, false, false);
    bench.packet(40, Some(open(1)));
    bench.run_to(50.0);
    bench.packet(MTU, Some(data(1)));
    // Ten packets are 120 kb, at 0.9 of 200 Mb/s 0.55 ms later than at 1 Gb/s; at 100 Mb/s it is 1.2 ms. The bound is a
    // quarter of 5 % of 50 ms, 0.63 ms.
    for n in 0..60_u32 {
        bench.run_to(60.0 + 5.0 * f64::from(n));
        bench.packet(40, Some(open(10 + u64::from(n))));
    }
    let late: Vec<u64> = bench.changes.iter().filter(|(at, _)| *at > 0.06).map(|&(_, rate)| rate).collect();
    assert_eq!(late, [200]);
    // 60 ms + 5 ms * 59 + 50 ms, and the slack of 4 ms.
    bench.run_to(500.0);
    assert_eq!(bench.lull.rate(), mbps(100));
}

#[test]
fn a_small_buffer_bounds_the_lateness() {
    // B = 62 500 B = 50 ms at 10 Mb/s: x <= 25 - 2 = 23 ms, so 14 ms stay. A buffer of 10 packets is 12 ms: x = 4 ms.
    assert_eq!(config().longest_lateness(link()), Duration::from_millis(14));
    let small = link::Context { buffer: Some(Bytes::new(15_000)), ..link() };
    assert_eq!(config().longest_lateness(small), Duration::from_millis(4));
    // A packet at 1 Mb/s and a change last 14 ms, longer than the buffer; at 2 Mb/s it is 8 ms. The bound is the larger of
    // x and 6 ms, and 2 delta.
    assert_eq!(config().used_rates(small)[0], mbps(2));
    assert_eq!(config().lateness_bound(small), Duration::from_millis(10));
    let needed = config().needed_queue(small).unwrap();
    assert_eq!((needed.field, needed.queue), ("rates", Bytes::new(17_500)));
    assert_eq!(needed.otherwise, "the link uses no rate below 2 Mb/s");
    // A packet that stops for the change costs two pauses at most.
    let suspends = link::Context { suspends: true, ..small };
    assert_eq!(config().used_rates(suspends)[0], mbps(1));
    let tiny = link::Context { buffer: Some(Bytes::new(3_000)), ..link() };
    assert_eq!(*config().used_rates(tiny), [mbps(10)]);
    assert_eq!(config().lateness_bound(link()), Duration::from_millis(18));
}

#[test]
fn a_link_reads_its_description() {
    assert_eq!(config().lowest_rate(), Some(("the lowest of rates", mbps(1))));
    assert_eq!(config().initial_rate(), None);
    assert_eq!(link::Parameters::lateness_bound(&config(), link()), Some(Duration::from_millis(18)));
    // Two packets at 10 Mb/s are later than 7 delta.
    let fast = LullConfig::new(config().rates, Duration::from_micros(100));
    assert_eq!(fast.longest_lateness(link()), Duration::from_micros(2400));
}

/// The time until the link is empty in milliseconds, at 10 Mb/s.
fn time_to_empty(bench: &Bench) -> f64 {
    let empty = bench.lull.time_to_empty(bench.now.as_secs_f64(), bench.lull.top());
    (empty * 1e6).round() / 1e3
}

#[test]
fn a_packet_in_service_ends_at_its_own_rate_before_the_pause() {
    let mut bench = Bench::on(&config(), link::Context::new(mbps(10), Bytes::new(MTU)));
    bench.run_to(1000.0);
    // The second packet is late at 1 Mb/s: 12 ms for the first, a pause of 2 ms and 1.2 ms at 10 Mb/s.
    (0..2).for_each(|_| bench.packet(MTU, None));
    assert_eq!(time_to_empty(&bench), 15.2);
    bench.now += Duration::from_millis(4);
    assert_eq!(time_to_empty(&bench), 11.2);
    // The second packet begins at 14 ms without an event. At 14.5 ms 0.7 ms are left of it, and 40 B take 0.032 ms.
    bench.run_to(1014.5);
    bench.packet(40, None);
    assert_eq!(time_to_empty(&bench), 0.732);
}

#[test]
fn a_packet_that_stops_for_the_pause_starts_again_at_the_new_rate() {
    let mut bench =
        Bench::on(&config(), link::Context { suspends: true, ..link::Context::new(mbps(10), Bytes::new(MTU)) });
    bench.run_to(1000.0);
    (0..2).for_each(|_| bench.packet(MTU, None));
    assert_eq!(time_to_empty(&bench), 2.0 + 2.4);
    bench.now += Duration::from_millis(1);
    assert_eq!(time_to_empty(&bench), 1.0 + 2.4);
}

/// Theorem 1 on every sequence of six arrivals out of five kinds, 5 ms apart: nothing, one or four datagrams, one or four
/// packets of a connection.
#[test]
fn no_short_sequence_of_arrivals_exceeds_the_bound() {
    const STEPS: u32 = 6;
    let link = link::Context::new(mbps(10), Bytes::new(MTU));
    let config = LullConfig::new(RateSet::from_list(&[mbps(1), mbps(4), mbps(10)]).unwrap(), Duration::from_millis(2));
    let (packet, bound) = (0.0012, config.lateness_bound(link).as_secs_f64());
    let mut latest: f64 = 0.0;
    for sequence in 0..5_u32.pow(STEPS) {
        let mut bench = Bench::on(&config, link);
        // The connection's round-trip time is 20 ms.
        bench.packet(MTU, Some(segment(7, SegmentKind::Syn, false, false)));
        bench.burst(20.0, 1);
        bench.run_to(100.0);
        bench.departures.clear();
        let mut reference = Vec::new();
        let mut free: f64 = 0.0;
        for step in 0..STEPS {
            let at = 0.1 + 0.005 * f64::from(step);
            bench.run_to(1e3 * at);
            let (count, flow) = [(0, None), (1, None), (4, None), (1, Some(7)), (4, Some(7))]
                [(sequence / 5_u32.pow(step) % 5) as usize];
            for _ in 0..count {
                bench.packet(MTU, flow.map(data));
                free = free.max(at) + packet;
                reference.push(free);
            }
        }
        bench.run_to(500.0);
        assert_eq!(bench.departures.len(), reference.len());
        let late = bench.departures.iter().zip(&reference).map(|(left, reference)| left - reference);
        latest = late.fold(latest, f64::max);
        assert!(latest <= bound + 1e-6, "sequence {sequence}: {latest} s late, the bound is {bound} s");
    }
    // The bound is not idle: a packet at r_1 alone takes 10.8 ms more.
    assert!(latest > 0.010, "{latest}");
}

#[test]
fn a_large_set_of_rates_is_thinned() {
    let many = RateSet::from_range(BitRate::from_bps(10_000), mbps(10), BitRate::from_bps(10_000)).unwrap();
    let unlimited = link::Context::new(mbps(10), Bytes::new(MTU));
    let used = LullConfig::new(many, Duration::from_millis(2)).used_rates(unlimited);
    assert_eq!((used.len(), used[0], used[15]), (16, BitRate::from_bps(10_000), mbps(10)));
    let one = LullConfig::new(RateSet::from_list(&[mbps(10)]).unwrap(), Duration::from_millis(2));
    assert_eq!(one.used_rates(link()).len(), 1);
    let mut bench = Bench::new(&one);
    bench.burst(0.0, 20);
    bench.run_to(100.0);
    assert!(bench.changes.is_empty());
}

#[test]
fn a_change_for_an_echo_goes_to_the_top_if_its_pause_makes_a_waiting_packet_late() {
    let rates = RateSet::from_list(&[mbps(1), mbps(4), mbps(10)]).unwrap();
    let unlimited = link::Context::new(mbps(10), Bytes::new(MTU));
    // At 1 Mb/s a packet of 1500 B and one of 40 B leave 11.1 ms later than at 10 Mb/s, with one of 200 B 12.2 ms.
    // The pause adds 2 ms, and x is 14 ms.
    let rate_after = |size: u64, wait: f64| {
        let mut bench = Bench::on(&LullConfig::new(rates.clone(), Duration::from_millis(2)), unlimited);
        bench.run_to(1000.0);
        bench.packet(MTU, None);
        assert_eq!(bench.lull.rate(), mbps(1));
        bench.packet(size, None);
        bench.run_to(1000.0 + wait);
        // A connection's round needs 4 Mb/s.
        bench.lull.echoes.mark(1.001 + wait / 1e3, 1, 0);
        bench.tell(LinkEvent::Timeout { queue: bench.view() });
        bench.lull.rate()
    };
    assert_eq!((rate_after(40, 0.0), rate_after(200, 0.0)), (mbps(4), mbps(10)));
    // After 4 ms a link at 10 Mb/s would have sent both. They are as late as before.
    assert_eq!((rate_after(40, 4.0), rate_after(200, 4.0)), (mbps(4), mbps(10)));
}

#[test]
fn an_echo_during_a_pause_waits_for_its_end() {
    let mut bench = Bench::new(&config());
    bench.run_to(1000.0);
    bench.changes.clear();
    let echo = |bench: &mut Bench, level: usize| {
        bench.lull.echoes.mark(bench.now.as_secs_f64(), level, 0);
        bench.tell(LinkEvent::Timeout { queue: QueueView::EMPTY });
    };
    echo(&mut bench, 3);
    bench.run_to(1001.0);
    echo(&mut bench, 9);
    bench.run_to(1004.0);
    assert_eq!(bench.changes, [(1.0, 4), (1.002000001, 10)]);
}

#[test]
fn an_idle_link_stays_up_if_an_echo_comes_soon() {
    // A change down and one up do not pay before an echo within 1.25 + 3 pauses: 8.5 ms.
    let changes_before = |echo: f64| {
        let mut bench = Bench::new(&config());
        bench.lull.echoes.mark(echo, 9, 0);
        bench.run_to(3.0);
        bench.changes
    };
    assert_eq!((changes_before(0.0082), changes_before(0.0092)), (vec![], vec![(0.0, 1)]));
}

#[test]
fn rates_that_save_no_power_are_left_out() {
    let used = |power: &str| {
        let config = LullConfig { power: Some(power.to_owned()), ..config() };
        let megabits = |rate: &BitRate| rate.as_bps() / 1_000_000;
        config.used_rates(link()).iter().map(megabits).collect::<Vec<_>>()
    };
    // Both take less power at each lower rate, so the controller is the one without a model.
    let all: Vec<u64> = (1..=10).collect();
    assert_eq!((used("fs"), used("dvs")), (all.clone(), all));
    // The voltage is at its floor below half of the rate, and the power with it.
    assert_eq!(used("dvs-clamped"), [5, 6, 7, 8, 9, 10]);
    // 10 Mb/s stand for 100G: 25G carries up to 2.5 Mb/s, 50G up to 5 Mb/s. Wedge has 10G for 1 Mb/s and 25G.
    assert_eq!(used("ncs-55a1-24h"), [2, 5, 10]);
    assert_eq!(used("wedge-tofino"), [1, 2, 10]);
    // Measured at one speed: no rate saves.
    assert_eq!(used("8201-32fh"), [10]);
    // x = 14 ms is more than the 6 ms of a packet at 2 Mb/s, so the bound is 14 + 4 ms. With 10 packets x is 4 ms, and the
    // bound is 6 + 4 ms.
    let ncs = LullConfig { power: Some("ncs-55a1-24h".to_owned()), ..config() };
    assert_eq!(ncs.lateness_bound(link()), Duration::from_millis(18));
    let small = link::Context { buffer: Some(Bytes::new(15_000)), ..link() };
    assert_eq!(ncs.lateness_bound(small), Duration::from_millis(10));
    // 8 ms at 10 Mb/s.
    assert_eq!(ncs.needed_queue(small).unwrap().queue, Bytes::new(10_000));
}

#[test]
fn a_link_whose_power_is_constant_never_changes_its_rate() {
    let mut bench = Bench::new(&LullConfig { power: Some("nexus-9336-fx2".to_owned()), ..config() });
    bench.burst(0.0, 5);
    bench.run_to(1000.0);
    assert!(bench.changes.is_empty(), "{:?}", bench.changes);
    assert_eq!(bench.lull.next_timeout(), None);
}

#[test]
fn what_is_wrong_is_named() {
    let why = |config: LullConfig| config.build(link(), Instant::ZERO).unwrap_err().to_string();
    assert_eq!(why(LullConfig { slowdown: 0.0, ..config() }), "slowdown is 0; expected more than 0 and at most 1");
    assert_eq!(why(LullConfig { headroom: 1.0, ..config() }), "headroom is 1; expected 0 to 0.9");
    assert_eq!(
        why(LullConfig { lateness: Some(Duration::ZERO), ..config() }),
        "lateness is 0 s; expected more than 0 s"
    );
    assert_eq!(
        why(LullConfig { power: Some("fsx".to_owned()), ..config() }),
        format!("power is \"fsx\"; expected one of {}", PowerModel::names(", "))
    );
}
