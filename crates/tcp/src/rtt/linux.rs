//! The estimate of Linux 6 (`tcp_rtt_estimator`). Names in backquotes are the kernel's.

use super::Progress;
use netlull_units::Duration;

const NANOS_PER_MICRO: u64 = 1000;
/// The longest sample, 67 s: no field overflows.
const LONGEST: u32 = 1 << 26;

/// The fields of `tcp_sock`, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinuxEstimate {
    /// `srtt_us`: eight times SRTT.
    srtt: u32,
    /// `mdev_us`: four times the mean deviation.
    mdev: u32,
    /// `mdev_max_us`: the largest of this round trip, at least `tcp_rto_min`.
    largest: u32,
    /// `rttvar_us`: the RTO less SRTT.
    rttvar: u32,
    /// `rtt_seq`: the end of the round trip, the low bits of a stream offset.
    round_end: u32,
}

impl LinuxEstimate {
    /// The estimate after the first sample: RTO = 3 RTT. `least` is `tcp_rto_min`.
    pub fn first(rtt: Duration, least: Duration, at: Progress) -> Self {
        let rtt = micros(rtt);
        let rttvar = (2 * rtt).max(micros(least));
        Self { srtt: (8 * rtt).max(1), mdev: 2 * rtt, largest: rttvar, rttvar, round_end: low(at.max) }
    }

    /// Adds a sample. RTTVAR follows larger deviations at once. At the end of a round trip it falls by a quarter of
    /// the difference to the largest deviation.
    pub fn add(mut self, rtt: Duration, least: Duration, at: Progress) -> Self {
        let (rtt, smoothed, quarter) = (micros(rtt), self.srtt >> 3, self.mdev >> 2);
        let error = rtt.abs_diff(smoothed);
        if rtt >= smoothed {
            self.srtt += error;
            self.mdev = self.mdev + error - quarter;
        } else {
            self.srtt = (self.srtt - error).max(1);
            // A shorter round trip raises the deviation by an eighth of that.
            self.mdev =
                if error > quarter { self.mdev + ((error - quarter) >> 3) } else { self.mdev + error - quarter };
        }
        if self.mdev > self.largest {
            self.largest = self.mdev;
            self.rttvar = self.rttvar.max(self.mdev);
        }
        if low(at.una).wrapping_sub(self.round_end).cast_signed() > 0 {
            self.rttvar -= self.rttvar.saturating_sub(self.largest) >> 2;
            self.round_end = low(at.max);
            self.largest = micros(least);
        }
        self
    }

    pub fn srtt(&self) -> Duration {
        Duration::from_nanos(u64::from(self.srtt) * NANOS_PER_MICRO / 8)
    }

    /// `__tcp_set_rto`, before rounding to jiffies.
    pub fn rto(&self) -> Duration {
        Duration::from_nanos(u64::from((self.srtt >> 3) + self.rttvar) * NANOS_PER_MICRO)
    }
}

/// The low bits of a stream offset.
#[expect(clippy::cast_possible_truncation, reason = "round trips are compared as sequence numbers")]
fn low(offset: u64) -> u32 {
    offset as u32
}

fn micros(span: Duration) -> u32 {
    u32::try_from(span.as_nanos() / NANOS_PER_MICRO).map_or(LONGEST, |micros| micros.min(LONGEST))
}
