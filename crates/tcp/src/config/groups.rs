//! The parts of a [`Config`](super::Config), one struct per topic.

use super::error::{ConfigError, expect};
use super::options::{
    ApplicationRead, CwndUnit, DelayedAck, DuplicateAck, FastRetransmitTimer, FullAck, Growth, HandshakeRtt, Increase,
    InitialWindow, LossRecovery, PartialAckTimer, RackClock, RepeatedTimeout, RttClock, RttSampling, SackCompression,
    SackDetection, ShrunkWindow, SsthreshFrom, TimeoutFlight, VegasBounds, VegasFlavour, WindowReduction, WindowUpdate,
};
use netlull_units::{Bytes, Duration};

/// The largest buffer that windows can describe: 65535 2^14 bytes is just below 2^30 (RFC 7323 section 2.3).
const LARGEST_BUFFER: u64 = 1 << 30;
/// RFC 5681 section 4.2.
const LONGEST_ACK_DELAY: Duration = Duration::from_millis(500);
/// RFC 6298 section 2.5: a maximum must be at least 60 s.
const SHORTEST_MAX_RTO: Duration = Duration::from_secs(60);

/// Start, growth and reduction of the congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionWindow {
    /// Initial congestion window. Default: RFC 6928, ten segments.
    pub initial_window: InitialWindow,
    /// Initial slow-start threshold in bytes; `None` for no limit (RFC 5681 section 3.1: "arbitrarily high").
    /// Default: `None`. ns-2: the largest window.
    pub initial_ssthresh: Option<Bytes>,
    /// Unit of the windows of Tahoe, Reno, NewReno, SACK and CUBIC. Default: bytes. Linux 6: segments, and with them its
    /// rules of growth, so that `increase`, `growth` and `ssthresh_from` say nothing.
    pub cwnd_unit: CwndUnit,
    /// Growth of the window with acknowledgements. Default: RFC 5681, per acknowledgement.
    pub increase: Increase,
    /// Growth of an unused window. Default: it grows (RFC 5681).
    pub growth: Growth,
    /// The number that a loss halves. Default: the data in flight (RFC 5681).
    pub ssthresh_from: SsthreshFrom,
    /// Slow-start threshold at repeated timeouts. Default: held (RFC 5681).
    pub repeated_timeout: RepeatedTimeout,
    /// Fall back to the initial window after sending nothing for an RTO (RFC 5681 section 4.1). Default: true.
    pub idle_restart: bool,
    /// Leave slow start when round trips grow (HyStart++, RFC 9406; with [`CwndUnit::Segments`] HyStart as in Linux 6); CUBIC
    /// (RFC 9438) only. Default: true.
    pub hystart: bool,
    /// Vegas' bounds. Default: Linux.
    pub vegas: VegasBounds,
    /// Flavour of Vegas. Default: Linux's. ns-2: its own.
    pub vegas_flavour: VegasFlavour,
}

impl Default for CongestionWindow {
    fn default() -> Self {
        Self {
            initial_window: InitialWindow::Rfc6928,
            initial_ssthresh: None,
            cwnd_unit: CwndUnit::Bytes,
            increase: Increase::PerAck,
            growth: Growth::Always,
            ssthresh_from: SsthreshFrom::Flight,
            repeated_timeout: RepeatedTimeout::Hold,
            idle_restart: true,
            hystart: true,
            vegas: VegasBounds::LINUX,
            vegas_flavour: VegasFlavour::Linux,
        }
    }
}

/// Detection and repair of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// Loss recovery. With [`LossRecovery::Sack`] and [`LossRecovery::Rack`] SACK is offered (RFC 2018); a peer that does
    /// not answer the offer gets [`LossRecovery::NewReno`]. Default: NewReno.
    pub loss_recovery: LossRecovery,
    /// Duplicate acknowledgements that mean a loss. Default: 3 (RFC 5681 section 3.2).
    pub duplicate_ack_threshold: u8,
    /// Acknowledgements that are duplicates. Default: those of RFC 5681.
    pub duplicate_ack: DuplicateAck,
    /// Send new segments on the first two duplicate acknowledgements (RFC 3042). Default: true.
    pub limited_transmit: bool,
    /// Limited transmit also repeats segments after a timeout, as ns-2's `singledup_` does: on each of the first two
    /// duplicates the segment where sending again has got to. RFC 3042 means new data. Default: false.
    pub limited_repeats: bool,
    /// Flight when the timer expires in fast recovery. Default: at most the deflated window.
    pub timeout_flight: TimeoutFlight,
    /// Window after recovery. Default: RFC 6582's option 1, limited by flight.
    pub full_ack: FullAck,
    /// Timer in recovery. Default: impatient (RFC 6582 section 3.2).
    pub partial_ack_timer: PartialAckTimer,
    /// Timer at fast retransmissions. Default: keeps running (RFC 6298).
    pub fast_retransmit_timer: FastRetransmitTimer,
    /// SACK blocks that mean a loss. Default: RFC 6675.
    pub sack_detection: SackDetection,
    /// With [`SackDetection::Forward`]: so many segments SACKed above mean a loss. Default: 3 (Linux `tcp_reordering`).
    /// ns-2: 4, for its TCP/Linux counts one more.
    pub forward_reordering: u8,
    /// With [`SackDetection::Forward`]: the scoreboard is passed once per acknowledgement, upwards, so that a SACKed
    /// retransmission tells of the loss of lower ones only when the next acknowledgement comes. Default: false (Linux
    /// looks at retransmissions when it has marked everything). ns-2: true.
    pub forward_single_pass: bool,
    /// With [`SackDetection::Forward`]: all that SACK blocks have said is forgotten when recovery ends, against RFC 6675
    /// section 5 (A). What is sent again then counts as arrived when blocks tell of what arrived before, and is found lost
    /// over and over. Default: false. ns-2: true.
    pub forward_forgets: bool,
    /// The way to the smaller window in recovery with SACK or RACK. Default: proportional (RFC 6937).
    pub window_reduction: WindowReduction,
    /// The clock of RACK-TLP's timers. Default: fine. Linux 6: jiffies.
    pub rack_clock: RackClock,
}

impl Default for Recovery {
    fn default() -> Self {
        Self {
            loss_recovery: LossRecovery::NewReno,
            duplicate_ack_threshold: 3,
            duplicate_ack: DuplicateAck::SameWindow,
            limited_transmit: true,
            limited_repeats: false,
            timeout_flight: TimeoutFlight::Deflated,
            full_ack: FullAck::FlightLimited,
            partial_ack_timer: PartialAckTimer::Impatient,
            fast_retransmit_timer: FastRetransmitTimer::Keep,
            sack_detection: SackDetection::Rfc6675,
            forward_reordering: 3,
            forward_single_pass: false,
            forward_forgets: false,
            window_reduction: WindowReduction::Proportional,
            rack_clock: RackClock::Fine,
        }
    }
}

/// The retransmission timer, and the round-trip samples that set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetransmissionTimer {
    /// Retransmission timeout before the first sample. Default: 1 s (RFC 6298 section 2.1). ns-2: 3 s.
    pub initial_rto: Duration,
    /// Smallest retransmission timeout. Default: 1 s (RFC 6298 section 2.4). Linux, ns-2: 200 ms.
    pub min_rto: Duration,
    /// Largest retransmission timeout, backed off or not; also the longest interval between zero-window probes.
    /// Default: 60 s (the least that RFC 6298 section 2.5 allows).
    pub max_rto: Duration,
    /// At most so many doublings of the retransmission timeout. Default: 16 (beyond `max_rto`: no limit of its own).
    pub max_backoff: u8,
    /// Clock of the retransmission timer. Default: fine, G = 1 ms.
    pub rtt_clock: RttClock,
    /// Acknowledgements that are samples. Default: one per window.
    pub rtt_sampling: RttSampling,
    /// The handshake's round trip as a sample. Default: it is one.
    pub handshake_rtt: HandshakeRtt,
}

impl Default for RetransmissionTimer {
    fn default() -> Self {
        Self {
            initial_rto: Duration::from_secs(1),
            min_rto: Duration::from_secs(1),
            max_rto: Duration::from_secs(60),
            max_backoff: 16,
            rtt_clock: RttClock::Fine { granularity: Duration::from_millis(1) },
            rtt_sampling: RttSampling::OncePerWindow,
            handshake_rtt: HandshakeRtt::Sampled,
        }
    }
}

/// Acknowledgements that a receiver sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgements {
    /// Delayed acknowledgements. Default: every second segment or 200 ms (ns-3 and BSD; RFC 5681 allows 500 ms).
    pub delayed_ack: DelayedAck,
    /// The first acknowledgements of data that are not delayed. Default: 0. Linux 6: [`Config::with_linux_6_quick_acks`].
    pub quick_acks: u16,
    /// Acknowledgements of segments ahead of a gap. Default: each at once (RFC 5681 section 4.2).
    pub sack_compression: SackCompression,
    /// Report data that arrives again in a SACK block (RFC 2883). Default: true. ns-2: false.
    pub duplicate_sack: bool,
}

impl Default for Acknowledgements {
    fn default() -> Self {
        Self {
            delayed_ack: DelayedAck::EverySecond { timeout: Duration::from_millis(200) },
            quick_acks: 0,
            sack_compression: SackCompression::Off,
            duplicate_sack: true,
        }
    }
}

/// Buffers of both ends, and the windows that follow from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowControl {
    /// Most data that is kept for sending again, in bytes, rounded up to whole segments (as BSD does), of which 65,535 are the most:
    /// so much may be in flight. `None` for no limit. Default: `None`. FreeBSD 4.5: 32 KiB.
    pub send_buffer: Option<Bytes>,
    /// Receive buffer in bytes, and so the largest window advertised. A multiple of 2^shift keeps the window exact
    /// (the shift is the smallest that lets 16 bits express the buffer). Default: 6 MiB (Linux `tcp_rmem[2]`).
    pub receive_buffer: Bytes,
    /// Reads of the application. Default: at once.
    pub application_read: ApplicationRead,
    /// Offer window scaling (RFC 7323 section 2). Default: true.
    pub window_scaling: bool,
    /// Data in flight when the window closes. Default: it stays there. FreeBSD 4.5: sent again.
    pub shrunk_window: ShrunkWindow,
    /// Windows taken from duplicate acknowledgements. Default: all. FreeBSD 4.5: larger ones.
    pub window_update: WindowUpdate,
}

impl Default for FlowControl {
    fn default() -> Self {
        Self {
            send_buffer: None,
            receive_buffer: Bytes::new(6 << 20),
            application_read: ApplicationRead::Immediate,
            window_scaling: true,
            shrunk_window: ShrunkWindow::Keep,
            window_update: WindowUpdate::Any,
        }
    }
}

impl CongestionWindow {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if let InitialWindow::Segments(segments) = self.initial_window {
            expect((1..=10_000).contains(&segments), "initial_window", segments, "1 to 10000 segments")?;
        }
        if let Some(ssthresh) = self.initial_ssthresh {
            expect(ssthresh.as_u64() > 0, "initial_ssthresh", ssthresh, "more than 0 bytes")?;
        }
        let VegasBounds { alpha, beta, gamma } = self.vegas;
        let fits = alpha >= 1 && alpha <= beta && beta <= 10_000 && (1..=10_000).contains(&gamma);
        let given = format!("alpha {alpha}, beta {beta}, gamma {gamma}");
        expect(fits, "vegas", given, "1 <= alpha <= beta <= 10000 and 1 <= gamma <= 10000 segments")?;
        if let Increase::ByteCounting { limit } = self.increase {
            expect((1..=1000).contains(&limit), "increase limit", limit, "1 to 1000 segments (RFC 3465: 1 or 2)")?;
        }
        Ok(())
    }
}

impl Recovery {
    /// True if duplicate acknowledgements alone tell of losses, as in RFC 5681 and RFC 6582.
    pub(super) fn counts_duplicates(&self) -> bool {
        matches!(self.loss_recovery, LossRecovery::Tahoe | LossRecovery::Reno | LossRecovery::NewReno)
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        expect(self.forward_reordering >= 1, "forward_reordering", self.forward_reordering, "at least 1")?;
        expect(self.duplicate_ack_threshold >= 1, "duplicate_ack_threshold", self.duplicate_ack_threshold, "at least 1")
    }
}

impl RetransmissionTimer {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let max = self.max_rto;
        expect(max >= SHORTEST_MAX_RTO, "max_rto", max, "at least 60 s (RFC 6298 section 2.5)")?;
        let in_range = |span: Duration| !span.is_zero() && span <= max;
        expect(in_range(self.initial_rto), "initial_rto", self.initial_rto, "more than 0 s and at most max_rto")?;
        expect(in_range(self.min_rto), "min_rto", self.min_rto, "more than 0 s and at most max_rto")?;
        expect(self.max_backoff <= 32, "max_backoff", self.max_backoff, "at most 32 doublings")?;
        let (RttClock::Fine { granularity } | RttClock::Ticks { tick: granularity }) = self.rtt_clock;
        expect(in_range(granularity), "rto_granularity", granularity, "more than 0 s and at most max_rto")
    }
}

impl Acknowledgements {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let DelayedAck::EverySecond { timeout } = self.delayed_ack else { return Ok(()) };
        let fits = !timeout.is_zero() && timeout <= LONGEST_ACK_DELAY;
        expect(fits, "delayed_ack_timeout", timeout, "more than 0 s and at most 500 ms (RFC 5681 section 4.2)")
    }
}

impl FlowControl {
    pub(super) fn validate(&self, mss: u16) -> Result<(), ConfigError> {
        let mss = u64::from(mss);
        let fits = (mss..=LARGEST_BUFFER).contains(&self.receive_buffer.as_u64());
        expect(fits, "receive_buffer", self.receive_buffer, "at least one mss and at most 2^30 bytes")?;
        if let Some(buffer) = self.send_buffer {
            let fits = (mss..=LARGEST_BUFFER.min(u64::from(u16::MAX) * mss)).contains(&buffer.as_u64());
            expect(fits, "send_buffer", buffer, "at least one mss, and at most 65,535 of them and 2^30 bytes")?;
        }
        Ok(())
    }
}
