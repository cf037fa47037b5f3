//! `expect NAME VALUE ...`: the observable quantities of an endpoint.

use super::{parse_number, parse_seconds, seconds};
use netlull_tcp::Endpoint;
use netlull_units::{Duration, Instant};

/// Requirement for a quantity.
#[derive(Clone, Debug, PartialEq)]
enum Expected {
    Number(f64, f64),
    Word(String),
}

/// A quantity and its requirement.
#[derive(Clone, Debug)]
pub struct Expectation {
    name: String,
    expected: Expected,
}

/// Value of a quantity.
enum Actual {
    Number(f64),
    Word(String),
}

/// Names of quantities that are numbers: bytes, counts, or seconds.
const NUMBERS: [&str; 29] = [
    "cwnd",
    "ssthresh",
    "cwnd_segments",
    "ssthresh_segments",
    "flight",
    "una",
    "nxt",
    "smss",
    "window",
    "acked",
    "delivered",
    "unread",
    "rcv_nxt",
    "rto",
    "srtt",
    "timer",
    "timeouts",
    "fast_retransmits",
    "undone_fast_retransmits",
    "undone_timeouts",
    "partial_acks",
    "duplicate_acks",
    "retransmitted",
    "probes",
    "refused",
    "duplicates",
    "idle_restarts",
    "mean_cwnd",
    "out_of_order",
];

impl Expectation {
    /// `NAME VALUE`: a word, a number, or an interval `LOW..HIGH`; `none` for a missing number.
    pub fn parse(name: &str, value: &str) -> Result<Self, String> {
        let expected = match name {
            "phase" | "state" => Expected::Word(value.to_owned()),
            _ if !NUMBERS.contains(&name) => return Err(format!("no quantity `{name}`")),
            _ if value == "none" => Expected::Word(value.to_owned()),
            _ => {
                let (low, high) = value.split_once("..").unwrap_or((value, value));
                Expected::Number(parse_number(low)?, parse_number(high)?)
            }
        };
        Ok(Self { name: name.to_owned(), expected })
    }

    /// The error, if there is one.
    pub fn check(&self, tcp: &Endpoint, mean_cwnd: Option<f64>) -> Option<String> {
        let actual = self.actual(tcp, mean_cwnd);
        let shown = match &actual {
            Actual::Number(number) => format!("{number}"),
            Actual::Word(word) => word.clone(),
        };
        let holds = match (&actual, &self.expected) {
            // Times are sums of nanoseconds: a difference below one comes from their decimals.
            (Actual::Number(number), Expected::Number(low, high)) => *number >= low - 1e-10 && *number <= high + 1e-10,
            (Actual::Word(word), Expected::Word(expected)) => word == expected,
            _ => false,
        };
        (!holds).then(|| format!("expected {} {}, found {shown}", self.name, self.wanted()))
    }

    fn wanted(&self) -> String {
        match &self.expected {
            Expected::Number(low, high) if low == high => format!("{low}"),
            Expected::Number(low, high) => format!("{low}..{high}"),
            Expected::Word(word) => word.clone(),
        }
    }

    fn actual(&self, tcp: &Endpoint, mean_cwnd: Option<f64>) -> Actual {
        let counters = tcp.counters();
        let smss = u64::from(tcp.smss());
        let count = match self.name.as_str() {
            "phase" => return Actual::Word(snake(&format!("{:?}", tcp.recovery_phase()))),
            "state" => return Actual::Word(snake(&format!("{:?}", tcp.state()))),
            "rto" => return time(Some(tcp.rto())),
            "srtt" => return time(tcp.srtt()),
            "timer" => return instant(tcp.next_timeout()),
            "mean_cwnd" => return mean_cwnd.map_or_else(none, Actual::Number),
            "cwnd" => tcp.cwnd(),
            "ssthresh" | "ssthresh_segments" if tcp.ssthresh() == u64::MAX => return none(),
            "cwnd_segments" => tcp.cwnd() / smss,
            "ssthresh_segments" => tcp.ssthresh() / smss,
            "ssthresh" => tcp.ssthresh(),
            "flight" => tcp.flight(),
            "una" => tcp.snd_una(),
            "nxt" => tcp.snd_nxt(),
            "smss" => smss,
            "window" => tcp.send_window(),
            "acked" => tcp.bytes_acked(),
            "delivered" => tcp.bytes_delivered(),
            "unread" => tcp.unread(),
            "rcv_nxt" => tcp.rcv_nxt(),
            "timeouts" => counters.timeouts,
            "fast_retransmits" => counters.fast_retransmits,
            "undone_fast_retransmits" => counters.undone_fast_retransmits,
            "undone_timeouts" => counters.undone_timeouts,
            "partial_acks" => counters.partial_acks,
            "duplicate_acks" => counters.duplicate_acks,
            "retransmitted" => counters.retransmitted_segments,
            "probes" => counters.zero_window_probes,
            "refused" => counters.refused_segments,
            "duplicates" => counters.duplicate_segments,
            "idle_restarts" => counters.idle_restarts,
            "out_of_order" => counters.out_of_order_segments,
            _ => return none(),
        };
        Actual::Number(count as f64)
    }
}

fn none() -> Actual {
    Actual::Word("none".to_owned())
}

fn time(span: Option<Duration>) -> Actual {
    span.map_or_else(none, |span| Actual::Number(span.as_secs_f64()))
}

fn instant(at: Instant) -> Actual {
    if at == Instant::NEVER {
        return none();
    }
    // Converts by the decimal form: 1.1 is then the 1.1 of the script.
    parse_seconds(&seconds(at)).map_or_else(|_| none(), |span| Actual::Number(span.as_secs_f64()))
}

/// `FastRecovery` -> `fast_recovery`; `FinWait1` -> `fin_wait1`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}
