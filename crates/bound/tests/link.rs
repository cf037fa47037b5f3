//! A link that follows a list of requests: an independent model, step by step.

use netlull_bound::{Arrival, Discipline, Levels, Problem, Window};
use netlull_power::{IdealModel, PowerModel, Scaling, TransitionPower};
use netlull_units::{BitRate, Bytes, Duration, Instant};

/// A small problem in packets of 10 kbit, which take 1 ms at the highest rate of 10 Mb/s.
#[derive(Clone, Debug)]
pub struct Case {
    /// Arrivals in us, with sizes in bits.
    pub arrivals: Vec<(u64, u64)>,
    /// The rates in Mb/s, ascending to 10.
    pub rates: Vec<u64>,
    /// delta in us.
    pub pause: u64,
    /// The end of the window in us.
    pub end: u64,
    pub discipline: Discipline,
}

impl Case {
    /// The problem under frequency scaling: 1 W at 10 Mb/s, 0.1 W at 1 Mb/s.
    pub fn problem(&self) -> Problem {
        let arrival = |&(at, bits): &(u64, u64)| Arrival {
            at: Instant::ZERO + Duration::from_micros(at),
            size: Bytes::new(bits / 8),
        };
        let arrivals: Vec<_> = self.arrivals.iter().map(arrival).collect();
        let window = Window { from: Instant::ZERO, until: Instant::ZERO + Duration::from_micros(self.end) };
        let rates: Vec<_> = self.rates.iter().copied().map(BitRate::from_mbps).collect();
        let model = PowerModel::Ideal(IdealModel::new(0.0, Scaling::Frequency).expect("no static power"));
        let levels = Levels::new(&rates, &model, TransitionPower::Higher);
        Problem::new(&arrivals, window, levels, Duration::from_micros(self.pause), self.discipline)
    }
}

/// A packet in the link, in bits that are left.
struct Queued {
    left: f64,
    due: f64,
}

/// The energy in W us and the largest lateness in us of a link that asks for `requests` (time in us, index of a rate) from the
/// rate `first` on. `None` if a request comes while the last one is not carried out.
pub fn simulate(case: &Case, first: usize, requests: &[(f64, usize)]) -> Option<(f64, f64)> {
    let power = |rate: usize| case.rates[rate] as f64 / 10.0;
    let pause = case.pause as f64;
    let end = case.end as f64;
    let (mut now, mut rate, mut energy, mut lateness) = (0.0_f64, first, 0.0, 0.0_f64);
    let mut queue = std::collections::VecDeque::<Queued>::new();
    let mut arrivals = case.arrivals.iter().copied().peekable();
    let mut requests = requests.iter().copied().peekable();
    let mut due = 0.0_f64;
    // The requested rate; the end of the pause.
    let (mut wanted, mut paused) = (None::<usize>, None::<f64>);
    let mut in_service = false;
    loop {
        while let Some(&(at, bits)) = arrivals.peek().filter(|arrival| arrival.0 as f64 <= now + 1e-9) {
            due = due.max(at as f64) + bits as f64 / 10.0;
            queue.push_back(Queued { left: bits as f64, due });
            arrivals.next();
        }
        if let Some(&(_, new)) = requests.peek().filter(|request| request.0 <= now + 1e-9) {
            if wanted.is_some() || paused.is_some() {
                return None;
            }
            wanted = Some(new);
            requests.next();
        }
        if let Some(new) = wanted
            && (case.discipline == Discipline::Suspend || !in_service)
        {
            let charged = power(rate.max(new));
            energy += charged * pause.min(end - now);
            (rate, wanted) = (new, None);
            paused = (pause > 0.0).then_some(now + pause);
        }
        in_service = paused.is_none() && !queue.is_empty();
        let mut next = end;
        next = arrivals.peek().map_or(next, |arrival| next.min(arrival.0 as f64));
        next = requests.peek().map_or(next, |request| next.min(request.0.max(now)));
        next = paused.map_or(next, |until| next.min(until));
        let speed = case.rates[rate] as f64;
        if in_service {
            next = next.min(now + queue[0].left / speed);
        }
        if paused.is_none() {
            energy += power(rate) * (next - now);
        }
        if in_service {
            queue[0].left -= speed * (next - now);
            if queue[0].left < 1e-6 {
                lateness = lateness.max(next - queue[0].due);
                queue.pop_front();
                in_service = false;
            }
        }
        paused = paused.filter(|&until| until > next + 1e-9);
        now = next;
        if now >= end - 1e-9 {
            let unsent = queue.iter().map(|packet| end - packet.due).fold(0.0, f64::max);
            return Some((energy, lateness.max(unsent)));
        }
    }
}
