//! A burst on an idle link, event by event, compared with a readable table.
//!
//! To accept an intended change of behaviour, run `NETLULL_ACCEPT=1 cargo test -p netlull-mechanism --test all
//! practra_golden` and review the difference.

use crate::common::{Line, Link, at_us};
use netlull_mechanism::link::{LinkAction, LinkEvent};
use netlull_mechanism::rate::{PractRa, PractRaConfig, QueueView, RateSet};
use netlull_units::{BitRate, Instant};
use std::fmt::Write;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/practra_burst.txt");

const HEAD: &str = "\
practRA on a link of 1, 2 and 3 Mb/s: delta 2 ms, mRCI 16 ms, d 40 ms, w 0.25, all other readings at their default.
At 40 ms ten packets of 1500 B come at once into a buffer of 12000 B, at 100 ms one more.
Queue, action, rate, forecast rf and next timeout are those after the event; rf is as of the last event.

 time ms | event            | waits B | sent B | action         | rate Mb/s | rf kb/s | next timeout ms
---------+------------------+---------+--------+----------------+-----------+---------+----------------
";

fn millis(t: Instant) -> f64 {
    t.as_nanos() as f64 / 1e6
}

fn row(line: &Line) -> String {
    let (event, queue) = match line.event {
        LinkEvent::Arrival { size, admission, queue, .. } => {
            (format!("+{} {}", size.as_u64(), format!("{admission:?}").to_lowercase()), queue)
        }
        LinkEvent::Departure { queue } => ("departure".to_owned(), queue),
        LinkEvent::Timeout { queue } => ("timeout".to_owned(), queue),
        LinkEvent::Acknowledgement { .. } => ("acknowledgement".to_owned(), QueueView::EMPTY),
        LinkEvent::Managed { queue, .. } => ("managed".to_owned(), queue),
    };
    let action =
        line.action.and_then(LinkAction::new_rate).map_or(String::new(), |(rate, pause)| format!("{rate}, {pause}"));
    let next = line.next_timeout.map_or("quiet".to_owned(), |t| format!("{:.3}", millis(t)));
    format!(
        "{:8.3} | {event:16} | {:7} | {:6} | {action:14} | {:9.0} | {:7.1} | {next:>15}",
        millis(line.now),
        queue.waiting.as_u64(),
        queue.in_service.as_u64(),
        line.rate.as_f64() / 1e6,
        line.forecast / 1e3,
    )
}

#[test]
fn a_burst_on_an_idle_link() {
    let m = BitRate::from_mbps;
    let config = PractRaConfig::intertwining_2012(RateSet::from_range(m(1), m(3), m(1)).unwrap());
    let mut link = Link::new(PractRa::new(&config, Instant::ZERO).unwrap(), 12_000);
    let mut packets = vec![(at_us(40_000), 1500); 10];
    packets.push((at_us(100_000), 1500));
    link.run(&packets, at_us(1_000_000));
    let mut table = HEAD.to_owned();
    for line in &link.lines {
        writeln!(table, "{}", row(line)).unwrap();
    }
    if std::env::var_os("NETLULL_ACCEPT").is_some() {
        std::fs::write(GOLDEN, &table).unwrap();
    }
    let golden = std::fs::read_to_string(GOLDEN).unwrap();
    for (n, (ours, theirs)) in table.lines().zip(golden.lines()).enumerate() {
        assert_eq!(ours, theirs, "line {} of {GOLDEN}", n + 1);
    }
    assert_eq!(table.lines().count(), golden.lines().count());
}
