//! The presets: the TCPs of the RFCs, of ns-2 and of two kernels.

use crate::config::{
    Acknowledgements, Algorithm, Config, CongestionWindow, CwndUnit, DelayedAck, DuplicateAck, FastRetransmitTimer,
    FlowControl, FullAck, Growth, InitialWindow, PartialAckTimer, RackClock, Recovery, RepeatedTimeout,
    RetransmissionTimer, RttClock, RttSampling, SackCompression, ShrunkWindow, SsthreshFrom, Undo, VegasBounds,
    VegasFlavour, WindowUpdate,
};
use crate::segment::TIMESTAMPS_PADDED;
use netlull_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The window in segments of the preset `ns2`: ns-2's own default of 20 would be the only limit in every scenario.
const NS2_WINDOW: u32 = 10_000;

/// Linux `TCP_MAX_QUICKACKS`.
const LINUX_6_QUICK_ACKS: u16 = 16;

/// A named set of TCP options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "TcpPreset")]
pub enum Preset {
    /// The RFCs' defaults.
    #[schemars(extend("x-source" = "RFC 5681, RFC 6298, RFC 6928, RFC 7323"))]
    #[default]
    Rfc,
    /// ns-2.35's defaults, for comparison with it and with the papers. Segments fit the MTU, and `window_` is 10,000
    /// segments instead of 20.
    #[schemars(extend("x-source" = "ns-2.35"))]
    Ns2,
    /// FreeBSD 4.5 of 2002, with its buffers of 32 and 64 KiB, for comparison with client-centered-2004.
    #[serde(rename = "freebsd-4.5")]
    #[schemars(extend("x-source" = "FreeBSD 4.5; client-centered-2004 section IV"))]
    FreeBsd45,
    /// Linux 6 (6.18), for comparison with emulations.
    #[serde(rename = "linux-6")]
    #[schemars(extend("x-source" = "Linux 6.18; RFC 8985, RFC 6937"))]
    Linux6,
}

impl Preset {
    /// All presets, the default first.
    pub const ALL: [Self; 4] = [Self::Rfc, Self::Ns2, Self::FreeBsd45, Self::Linux6];

    /// The preset's configuration, for segments of `mss` bytes.
    #[must_use]
    pub fn config(self, mss: u16) -> Config {
        match self {
            Self::Rfc => Config { mss, ..Config::default() },
            Self::Ns2 => Config { mss, ..Config::ns2() }.with_ns2_window(NS2_WINDOW),
            Self::FreeBsd45 => Config { mss, ..Config::freebsd_4_5() },
            Self::Linux6 => Config { mss, ..Config::linux_6() },
        }
    }

    /// Sets an algorithm as in the preset's system.
    pub(crate) fn with_algorithm(self, config: Config, algorithm: Algorithm) -> Config {
        match self {
            Self::Rfc | Self::FreeBsd45 => config.with_algorithm(algorithm),
            Self::Ns2 => config.with_ns2_agent(algorithm),
            Self::Linux6 => config.with_linux_6_algorithm(algorithm),
        }
    }
}

impl Config {
    /// ns-2.35's `Agent/TCP/Newreno` with a `TCPSink`, with its defaults.
    ///
    /// Segments have 1000 bytes after headers of 40 (no options). The window is 20 segments, the initial window 2.
    /// Every segment is acknowledged, with limited transmit. Ticks are 10 ms; the RTO is initially 3 s and at least
    /// 200 ms. ssthresh comes from min(cwnd, rwnd), and recovery ends with the deflated window. ns-2's SYN is a
    /// segment of 40 bytes, whose round trip is a sample like that of the handshake here.
    #[must_use]
    pub fn ns2() -> Self {
        Self {
            cwnd: CongestionWindow {
                vegas: VegasBounds::NS2,
                vegas_flavour: VegasFlavour::Ns2,
                initial_window: InitialWindow::Segments(2),
                ssthresh_from: SsthreshFrom::Window,
                repeated_timeout: RepeatedTimeout::Recompute,
                ..CongestionWindow::default()
            },
            recovery: Recovery {
                // ns-2's TCP/Linux counts one more than Linux.
                forward_reordering: 4,
                forward_single_pass: true,
                forward_forgets: true,
                duplicate_ack: DuplicateAck::AnyWindow,
                limited_repeats: true,
                full_ack: FullAck::Deflated,
                fast_retransmit_timer: FastRetransmitTimer::Restart,
                ..Recovery::default()
            },
            timer: RetransmissionTimer {
                initial_rto: Duration::from_secs(3),
                min_rto: Duration::from_millis(200),
                rtt_clock: RttClock::Ticks { tick: Duration::from_millis(10) },
                ..RetransmissionTimer::default()
            },
            acks: Acknowledgements {
                duplicate_sack: false,
                delayed_ack: DelayedAck::Off,
                ..Acknowledgements::default()
            },
            mss: 1000,
            timestamps: false,
            ..Self::default()
        }
        .with_ns2_window(20)
    }

    /// FreeBSD 4.5 as released (January 2002), NewReno without SACK: the server of client-centered-2004.
    ///
    /// As in its source, an acknowledgement covers two segments or 100 ms (`TCPTV_DELACK`), with timestamps and
    /// scaling (`net.inet.tcp.rfc1323`). The clock has 100 Hz, and each acknowledgement gives a sample. The RTO is at
    /// least 1 s (`TCPTV_MIN`), 3 s at first, and at most 64 s after six doublings. A loss halves min(cwnd, window),
    /// and each partial acknowledgement restarts the retransmission timer. There is no limited transmit; the buffers
    /// are 32 and 64 KiB, with Nagle's algorithm. The initial window is two segments: `slowstart_flightsize` is one,
    /// and the acknowledgement of a server's SYN opens it as usual. Not modelled: its undo of needless timeouts
    /// (`t_badrxtwin`), at least 5 s between probes of a closed window, larger initial windows on the local network.
    #[must_use]
    pub fn freebsd_4_5() -> Self {
        Self {
            cwnd: CongestionWindow {
                initial_window: InitialWindow::Segments(2),
                ssthresh_from: SsthreshFrom::Window,
                repeated_timeout: RepeatedTimeout::Recompute,
                ..CongestionWindow::default()
            },
            recovery: Recovery {
                limited_transmit: false,
                partial_ack_timer: PartialAckTimer::SlowButSteady,
                fast_retransmit_timer: FastRetransmitTimer::Restart,
                ..Recovery::default()
            },
            timer: RetransmissionTimer {
                initial_rto: Duration::from_secs(3),
                max_rto: Duration::from_secs(64),
                max_backoff: 6,
                rtt_clock: RttClock::Ticks { tick: Duration::from_millis(10) },
                rtt_sampling: RttSampling::EveryAck,
                ..RetransmissionTimer::default()
            },
            acks: Acknowledgements {
                duplicate_sack: false,
                delayed_ack: DelayedAck::EverySecond { timeout: Duration::from_millis(100) },
                ..Acknowledgements::default()
            },
            flow_control: FlowControl {
                send_buffer: Some(Bytes::new(32 << 10)),
                receive_buffer: Bytes::new(64 << 10),
                shrunk_window: ShrunkWindow::PullBack,
                window_update: WindowUpdate::Larger,
                ..FlowControl::default()
            },
            timestamp_granularity: Duration::from_millis(10),
            nagle: true,
            ..Self::default()
        }
    }

    /// Linux 6 as released (compared with 6.18), CUBIC with RACK-TLP.
    ///
    /// Windows are whole segments with the kernel's arithmetic ([`CwndUnit::Segments`]); the initial window is ten.
    /// Recovery reduces the window by [`WindowReduction::Linux6`](crate::WindowReduction::Linux6). The RTO is that of `tcp_rtt_estimator`,
    /// at least SRTT + 200 ms (`tcp_rto_min`) and at most 120 s, with a sample from each acknowledgement. Timers
    /// expire at the steps of the timer wheel with HZ = 250. Four timeouts of a SYN do not double the next.
    /// [Thousands](Self::with_linux_6_quick_acks) of acknowledgements go out at once, then every second segment or
    /// after 40 ms (`TCP_DELACK_MIN`), with SACK compression. Repeated acknowledgements change the window only if it
    /// is larger or zero. Needless recoveries are undone ([`Undo::Linux6`]). Not modelled: segmentation offload
    /// (`tcp_tso_should_defer`), growth of the receive buffer.
    #[must_use]
    pub fn linux_6() -> Self {
        Self {
            cwnd: CongestionWindow {
                cwnd_unit: CwndUnit::Segments,
                initial_window: InitialWindow::Segments(10),
                ssthresh_from: SsthreshFrom::Window,
                growth: Growth::WhenLimited,
                ..CongestionWindow::default()
            },
            recovery: Recovery { rack_clock: RackClock::Jiffies, undo: Undo::Linux6, ..Recovery::default() },
            timer: RetransmissionTimer {
                min_rto: Duration::from_millis(200),
                max_rto: Duration::from_secs(120),
                linear_syn_timeouts: 4,
                rtt_clock: RttClock::Jiffies,
                rtt_sampling: RttSampling::EveryAck,
                ..RetransmissionTimer::default()
            },
            acks: Acknowledgements {
                delayed_ack: DelayedAck::EverySecond { timeout: Duration::from_millis(40) },
                quick_acks: 0,
                sack_compression: SackCompression::Linux6,
                ..Acknowledgements::default()
            },
            flow_control: FlowControl { window_update: WindowUpdate::LargerOrZero, ..FlowControl::default() },
            ..Self::default()
        }
        .with_linux_6_quick_acks()
        .with_linux_6_algorithm(Algorithm::Cubic)
    }

    /// Sets the number of acknowledgements that Linux 6 does not delay, for the current receive buffer and segment
    /// size. It is sixteen (`TCP_MAX_QUICKACKS`), plus one for each segment while the kernel's window grows by two
    /// segments with each (`tcp_grow_window`), even if the growth is not advertised. The limit of the growth is the
    /// number of segments of 1500 bytes that fit in the socket's memory (`scaling_ratio` 160/256). That is 2.5 times
    /// the window if `SO_RCVBUF` is twice the window, as in netlulld. Below 1 MiB it clamps the window, which then
    /// cannot grow.
    #[must_use]
    pub fn with_linux_6_quick_acks(self) -> Self {
        const EXACT: u64 = 1 << 20;
        let buffer = self.flow_control.receive_buffer.as_u64();
        let growth = if buffer < EXACT { 0 } else { buffer / 2 * 3 };
        let segment = u64::from(self.mss.saturating_sub(TIMESTAMPS_PADDED).max(1));
        let growing = u16::try_from(growth / (2 * segment)).unwrap_or(u16::MAX - LINUX_6_QUICK_ACKS);
        self.with(|c| c.acks.quick_acks = LINUX_6_QUICK_ACKS.saturating_add(growing))
    }

    /// ns-2's `window_`: the receiver's window and the initial slow-start threshold, in segments of `mss` bytes.
    #[must_use]
    pub fn with_ns2_window(mut self, segments: u32) -> Self {
        let window = Bytes::new(u64::from(segments) * u64::from(self.mss));
        self.flow_control.receive_buffer = window;
        self.cwnd.initial_ssthresh = Some(window);
        self
    }
}
