//! Counters of an endpoint.

/// Totals since the creation of the endpoint. Segments and bytes of data count at each transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Counters {
    /// Segments sent that repeat data or a FIN.
    pub retransmitted_segments: u64,
    /// Bytes of data retransmitted.
    pub retransmitted_bytes: u64,
    /// Expirations of the retransmission timer, in the handshake too.
    pub timeouts: u64,
    /// Entries into fast recovery.
    pub fast_retransmits: u64,
    /// Fast recoveries that proved needless.
    pub undone_fast_retransmits: u64,
    /// Timeouts that proved needless.
    pub undone_timeouts: u64,
    /// Partial acknowledgements in fast recovery.
    pub partial_acks: u64,
    /// Duplicate acknowledgements received.
    pub duplicate_acks: u64,
    /// Tail loss probes sent (RFC 8985 section 7).
    pub tail_probes: u64,
    /// Reductions of the window for ECN echoes (RFC 3168 section 6.1.2).
    pub echo_reductions: u64,
    /// Zero-window probes sent.
    pub zero_window_probes: u64,
    /// Restarts after idling that lowered the congestion window.
    pub idle_restarts: u64,
    /// Data segments received with a congestion mark, on connections that use ECN.
    pub marks_received: u64,
    /// Data segments received ahead of a gap.
    pub out_of_order_segments: u64,
    /// Data segments received without new data.
    pub duplicate_segments: u64,
    /// Segments refused: outside the window, or older than their timestamps allow.
    pub refused_segments: u64,
    // The counters that nearly every segment changes come last: they share a cache line of the endpoint with similar
    // fields.
    /// Segments with data sent, including retransmissions and probes.
    pub data_segments_sent: u64,
    /// Bytes of data sent, including retransmissions and probes.
    pub bytes_sent: u64,
    /// Segments sent with an acknowledgement only.
    pub acks_sent: u64,
}
