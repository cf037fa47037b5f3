//! The clock of Linux's timers: jiffies with HZ = 250, and the steps of its timer wheel.

use netlull_units::{Duration, Instant};

/// A jiffy (`CONFIG_HZ_250`, as distributions build kernels). Jiffy 0 begins at time zero.
pub(crate) const JIFFY: Duration = Duration::from_millis(4);
const NANOS: u64 = JIFFY.as_nanos();
/// `LVL_SIZE` and `LVL_CLK_SHIFT`: a level holds 63 of its steps, and a step is eight times that of the level below.
const LEVEL_STEPS: u64 = 63;
const LEVEL_SHIFT: u32 = 3;

/// The expiration of a timer that is set now for `span`, rounded up to jiffies: the step after it
/// (`calc_wheel_index`). From 252 ms on a step is 32 ms, from 2 s on 256 ms, from 16 s on 2 s.
#[inline]
pub(crate) fn expiry(now: Instant, span: Duration) -> Instant {
    let jiffies = span.as_nanos().div_ceil(NANOS);
    let mut shift = 0;
    while jiffies >= LEVEL_STEPS << shift && shift < 8 * LEVEL_SHIFT {
        shift += LEVEL_SHIFT;
    }
    let step = ((now.as_nanos() / NANOS).saturating_add(jiffies) >> shift) + 1;
    Instant::from_nanos((step << shift).saturating_mul(NANOS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_syns_expire_as_in_the_kernel() {
        // Linux 6.18 sent SYNs at these times, in jiffies: timers of 1 s five times, then of 2, 4 and 8 s.
        let times = [256, 512, 768, 1024, 1280, 1784, 2816, 4864];
        let mut now = Instant::ZERO;
        for (seconds, jiffies) in [1, 1, 1, 1, 1, 2, 4, 8].into_iter().zip(times) {
            now = expiry(now, Duration::from_secs(seconds));
            assert_eq!(now.as_nanos(), jiffies * NANOS);
        }
    }

    #[test]
    fn a_short_timer_expires_in_the_jiffy_after_it() {
        // 62 jiffies from jiffy 2: the 65th. 63 jiffies are one step of eight more: 65 / 8 = 8, the ninth step.
        let now = Instant::from_nanos(2 * NANOS + 1);
        assert_eq!(expiry(now, Duration::from_millis(248)).as_nanos(), 65 * NANOS);
        assert_eq!(expiry(now, Duration::from_nanos(248_000_001)).as_nanos(), 72 * NANOS);
        assert_eq!(expiry(now, Duration::MAX), Instant::NEVER);
    }
}
