//! What mechanisms there are, for people: names, one-line descriptions, parameters with defaults and sources.

/// A mechanism as a user meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MechanismInfo {
    /// The name used in scenarios.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it is described.
    pub source: &'static str,
    /// Its parameters, in the order in which people set them.
    pub parameters: &'static [ParameterInfo],
}

/// One parameter of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterInfo {
    /// The field's name in the mechanism's configuration.
    pub name: &'static str,
    /// The unit or the choices.
    pub unit: &'static str,
    /// The default as it would be written in a scenario.
    pub default: &'static str,
    /// What it means, with the papers' symbol.
    pub meaning: &'static str,
    /// The paper that gives the default, or "reading" where the papers are silent.
    pub source: &'static str,
}

/// All mechanisms, in alphabetical order.
#[must_use]
pub const fn catalogue() -> &'static [MechanismInfo] {
    &[AWM, BSD, C_EARTH, CLIENT_SHAPER, EAGER, EARTH, ESACON, ESTOP, G_ROUTER, LOAD_AWARE, PRACTRA, PSM]
}

const fn parameter(
    name: &'static str,
    unit: &'static str,
    default: &'static str,
    meaning: &'static str,
    source: &'static str,
) -> ParameterInfo {
    ParameterInfo { name, unit, default, meaning, source }
}

const TARGET: ParameterInfo =
    parameter("target", "packets or data", "must be given", "T: the queue to keep", "g-router uses half of the buffer");
const BETA: ParameterInfo = parameter(
    "beta",
    "bit rate",
    "10 kb/s",
    "beta: how fast a queue off its target is corrected",
    "g-router section 3",
);
const FLOOR: ParameterInfo =
    parameter("floor", "data", "the MTU", "the least window suggested", "g-router equation (1)");
const INITIAL_WINDOW: ParameterInfo =
    parameter("initial_window", "data", "65535 B", "swnd at the start of the run", "reading");
const FLOWS: ParameterInfo = parameter(
    "flows",
    "linear_counting | fixed | printed",
    "linear_counting",
    "N: flows seen in 1 s by a map of 4096 bits, given, or equation (5)",
    "g-router section 2.3; reading",
);
const ACKNOWLEDGEMENTS: ParameterInfo =
    parameter("acknowledgements", "link", "the way back", "the link that brings the acknowledgements", "-");
const QUEUE: ParameterInfo =
    parameter("queue", "waiting | waiting_and_in_service", "waiting", "what q counts", "reading");
const IN_SERVICE: ParameterInfo = parameter(
    "in_service",
    "finish_then_pause | finish_while_pausing | suspend",
    "finish_then_pause",
    "what becomes of the packet being sent when the rate changes",
    "reading",
);
const TRANSITION_POWER: ParameterInfo =
    parameter("transition_power", "higher | new | old", "higher", "whose power a transition is charged", "reading");
const TRANSITION: ParameterInfo = parameter("transition", "time", "0 s", "nothing is sent after a change", "reading");

const AWM: MechanismInfo = MechanismInfo {
    name: "awm",
    summary: "writes smaller windows into acknowledgements, so that the queue of a link stays at its target",
    source: "g-router section 2.1 (Barbera et al., ICC 2007)",
    parameters: &[TARGET, BETA, FLOOR, INITIAL_WINDOW, FLOWS, ACKNOWLEDGEMENTS, QUEUE],
};

const EARTH: MechanismInfo = MechanismInfo {
    name: "earth",
    summary: "steps a link's rate down when its queue empties, up when it is about to overflow",
    source: "g-router section 1 (Panarello et al., e-Energy 2010), which characterises it and prints no rule",
    parameters: &[
        parameter("rates", "bit rates", "must be given", "r_1 < ... < r_n", "reading"),
        parameter("threshold", "packets or data", "must be given", "the queue that is about to overflow", "reading"),
        parameter("min_interval", "time", "100 ms", "least time between changes", "reading"),
        TRANSITION,
        QUEUE,
        parameter("initial_rate", "bit rate", "the highest", "rate at the start of the run", "reading"),
        IN_SERVICE,
        TRANSITION_POWER,
    ],
};

const C_EARTH: MechanismInfo = MechanismInfo {
    name: "c_earth",
    summary: "follows the queue with the rate of the link; windows pass as they are",
    source: "g-router section 2.2",
    parameters: &[
        parameter(
            "target",
            "packets or data",
            "must be given",
            "T: the queue that AWM would keep",
            "g-router uses half of the buffer",
        ),
        parameter(
            "round_trip",
            "fixed | handshake | timestamps",
            "must be given",
            "RTT: given, or measured on flows drawn by their segments",
            "g-router section 2.4; reading",
        ),
        parameter("min_rate", "bit rate", "must be given", "C_min; C_max is the link's rate", "reading"),
        parameter("initial_rate", "bit rate", "the link's", "C at the start of the run", "reading"),
        parameter("gamma", "0 < gamma < 1", "0.95", "gamma: C-EARTH's target is gamma T", "g-router section 3"),
        parameter("pace", "round_trip | event", "round_trip", "how often C is computed", "reading"),
        parameter("granularity", "bit rate", "1 kb/s", "C is set in whole multiples of this", "reading"),
        TRANSITION,
        parameter("acknowledgements", "link", "the way back", "the link on which RTT sees acknowledgements", "-"),
        QUEUE,
        IN_SERVICE,
        TRANSITION_POWER,
    ],
};

const LEAST_WAIT: ParameterInfo = parameter(
    "least_wait",
    "time",
    "3 ms",
    "the least silence that ends a burst, or after which data is acknowledged eagerly",
    "client-centered-2004 section III-A.1",
);

const CLIENT_SHAPER: MechanismInfo = MechanismInfo {
    name: "client_shaper",
    summary: "lets a station make bursts of a download by the windows it advertises, and its radio sleep between them",
    source: "client-centered-2004 section III (Yan et al., 2004)",
    parameters: &[
        LEAST_WAIT,
        parameter(
            "margin",
            "time",
            "0 s",
            "how much earlier than the least round trip asks for the radio wakes",
            "reading; the paper sleeps at the granularity of a millisecond",
        ),
        parameter(
            "growth",
            "1 to 2",
            "1.5",
            "slow start is over when a round has fewer packets than this times those of the round before",
            "reading; the paper: the packets received do not double",
        ),
        parameter(
            "patience",
            "bursts",
            "3",
            "bursts in a row with a packet missing, after which windows are left alone",
            "client-centered-2004 section III-B.1",
        ),
        parameter(
            "saturation",
            "above 0",
            "0.9",
            "the part of air rate x RTT from which on a burst saturates the wireless link",
            "client-centered-2004 section III-B.2",
        ),
        parameter(
            "saturated_bursts",
            "bursts",
            "3",
            "those in a row, after which windows are left alone",
            "client-centered-2004 section III-B.2",
        ),
        parameter(
            "eager",
            "true | false",
            "true",
            "acknowledge eagerly where windows are left alone too",
            "client-centered-2004 section III-B.4",
        ),
        parameter(
            "rtt_from",
            "any_echo | open_ack",
            "any_echo",
            "which data gives samples of RTT: all, or that which answers an open ACK",
            "client-centered-2004 section III-A.2; open_ack: own",
        ),
        parameter(
            "repair",
            "closed | as_they_are",
            "closed",
            "the windows of acknowledgements while a packet is missing",
            "client-centered-2004 section III-A; as_they_are: own",
        ),
        parameter(
            "paced_share",
            "above 0",
            "none: paced senders are not looked for",
            "a burst that takes longer than this part of RTT, and paced_stretch times its time on the air, is spread",
            "own",
        ),
        parameter("paced_stretch", "above 0", "2", "see paced_share; for rounds of slow start always 2", "own"),
        parameter("paced_bursts", "bursts", "3", "those in a row, after which windows are left alone", "own"),
        parameter(
            "paced_from",
            "bursts | slow_start",
            "bursts",
            "which packets show that a sender paces: those of bursts alone, or of the rounds of slow start too",
            "own",
        ),
    ],
};

const EAGER: MechanismInfo = MechanismInfo {
    name: "eager",
    summary: "lets a station acknowledge as soon as the sender falls silent; its radio stays awake",
    source: "client-centered-2004 section III-B.4, the paper's baseline",
    parameters: &[
        LEAST_WAIT,
        parameter(
            "longest_wait",
            "time",
            "40 ms",
            "the longest silence before that",
            "reading: the delayed acknowledgement of Linux 2.4",
        ),
    ],
};

const G_ROUTER: MechanismInfo = MechanismInfo {
    name: "g_router",
    summary: "AWM keeps the queue at its target; C-EARTH follows the queue with the rate of the link",
    source: "g-router section 2",
    parameters: &[
        TARGET,
        BETA,
        FLOOR,
        INITIAL_WINDOW,
        FLOWS,
        parameter(
            "round_trip",
            "fixed | printed | handshake | timestamps",
            "must be given",
            "RTT: given, equation (7), or measured on flows drawn by their segments",
            "g-router section 2.4; reading",
        ),
        parameter("min_rate", "bit rate", "must be given", "C_min; C_max is the link's rate", "reading"),
        parameter("initial_rate", "bit rate", "the link's", "C at the start of the run", "reading"),
        parameter("gamma", "0 < gamma < 1", "0.95", "gamma: C-EARTH's target is gamma T", "g-router section 3"),
        parameter("pace", "round_trip | event", "round_trip", "how often C is computed", "reading"),
        parameter("granularity", "bit rate", "1 kb/s", "C is set in whole multiples of this", "reading"),
        TRANSITION,
        ACKNOWLEDGEMENTS,
        QUEUE,
        IN_SERVICE,
        TRANSITION_POWER,
    ],
};

const PRACTRA: MechanismInfo = MechanismInfo {
    name: "practra",
    summary: "steps a link's rate up when the queue would break a delay bound, down when an empty queue's forecast allows",
    source: "Nedevschi et al., NSDI'08; intertwining-2012; troubled-marriage-2016 section II",
    parameters: &[
        parameter("rates", "bit rates", "must be given", "r_1 < ... < r_n", "intertwining-2012 uses 1..10 Mb/s"),
        parameter(
            "transition",
            "time",
            "must be given",
            "delta: nothing is sent after a change",
            "intertwining-2012 uses 2 ms",
        ),
        parameter(
            "min_interval",
            "time",
            "must be given",
            "mRCI: least time between changes",
            "intertwining-2012 uses 16 ms",
        ),
        parameter("delay_bound", "time", "must be given", "d: bound on queueing delay", "intertwining-2012 uses 40 ms"),
        parameter("forecast_weight", "0 < w <= 1", "0.25", "w: weight of the newest sample", "reading"),
        parameter("forecast_interval", "time", "min_interval", "length of a sample", "reading"),
        parameter(
            "forecast_start",
            "first_sample | zero",
            "first_sample",
            "forecast before the first sample",
            "reading",
        ),
        parameter("tick", "time", "none: every event", "test the rules on a tick of this length", "reading"),
        parameter("queue", "waiting | waiting_and_in_service", "waiting", "what q counts", "reading"),
        parameter("arrivals", "offered | accepted", "offered", "whether drops count as arrivals", "reading"),
        parameter(
            "steps",
            "adjacent | any",
            "adjacent",
            "how far a change goes: to a neighbour, or to the rate that the rules ask for",
            "the papers; any: asked for by intertwining-2012",
        ),
        parameter("initial_rate", "bit rate", "the highest", "rate at the start of the run", "reading"),
        parameter(
            "in_service",
            "finish_then_pause | finish_while_pausing | suspend",
            "finish_then_pause",
            "what becomes of the packet being sent when the rate changes",
            "reading; ns-2 finishes it at the old rate",
        ),
        parameter("transition_power", "higher | new | old", "higher", "whose power a transition is charged", "reading"),
    ],
};

const BEACON_PERIOD: ParameterInfo = parameter(
    "access_point.beacon_period",
    "time",
    "100 ms",
    "from one beacon of the access point to the next",
    "client-centered-2004 section IV-C",
);
const FIRST_BEACON: ParameterInfo =
    parameter("access_point.first_beacon", "time", "100 ms", "when the access point sends its first beacon", "reading");
const POLL: ParameterInfo = parameter(
    "access_point.poll",
    "all | one",
    "all",
    "what a poll brings: everything held, or one packet as in IEEE 802.11",
    "client-centered-2004 section IV-C",
);
const BUFFER: ParameterInfo = parameter(
    "access_point.buffer",
    "packets",
    "1000",
    "how many the access point holds for a station that dozes",
    "reading",
);
const PATIENCE: ParameterInfo = parameter(
    "access_point.patience",
    "time",
    "20 ms",
    "how old a burst's last packet may be for the burst to be still running when a beacon comes",
    "reading",
);

const BEACON_TIME: ParameterInfo = parameter(
    "access_point.beacon_time",
    "time",
    "1 ms",
    "how long a beacon is on the air",
    "reading; 0 in client-centered-2004",
);

const POLL_TIME: ParameterInfo = parameter(
    "access_point.poll_time",
    "time",
    "0.5 ms",
    "from a poll to the packet that it asks for",
    "client-centered-2004 section IV-C: less than 1 ms",
);

const PSM: MechanismInfo = MechanismInfo {
    name: "psm",
    summary: "lets a station's radio sleep but for beacons; the access point buffers and sends when polled",
    source: "client-centered-2004 section IV-C; IEEE 802.11 section 11.2",
    parameters: &[
        BEACON_PERIOD,
        FIRST_BEACON,
        parameter("listen_interval", "beacons", "1", "every how many-th beacon is heard", "client-centered-2004"),
        POLL,
        BEACON_TIME,
        POLL_TIME,
        BUFFER,
        PATIENCE,
    ],
};

const BSD: MechanismInfo = MechanismInfo {
    name: "bsd",
    summary: "keeps a station's radio awake after a request, then lets it sleep ever longer between beacons, so that no round trip \
              grows by more than a part of itself",
    source: "Krashinsky and Balakrishnan, MobiCom 2002; client-centered-2004 section II",
    parameters: &[
        parameter(
            "slowdown",
            "a number above 0",
            "0.5",
            "p: by how much of itself a round trip may be lengthened",
            "client-centered-2004 section II",
        ),
        BEACON_PERIOD,
        FIRST_BEACON,
        parameter(
            "longest_listen",
            "time",
            "0.9 s",
            "the longest time from one beacon heard to the next",
            "reading (the 2002 paper, from memory)",
        ),
        parameter(
            "request",
            "every_packet | data_only",
            "every_packet",
            "which packets sent are requests",
            "client-centered-2004 section II; data_only: reading",
        ),
        POLL,
        BEACON_TIME,
        POLL_TIME,
        BUFFER,
        PATIENCE,
    ],
};

const THRESHOLD: ParameterInfo = parameter(
    "threshold",
    "0 to 1",
    "must be given",
    "theta: the part of the initial algebraic connectivity that must be left",
    "greened-network-2012 uses 0.5..0.9",
);

const NODES: ParameterInfo =
    parameter("nodes", "names", "all", "the nodes that the plan knows, with the links between them", "reading");

const ESACON: MechanismInfo = MechanismInfo {
    name: "esacon",
    summary: "puts links to sleep, first those whose absence leaves most algebraic connectivity",
    source: "Cuomo et al., INFOCOM workshops 2011; the order's direction and ties are readings",
    parameters: &[THRESHOLD, NODES],
};

const ESTOP: MechanismInfo = MechanismInfo {
    name: "estop",
    summary: "puts links to sleep, first those on fewest shortest paths, while the graph stays connected well enough",
    source: "Cuomo et al., Computer Networks 56(10), 2012; greened-network-2012 section II",
    parameters: &[THRESHOLD, NODES],
};

const LOAD_AWARE: MechanismInfo = MechanismInfo {
    name: "load_aware",
    summary: "puts links to sleep, first those with least load, while no link's utilisation exceeds a bound",
    source: "netlull's own",
    parameters: &[
        parameter("bound", "0 < bound <= 1", "must be given", "the utilisation that no link may exceed", "own"),
        ParameterInfo { default: "0", ..THRESHOLD },
        parameter("tcp_rate", "bit rate", "0 b/s", "the load that each TCP flow counts for", "own"),
        NODES,
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::{PractRaConfig, RateSet};
    use netlull_units::BitRate;

    fn default_of(name: &str) -> &'static str {
        PRACTRA.parameters.iter().find(|p| p.name == name).unwrap().default
    }

    #[test]
    fn the_catalogue_tells_the_defaults_that_are_built() {
        let built = PractRaConfig::new(RateSet::from_list(&[BitRate::from_mbps(1)]).unwrap());
        assert!((default_of("forecast_weight").parse::<f64>().unwrap() - built.forecast_weight).abs() < 1e-15);
        let debug = format!("{:?}", (built.forecast_start, built.evaluate, built.queue, built.arrivals, built.steps));
        assert_eq!(debug, "(FirstSample, EveryEvent, Waiting, Offered, Adjacent)");
    }

    #[test]
    fn the_catalogue_tells_the_gateways_defaults() {
        use crate::gateway::{AwmConfig, CEarthConfig, FlowCountConfig};
        use netlull_units::{Bytes, Duration};
        let awm = AwmConfig::new(Bytes::new(1));
        assert_eq!((awm.beta, awm.initial_window), (BitRate::from_bps(10_000), Bytes::new(65_535)));
        let c_earth = CEarthConfig::new(BitRate::from_mbps(1), BitRate::from_mbps(2));
        assert_eq!(
            (c_earth.gamma, c_earth.granularity, c_earth.transition),
            (0.95, BitRate::from_bps(1000), Duration::ZERO)
        );
        let counting = FlowCountConfig::LinearCounting { interval: Duration::from_secs(1), bits: 4096 };
        assert_eq!(FlowCountConfig::default(), counting);
    }

    #[test]
    fn the_catalogue_tells_the_defaults_of_stations_that_doze() {
        use crate::radio::{AccessPointConfig, BsdConfig, Polling, PsmConfig, Requests};
        use netlull_units::Duration;
        let told = |mechanism: MechanismInfo, name| {
            mechanism.parameters.iter().find(|parameter| parameter.name == name).unwrap().default
        };
        let (psm, bsd, access) = (PsmConfig::default(), BsdConfig::default(), AccessPointConfig::default());
        assert_eq!(told(PSM, "access_point.beacon_period"), psm.beacon_period.to_string());
        assert_eq!(
            told(PSM, "access_point.first_beacon"),
            Duration::from_nanos(psm.first_beacon.as_nanos()).to_string()
        );
        assert_eq!(told(PSM, "listen_interval"), psm.listen_interval.to_string());
        assert_eq!(told(PSM, "access_point.patience"), psm.patience.to_string());
        assert_eq!(told(PSM, "access_point.buffer"), access.buffer.to_string());
        assert_eq!((psm.poll, bsd.poll, access.poll), (Polling::All, Polling::All, Polling::All));
        assert_eq!((psm.beacon_period, psm.first_beacon), (access.beacon_period, access.first_beacon));
        assert_eq!(told(BSD, "slowdown"), bsd.slowdown.to_string());
        assert_eq!((told(BSD, "longest_listen"), bsd.longest_listen), ("0.9 s", Duration::from_millis(900)));
        assert_eq!((told(BSD, "request"), bsd.request), ("every_packet", Requests::EveryPacket));
    }

    #[test]
    fn the_catalogue_tells_the_stations_defaults() {
        use crate::radio::{EagerConfig, PacedFrom, PacedGuard, RepairAcks, RttFrom, ShaperConfig};
        use netlull_units::Duration;
        let default = |of: &MechanismInfo, name| of.parameters.iter().find(|p| p.name == name).unwrap().default;
        let span = |of, name| default(of, name).parse::<Duration>().unwrap();
        let number = |name| default(&CLIENT_SHAPER, name).parse::<f64>().unwrap();
        let built = ShaperConfig::new(BitRate::from_mbps(20), Duration::from_millis(2));
        assert_eq!(span(&CLIENT_SHAPER, "least_wait"), built.least_wait);
        assert_eq!(span(&CLIENT_SHAPER, "margin"), built.margin);
        assert_eq!((number("growth"), number("saturation")), (built.growth, built.saturation));
        assert_eq!(number("patience"), f64::from(built.patience));
        assert_eq!(number("saturated_bursts"), f64::from(built.saturated_bursts));
        assert_eq!((built.eager, built.rtt_from, built.repair), (true, RttFrom::AnyEcho, RepairAcks::Closed));
        assert_eq!((built.paced, PacedFrom::default()), (None, PacedFrom::Bursts));
        assert_eq!(default(&CLIENT_SHAPER, "paced_from"), "bursts");
        assert_eq!(number("paced_stretch"), PacedGuard::STRETCH);
        let eager = EagerConfig::default();
        assert_eq!((span(&EAGER, "least_wait"), span(&EAGER, "longest_wait")), (eager.least_wait, eager.longest_wait));
    }

    #[test]
    fn names_are_unique_and_in_order() {
        assert!(catalogue().windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
