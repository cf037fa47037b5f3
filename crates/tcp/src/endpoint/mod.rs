//! A TCP endpoint: its states, its timers, and the methods for the driver.

mod ack;
mod connect;
mod ecn;
mod fast;
mod pacing;
mod receiver;
mod selective;
mod sender;
#[cfg(test)]
mod tests;
mod transmit;
mod undo;

use crate::cc::{CongestionControl, Controller, Fault, Variable};
use crate::config::{
    Config, DuplicateAck, FastRetransmitTimer, HandshakeRtt, InitialWindow, LossRecovery, RttSampling, SackDetection,
    ShrunkWindow, TimeoutFlight,
};
use crate::counters::Counters;
use crate::recovery::{DuplicateRecovery, RecoveryPhase, Selective, Undo};
use crate::rtt::{Before, RttEstimator};
use crate::segment::Segment;
use crate::seq::SeqNr;
use crate::timestamps::Timestamps;
use netlull_units::{Bytes, Duration, Instant};
use pacing::Paced;
use receiver::{AckDue, Receiver};
use sender::{ENDLESS, Fin, Sender, Times};

pub use connect::Template;

/// The states of RFC 9293 section 3.3.2.
///
/// ```text
///                  open                          SYN
///     Closed ---------------> SynSent    Listen ------> SynReceived
///                               | SYN+ACK                 | ACK
///                               +--------> Established <--+
///                    close        |                |   FIN
///                FinWait1 <-------+                +------> CloseWait
///     ACK of FIN |   | FIN                                     | close
///         FinWait2   +--> Closing                           LastAck
///          FIN |             | ACK of FIN                      | ACK of FIN
///              +-> TimeWait <+                                 +--> Closed
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not opened yet, or over.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// Has sent a SYN.
    SynSent,
    /// Has received a SYN and answered it.
    SynReceived,
    /// Open in both directions.
    Established,
    /// Closed here, and the FIN is not acknowledged.
    FinWait1,
    /// Closed here, and the FIN is acknowledged.
    FinWait2,
    /// Closed by the peer.
    CloseWait,
    /// Closed by both at once, and the FIN is not acknowledged.
    Closing,
    /// Closed by the peer, then here, and the FIN is not acknowledged.
    LastAck,
    /// Closed by both; waits for stray segments to die.
    TimeWait,
}

/// Data from an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// A number of bytes, after the data sent before.
    Bytes(u64),
    /// An endless stream; [`Endpoint::close`] ends it after the data sent by then.
    Endless,
}

/// The purpose of the timer. A single timer suffices: no two purposes occur at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimerKind {
    Off,
    /// RFC 6298 section 5.
    Retransmit,
    /// Zero-window probes, RFC 9293 section 3.8.6.1.
    Persist,
    TimeWait,
}

/// A pending segment that is neither data nor a pure acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PendingControl {
    None,
    /// [`Rare::early_ack`].
    EarlyAck,
    Syn,
    SynAck,
    /// A byte into a closed window.
    Probe,
    /// RFC 8985 section 7.3.
    TailProbe,
    Reset {
        seq: SeqNr,
        ack: Option<SeqNr>,
    },
}

/// The side that opened the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Client,
    Server,
}

/// An end of a connection: a state machine without clock, input or output.
///
/// The contract: call [`handle_segment`](Self::handle_segment) for each segment that arrives, and
/// [`handle_timeout`](Self::handle_timeout) at (or before, or a little after) [`next_timeout`](Self::next_timeout).
/// After each call that may change something (`open`, `send`, `close`, `read`, `handle_*`), drain
/// [`poll_transmit`](Self::poll_transmit). Time never goes back from call to call.
///
/// # Layout
///
/// With thousands of connections, fetching the state of a connection takes most of the time of a segment. The fields
/// that nearly every segment needs are adjacent, a cache line each:
///
/// ```text
///     counters of data and acknowledgements, timestamps, prediction     both
///     sequence numbers and windows of the sending half                  both
///     congestion control (RFC 5681's), times of transmissions           sender
///     receive buffer                                                    receiver
///     what arrives next, timers                                         both
/// ```
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Endpoint {
    // Rarely used counters are in front.
    counters: Counters,
    timestamps: Timestamps,
    prediction: fast::Prediction,
    state: State,
    timer_kind: TimerKind,
    snd: Sender,
    cc: Controller,
    times: Times,
    rcv: Receiver,
    /// Full segments of new data may go out up to this stream offset without further checks; 0 if none may.
    limit: u64,
    timer_at: Instant,
    /// The expiration of another timer: of loss recovery on a scoreboard, or of pacing.
    wake_at: Instant,
    rtt: RttEstimator,
    /// Recovery on a scoreboard, if configured and if the peer has agreed to SACK.
    selective: Option<Box<Selective>>,
    /// State for a congestion control that wants deliveries.
    paced: Option<Box<Paced>>,
    rare: Box<Rare>,
    control: PendingControl,
    /// For tests: disables the fast path.
    #[cfg(test)]
    general_only: bool,
}

/// State for losses, congestion marks, opening and closing.
#[derive(Clone, Debug)]
struct Rare {
    /// Recovery by duplicate acknowledgements; at rest while there is a `selective` one.
    recovery: DuplicateRecovery,
    undo: Undo,
    ecn: ecn::EcnState,
    /// An acknowledgement made before the segment that it does not cover.
    early_ack: Option<Box<Segment>>,
    /// The largest window that the peer has advertised.
    largest_window: u32,
    established_at: Instant,
    time_wait: Duration,
    /// The round-trip estimate before the last timeout.
    rtt_before_timeout: Option<Before>,
    /// Time of the last restart after a pause: until data goes out, the same pause restarts the window only once.
    restarted_at: Instant,
    probes: u8,
    syns_sent: u8,
    handshake_timeouts: u8,
    linear_syn_timeouts: u8,
    peer_mss: u16,
    role: Role,
    // From the configuration.
    duplicate_ack: DuplicateAck,
    fast_retransmit_timer: FastRetransmitTimer,
    timeout_flight: TimeoutFlight,
    shrunk_window: ShrunkWindow,
    send_buffer: Option<u64>,
    idle_restart: bool,
    rtt_sampling: RttSampling,
    handshake_rtt: HandshakeRtt,
    offers_timestamps: bool,
    offers_scaling: bool,
    offers_sack: bool,
    initial_window: InitialWindow,
    mss: u16,
}

impl Rare {
    fn new(config: &Config, role: Role) -> Self {
        Self {
            recovery: DuplicateRecovery::new(&config.recovery),
            undo: Undo::new(config.recovery.undo),
            ecn: ecn::EcnState::new(config.ecn),
            early_ack: None,
            largest_window: 0,
            established_at: Instant::NEVER,
            time_wait: config.time_wait,
            rtt_before_timeout: None,
            restarted_at: Instant::ZERO,
            probes: 0,
            syns_sent: 0,
            handshake_timeouts: 0,
            linear_syn_timeouts: config.timer.linear_syn_timeouts,
            peer_mss: 0,
            role,
            duplicate_ack: config.recovery.duplicate_ack,
            fast_retransmit_timer: config.recovery.fast_retransmit_timer,
            timeout_flight: config.recovery.timeout_flight,
            shrunk_window: config.flow_control.shrunk_window,
            send_buffer: config.flow_control.send_buffer.map(Bytes::as_u64),
            idle_restart: config.cwnd.idle_restart,
            rtt_sampling: config.timer.rtt_sampling,
            handshake_rtt: config.timer.handshake_rtt,
            offers_timestamps: config.timestamps,
            offers_scaling: config.flow_control.window_scaling,
            offers_sack: matches!(config.recovery.loss_recovery, LossRecovery::Sack | LossRecovery::Rack),
            initial_window: config.cwnd.initial_window,
            mss: config.mss,
        }
    }
}

impl Endpoint {
    /// The side that opens the connection, still CLOSED. `iss` is its initial sequence number.
    #[must_use]
    pub fn client(config: &Config, iss: SeqNr) -> Self {
        Self::new(config, iss, Role::Client)
    }

    /// The side that waits for the connection, in LISTEN. `iss` is its initial sequence number.
    #[must_use]
    pub fn server(config: &Config, iss: SeqNr) -> Self {
        Self::new(config, iss, Role::Server)
    }

    fn new(config: &Config, iss: SeqNr, role: Role) -> Self {
        let cc = Controller::new(config, iss.as_u32());
        let paced = Paced::for_controller(&cc);
        let uses_board = match config.recovery.loss_recovery {
            LossRecovery::Sack => config.recovery.sack_detection != SackDetection::Counting,
            LossRecovery::Rack => true,
            LossRecovery::Tahoe | LossRecovery::Reno | LossRecovery::NewReno | LossRecovery::Vegas => false,
        };
        Self {
            counters: Counters::default(),
            timestamps: Timestamps::new(config.timestamp_granularity),
            prediction: fast::Prediction::NOTHING,
            state: if role == Role::Client { State::Closed } else { State::Listen },
            timer_kind: TimerKind::Off,
            snd: Sender::new(config, iss),
            times: Times::NEVER,
            rcv: Receiver::new(config),
            limit: 0,
            timer_at: Instant::NEVER,
            wake_at: Instant::NEVER,
            rtt: RttEstimator::new(&config.timer),
            selective: uses_board
                .then(|| Box::new(Selective::new(&config.recovery, cc.owns_window(), paced.is_some()))),
            paced,
            cc,
            rare: Box::new(Rare::new(config, role)),
            control: PendingControl::None,
            #[cfg(test)]
            general_only: false,
        }
    }

    /// Opens the connection with a SYN. Does nothing unless this is a client that has not been opened.
    pub fn open(&mut self, _now: Instant) {
        if self.state == State::Closed && self.rare.role == Role::Client && self.rare.established_at == Instant::NEVER {
            self.state = State::SynSent;
            self.control = PendingControl::Syn;
            self.predict();
        }
    }

    /// Queues data for transmission, after the data queued before. Ignored after [`close`](Self::close).
    pub fn send(&mut self, data: Data) {
        if self.snd.fin == Fin::Open {
            self.snd.queued = match data {
                Data::Bytes(bytes) if self.snd.queued != ENDLESS => {
                    self.snd.queued.saturating_add(bytes).min(ENDLESS - 1)
                }
                Data::Bytes(_) | Data::Endless => ENDLESS,
            };
            self.predict();
        }
    }

    /// Ends the data: a FIN follows the queued data.
    ///
    /// Before the connection is established the call is stored (RFC 9293 section 3.10.4 would delete a connection in
    /// SYN-SENT). Thus a transfer can be opened, filled and closed at once.
    pub fn close(&mut self) {
        if self.snd.fin == Fin::Queued {
            return;
        }
        self.snd.fin = Fin::Queued;
        if self.snd.queued == ENDLESS {
            self.snd.queued = self.snd.max;
        }
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            state => state,
        };
        self.predict();
    }

    /// Takes a segment from the network.
    #[inline]
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        if !self.take_predicted(now, segment) {
            self.take_general(now, segment);
        }
    }

    fn take_general(&mut self, now: Instant, segment: &Segment) {
        self.take_segment(now, segment);
        self.predict();
    }

    fn take_segment(&mut self, now: Instant, segment: &Segment) {
        match self.state {
            State::Closed | State::Listen | State::SynSent | State::SynReceived => self.handle_opening(now, segment),
            _ => self.handle_synchronized(now, segment),
        }
    }

    /// Reads up to `max` bytes that have arrived in order; returns their number. With
    /// [`ApplicationRead::Immediate`](crate::ApplicationRead::Immediate) it is always 0.
    pub fn read(&mut self, max: u64) -> u64 {
        let (taken, update_window) = self.rcv.read(max, u64::from(self.rare.mss));
        if update_window && self.sends_data() {
            self.rcv.ack_due = AckDue::Now;
        }
        self.predict();
        taken
    }

    /// True in the states that allow segments with data or a FIN, new or again.
    #[inline]
    fn sends_data(&self) -> bool {
        !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::SynReceived | State::TimeWait)
    }
}

/// Methods for observation.
impl Endpoint {
    /// The connection's state.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// The congestion window in bytes, including the temporary inflation of recovery; at least a segment.
    #[inline]
    #[must_use]
    pub fn cwnd(&self) -> u64 {
        let (cwnd, smss) = (self.cc.cwnd(), u64::from(self.snd.smss));
        if self.prediction.sends() {
            return cwnd.max(smss);
        }
        match &self.selective {
            None => self.rare.recovery.window(cwnd, smss),
            Some(selective) => selective.window(cwnd, smss),
        }
    }

    /// Congestion control's own window in bytes, without changes by recovery.
    #[must_use]
    pub fn controlled_cwnd(&self) -> u64 {
        self.cc.cwnd()
    }

    /// Reports the connection's variables, with the names of draft-ietf-ccwg-bbr-06 section 2.1, and those of the
    /// congestion control.
    ///
    /// # Errors
    /// If the report of a custom congestion control fails.
    pub fn variables(&self, each: &mut dyn FnMut(&str, Variable<'_>)) -> Result<(), netlull_document::ConfigError> {
        use crate::number::float;
        each("C.cwnd", Variable::Number(float(self.cwnd())));
        each("C.inflight", Variable::Number(float(self.flight())));
        if let Some(rate) = self.cc.pacing_rate() {
            each("C.pacing_rate", Variable::Number(float(rate.as_bps()) / 8.0));
        }
        self.cc.variables(each)
    }

    /// The first answer of a custom congestion control that stops the connection: no window or no pacing rate.
    #[must_use]
    pub fn congestion_control_fault(&self) -> Option<&Fault> {
        self.cc.fault()
    }

    /// The slow-start threshold in bytes; `u64::MAX` for none.
    #[inline]
    #[must_use]
    pub fn ssthresh(&self) -> u64 {
        self.cc.ssthresh()
    }

    /// The peer's window in bytes, as last advertised.
    #[must_use]
    pub fn send_window(&self) -> u64 {
        u64::from(self.snd.window)
    }

    /// Bytes in flight: sent and unacknowledged; after a timeout, only those sent since; with SACK, RFC 6675's pipe.
    #[inline]
    #[must_use]
    pub fn flight(&self) -> u64 {
        match &self.selective {
            None => self.snd.flight(),
            Some(selective) => selective.board.pipe(),
        }
    }

    /// Data in a full segment in bytes (Eff.snd.MSS), as negotiated.
    #[must_use]
    pub fn smss(&self) -> u32 {
        u32::from(self.snd.smss)
    }

    /// The smoothed round-trip time; `None` before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }

    /// The retransmission timeout, backed off.
    #[must_use]
    pub fn rto(&self) -> Duration {
        self.rtt.rto()
    }

    /// SND.UNA as an offset in the stream; an acknowledged FIN counts as one.
    #[must_use]
    pub fn snd_una(&self) -> u64 {
        self.snd.una
    }

    /// SND.NXT as an offset in the stream; a sent FIN counts as one. A timeout moves it back to SND.UNA.
    #[must_use]
    pub fn snd_nxt(&self) -> u64 {
        self.snd.nxt
    }

    /// The right edge of the peer's window as an offset in the stream; or that of the send buffer, if it is lower.
    #[must_use]
    pub fn send_window_edge(&self) -> u64 {
        self.snd.edge
    }

    /// Bytes of data acknowledged.
    #[must_use]
    pub fn bytes_acked(&self) -> u64 {
        self.snd.una.min(self.snd.queued)
    }

    /// Bytes of data that the application has read, in order.
    #[inline]
    #[must_use]
    pub fn bytes_delivered(&self) -> u64 {
        self.rcv.read
    }

    /// Bytes of data that have arrived, each counted once: also data that is unread, or held ahead of a gap.
    #[must_use]
    pub fn bytes_received(&self) -> u64 {
        self.rcv.received()
    }

    /// Bytes of data that arrived in order and are unread, for [`read`](Self::read).
    #[must_use]
    pub fn unread(&self) -> u64 {
        self.rcv.unread()
    }

    /// The shift of the windows that this endpoint advertises (RFC 7323 section 2).
    #[must_use]
    pub fn window_shift(&self) -> u8 {
        self.rcv.shift
    }

    /// RCV.NXT as an offset in the peer's stream; its FIN counts as one.
    #[must_use]
    pub fn rcv_nxt(&self) -> u64 {
        self.rcv.nxt
    }

    /// The right edge of the window advertised, as an offset in the peer's stream.
    #[must_use]
    pub fn receive_window_edge(&self) -> u64 {
        self.rcv.edge
    }

    /// The stream offset of a segment that this endpoint has just sent: no segment is below SND.UNA.
    #[must_use]
    pub fn offset_of(&self, segment: &Segment) -> u64 {
        let ahead = segment.seq.distance_from(self.snd.seq(self.snd.una));
        self.snd.una.saturating_add_signed(i64::from(ahead))
    }

    /// The phase of loss recovery.
    #[must_use]
    pub fn recovery_phase(&self) -> RecoveryPhase {
        match &self.selective {
            None => self.rare.recovery.phase(),
            Some(selective) => selective.phase(),
        }
    }

    /// The counters.
    #[inline]
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// True in CLOSED: before [`open`](Self::open), and when the connection is over.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// True if the peer has closed its side and all its data has arrived. A server without further data then calls
    /// [`close`](Self::close).
    #[must_use]
    pub fn peer_has_closed(&self) -> bool {
        self.rcv.is_finished()
    }

    /// True if all queued data is acknowledged (a FIN may be outstanding).
    #[inline]
    #[must_use]
    pub fn all_acked(&self) -> bool {
        self.snd.una >= self.snd.queued
    }

    /// The time at which the connection became ESTABLISHED.
    #[must_use]
    pub fn established_at(&self) -> Option<Instant> {
        (self.rare.established_at != Instant::NEVER).then_some(self.rare.established_at)
    }
}
