//! The parts of a [`Config`](super::Config), one struct per topic.

use super::error::{ConfigError, expect};
use super::options::{
    ApplicationRead, CwndUnit, DelayedAck, DuplicateAck, FastRetransmitTimer, FullAck, Growth, HandshakeRtt, Increase,
    InitialWindow, LossRecovery, PartialAckTimer, RackClock, RepeatedTimeout, RttClock, RttSampling, SackCompression,
    SackDetection, ShrunkWindow, SsthreshFrom, TimeoutFlight, Undo, VegasBounds, VegasFlavour, WindowReduction,
    WindowUpdate,
};
use netlull_units::{Bytes, Duration};

/// The largest buffer that windows can describe: 65535 2^14 bytes is just below 2^30 (RFC 7323 section 2.3).
pub(crate) const LARGEST_BUFFER: Bytes = Bytes::new(1 << 30);

/// Start, growth and reduction of the congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionWindow {
    /// Initial congestion window.
    pub initial_window: InitialWindow,
    /// Initial slow-start threshold in bytes; `None` for no limit.
    pub initial_ssthresh: Option<Bytes>,
    /// Unit of the windows of Tahoe, Reno, NewReno, SACK and CUBIC. With [`CwndUnit::Segments`], Linux 6 sets the rules of
    /// growth, and `increase`, `growth` and `ssthresh_from` have no effect.
    pub cwnd_unit: CwndUnit,
    /// Growth of the window per acknowledgement.
    pub increase: Increase,
    /// Growth of an unused window.
    pub growth: Growth,
    /// Quantity that a loss halves.
    pub ssthresh_from: SsthreshFrom,
    /// Slow-start threshold at repeated timeouts.
    pub repeated_timeout: RepeatedTimeout,
    /// Return to the initial window after an RTO without transmission (RFC 5681 section 4.1).
    pub idle_restart: bool,
    /// Early end of CUBIC's slow start when round trips grow: HyStart++, or with [`CwndUnit::Segments`] HyStart of Linux 6.
    pub hystart: bool,
    /// Bounds of Vegas.
    pub vegas: VegasBounds,
    /// Flavour of Vegas.
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
    /// Loss recovery. [`LossRecovery::Sack`] and [`LossRecovery::Rack`] offer SACK (RFC 2018); with a peer that does not
    /// answer the offer, [`LossRecovery::NewReno`] takes over.
    pub loss_recovery: LossRecovery,
    /// Number of duplicate acknowledgements that means a loss.
    pub duplicate_ack_threshold: u8,
    /// Acknowledgements that count as duplicates.
    pub duplicate_ack: DuplicateAck,
    /// New segments on the first two duplicate acknowledgements (RFC 3042).
    pub limited_transmit: bool,
    /// Limited transmit that also repeats segments after a timeout, as ns-2's `singledup_` does. Each of the first two
    /// duplicates releases the next segment to retransmit. RFC 3042 sends new data only.
    pub limited_repeats: bool,
    /// Data in flight, as counted when the timer expires in fast recovery.
    pub timeout_flight: TimeoutFlight,
    /// Congestion window after fast recovery.
    pub full_ack: FullAck,
    /// Partial acknowledgements that restart the timer.
    pub partial_ack_timer: PartialAckTimer,
    /// Timer at a fast retransmission.
    pub fast_retransmit_timer: FastRetransmitTimer,
    /// Rule by which SACK blocks mean a loss.
    pub sack_detection: SackDetection,
    /// With [`SackDetection::Forward`]: number of SACKed segments above a segment that means its loss (Linux
    /// `tcp_reordering`).
    pub forward_reordering: u8,
    /// With [`SackDetection::Forward`]: each acknowledgement passes the scoreboard once, upwards. A SACKed retransmission
    /// then reveals the loss of lower ones only at the next acknowledgement. Linux checks retransmissions after all marking.
    pub forward_single_pass: bool,
    /// With [`SackDetection::Forward`]: the end of recovery erases all SACK information, against RFC 6675 section 5 (A).
    /// A later block about old data then marks retransmitted data as arrived, and recovery finds it lost again and again.
    pub forward_forgets: bool,
    /// Reduction of the window in recovery with SACK or RACK.
    pub window_reduction: WindowReduction,
    /// Answer to a recovery that turns out to be needless; with [`LossRecovery::Reno`], NewReno, SACK on a scoreboard and RACK.
    pub undo: Undo,
    /// Clock of RACK-TLP's timers.
    pub rack_clock: RackClock,
}

impl Default for Recovery {
    fn default() -> Self {
        Self {
            loss_recovery: LossRecovery::NewReno,
            // RFC 5681 section 3.2.
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
            undo: Undo::Off,
            rack_clock: RackClock::Fine,
        }
    }
}

/// The retransmission timer, and the round-trip samples that set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetransmissionTimer {
    /// Retransmission timeout before the first sample.
    pub initial_rto: Duration,
    /// Smallest retransmission timeout.
    pub min_rto: Duration,
    /// Largest retransmission timeout, backed off or not; also the longest interval between zero-window probes.
    pub max_rto: Duration,
    /// Largest number of doublings of the retransmission timeout.
    pub max_backoff: u8,
    /// Number of timeouts of a SYN without a doubling (Linux 6.5 `tcp_syn_linear_timeouts`).
    pub linear_syn_timeouts: u8,
    /// Clock of the retransmission timer.
    pub rtt_clock: RttClock,
    /// Acknowledgements that give a sample.
    pub rtt_sampling: RttSampling,
    /// Use of the handshake's round trip as a sample.
    pub handshake_rtt: HandshakeRtt,
}

impl Default for RetransmissionTimer {
    fn default() -> Self {
        Self {
            initial_rto: Duration::from_secs(1),
            min_rto: Duration::from_secs(1),
            max_rto: Duration::from_secs(60),
            // More than `max_rto` allows.
            max_backoff: 16,
            linear_syn_timeouts: 0,
            rtt_clock: RttClock::Fine { granularity: Duration::from_millis(1) },
            rtt_sampling: RttSampling::OncePerWindow,
            handshake_rtt: HandshakeRtt::Sampled,
        }
    }
}

/// Acknowledgements that a receiver sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgements {
    /// Delay of acknowledgements.
    pub delayed_ack: DelayedAck,
    /// Number of acknowledgements of data, from the first on, without delay.
    pub quick_acks: u16,
    /// Compression of acknowledgements of segments ahead of a gap.
    pub sack_compression: SackCompression,
    /// Report of data that arrives again, in a SACK block (RFC 2883).
    pub duplicate_sack: bool,
}

impl Default for Acknowledgements {
    fn default() -> Self {
        Self {
            // As in ns-3 and BSD.
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
    /// Send buffer in bytes, the limit of data in flight; `None` for no limit. It is rounded up to whole segments, as in BSD,
    /// and holds at most 65,535 of them.
    pub send_buffer: Option<Bytes>,
    /// Receive buffer in bytes, the largest window advertised. A multiple of 2^shift keeps the window exact; the shift is the
    /// smallest with which 16 bits express the buffer.
    pub receive_buffer: Bytes,
    /// Reads of the application.
    pub application_read: ApplicationRead,
    /// Offer of window scaling (RFC 7323 section 2).
    pub window_scaling: bool,
    /// Treatment of data in flight when the peer's window closes over it.
    pub shrunk_window: ShrunkWindow,
    /// Windows accepted from acknowledgements that repeat their number.
    pub window_update: WindowUpdate,
}

impl Default for FlowControl {
    fn default() -> Self {
        Self {
            send_buffer: None,
            // Linux `tcp_rmem[2]`.
            receive_buffer: Bytes::new(6 << 20),
            application_read: ApplicationRead::Immediate,
            window_scaling: true,
            shrunk_window: ShrunkWindow::Keep,
            window_update: WindowUpdate::Any,
        }
    }
}

impl CongestionWindow {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let VegasBounds { alpha, beta, .. } = self.vegas;
        expect(alpha <= beta, "vegas", format!("alpha {alpha}, beta {beta}"), "alpha <= beta")?;
        if let Increase::ByteCounting { limit } = self.increase {
            expect((1..=1000).contains(&limit), "increase limit", limit, "1 to 1000 segments (RFC 3465: 1 or 2)")?;
        }
        Ok(())
    }
}

impl Recovery {
    /// True if duplicate acknowledgements alone reveal losses, as in RFC 5681 and RFC 6582.
    pub(super) fn counts_duplicates(&self) -> bool {
        matches!(self.loss_recovery, LossRecovery::Tahoe | LossRecovery::Reno | LossRecovery::NewReno)
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        expect(self.forward_reordering >= 1, "forward_reordering", self.forward_reordering, "at least 1")?;
        expect(self.duplicate_ack_threshold >= 1, "duplicate_ack_threshold", self.duplicate_ack_threshold, "at least 1")
    }
}

impl RetransmissionTimer {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let max = self.max_rto;
        expect(self.initial_rto <= max, "initial_rto", self.initial_rto, "at most max_rto")?;
        expect(self.min_rto <= max, "min_rto", self.min_rto, "at most max_rto")?;
        expect(self.max_backoff <= 32, "max_backoff", self.max_backoff, "at most 32 doublings")?;
        match self.rtt_clock {
            RttClock::Fine { granularity } | RttClock::Ticks { tick: granularity } => {
                expect(granularity <= max, "rto_granularity", granularity, "at most max_rto")
            }
            RttClock::Jiffies => Ok(()),
        }
    }
}

impl FlowControl {
    pub(super) fn check(&self, mss: u16) -> Result<(), ConfigError> {
        let mss = u64::from(mss);
        expect(self.receive_buffer.as_u64() >= mss, "receive_buffer", self.receive_buffer, "at least one mss")?;
        if let Some(buffer) = self.send_buffer {
            let fits = (mss..=u64::from(u16::MAX) * mss).contains(&buffer.as_u64());
            expect(fits, "send_buffer", buffer, "1 to 65,535 mss")?;
        }
        Ok(())
    }
}
