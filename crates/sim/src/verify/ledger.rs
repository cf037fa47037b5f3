//! The ledger of a run, and the checks of its sums.
//!
//! The ledger contains the run's own counts and logs from independent sources: offered against arrived packets,
//! decided against actual changes, a meter against a log. A wrong count contradicts the others.

use super::Findings;
use super::link::{self, LinkLedger, SharedAirLedger};
use super::station::{self, StationLedger};
use crate::net::link::LinkCounters;
use netlull_units::Instant;
use std::borrow::Cow;

/// The counts and logs of a run for its verifier.
#[derive(Clone, Debug)]
pub struct Ledger<'a> {
    /// End of the run.
    pub end: Instant,
    /// Start of the energy meters' measured time.
    pub measured_from: Instant,
    /// For each node, the packets lost there: without a route, or with too many hops.
    pub lost_at_nodes: Vec<u64>,
    /// For each node, the packets there at the end and not on a link: held by a waking radio or by an access point.
    pub kept_at_nodes: Vec<u64>,
    /// The ledgers of stations.
    pub stations: Vec<StationLedger>,
    /// The ledgers of links.
    pub links: Vec<LinkLedger<'a>>,
    /// The counts of each link since the start.
    pub counters: Cow<'a, [LinkCounters]>,
    /// The ledgers of shared airs.
    pub airs: Vec<SharedAirLedger>,
    /// The ledgers of senders and receivers.
    pub agents: Vec<AgentLedger>,
    /// The ledgers of TCP connections.
    pub tcp: Vec<TcpLedger>,
    /// The ledgers of request flows.
    pub requests: Vec<RequestsLedger>,
}

/// A sender's or receiver's ledger.
#[derive(Clone, Debug, Default)]
pub struct AgentLedger {
    /// Flow and role, for messages.
    pub name: String,
    /// The agent's node.
    pub node: usize,
    /// Packets sent.
    pub sent: u64,
    /// Packets addressed to it.
    pub addressed: u64,
    /// Packets received.
    pub received: u64,
    /// Packets to it that queues dropped or links lost.
    pub dropped: u64,
    /// Packets to it found on links at the end.
    pub held: u64,
}

/// A TCP connection's ledger, in bytes of the stream from sender to receiver.
#[derive(Clone, Debug, Default)]
pub struct TcpLedger {
    /// The name of the flow.
    pub name: String,
    /// Acknowledged bytes.
    pub acknowledged: u64,
    /// Bytes delivered to the receiver's application, in order.
    pub delivered: u64,
    /// Bytes ever sent, counted once.
    pub sent: u64,
    /// The amount of data of the application, if limited.
    pub size: Option<u64>,
}

/// The ledger of a flow of requests.
#[derive(Clone, Debug, Default)]
pub struct RequestsLedger {
    /// The name of the flow.
    pub name: String,
    /// Opened connections.
    pub opened: u64,
    /// Open connections, as counted.
    pub counted_open: u64,
    /// Finished connections.
    pub retired: u64,
    /// Finished connections that did not send, deliver and acknowledge every byte exactly once.
    pub incomplete: u64,
    /// Packets of its connections on links, as counted. The count determines when a slot is free.
    pub on_way: u64,
    /// Packets of its connections found on links at the end.
    pub held: u64,
    /// Open connections found at the end.
    pub open: Vec<TcpLedger>,
}

/// Checks the whole ledger.
#[must_use]
pub fn check(ledger: &Ledger<'_>) -> Findings {
    let mut findings = Findings::default();
    for (link, counters) in ledger.links.iter().zip(&*ledger.counters) {
        link::check(&mut findings, link, counters, ledger);
    }
    for air in &ledger.airs {
        link::air_carries_one_packet_at_a_time(&mut findings, air, ledger);
    }
    for agent in &ledger.agents {
        let found = agent.received + agent.dropped + agent.held;
        findings.check(agent.addressed == found, &agent.name, || {
            format!(
                "{} packets were sent to it, but {} received + {} dropped + {} on links = {found}",
                agent.addressed, agent.received, agent.dropped, agent.held
            )
        });
    }
    nodes_forward_everything(&mut findings, ledger);
    for station in &ledger.stations {
        station::check(&mut findings, station, ledger.end);
    }
    for tcp in &ledger.tcp {
        tcp_delivers_what_was_sent(&mut findings, tcp);
    }
    for requests in &ledger.requests {
        every_connection_is_accounted_for(&mut findings, requests);
        for tcp in &requests.open {
            tcp_delivers_what_was_sent(&mut findings, tcp);
        }
    }
    findings
}

fn nodes_forward_everything(findings: &mut Findings, ledger: &Ledger<'_>) {
    /// Packets that arrived at a node or were sent by agents there, and packets that left it or were received by
    /// agents there.
    #[derive(Clone, Copy, Default)]
    struct Balance {
        arrived: u64,
        sent: u64,
        left: u64,
        received: u64,
    }
    // A lost packet has arrived at the node and does not leave it.
    let mut nodes = vec![Balance::default(); ledger.lost_at_nodes.len()];
    for (link, counters) in ledger.links.iter().zip(&*ledger.counters) {
        nodes[link.to].arrived += counters.delivered_packets;
        nodes[link.from].left += counters.offered_packets;
    }
    for agent in &ledger.agents {
        nodes[agent.node].sent += agent.sent;
        nodes[agent.node].received += agent.received;
    }
    let gone = ledger.lost_at_nodes.iter().zip(&ledger.kept_at_nodes);
    for (node, (Balance { arrived, sent, left, received }, (lost, kept))) in nodes.into_iter().zip(gone).enumerate() {
        findings.check(arrived + sent == left + received + lost + kept, &format!("node {node}"), || {
            format!(
                "{arrived} packets came and {sent} were sent here, but {left} left, {received} stayed, {kept} are kept and {lost} were lost"
            )
        });
    }
}

fn every_connection_is_accounted_for(findings: &mut Findings, requests: &RequestsLedger) {
    let (name, open) = (&requests.name, requests.open.len() as u64);
    findings.check(requests.opened == requests.retired + open && open == requests.counted_open, name, || {
        format!(
            "{} connections were opened, but {} are over and {open} are open, which were counted as {}",
            requests.opened, requests.retired, requests.counted_open
        )
    });
    findings.check(requests.incomplete == 0, name, || {
        format!("{} of its connections ended without delivering all requested data", requests.incomplete)
    });
    findings.check(requests.on_way == requests.held, name, || {
        format!("{} of its packets are on their way, but {} are on links", requests.on_way, requests.held)
    });
}

fn tcp_delivers_what_was_sent(findings: &mut Findings, tcp: &TcpLedger) {
    findings.check(tcp.acknowledged <= tcp.delivered, &tcp.name, || {
        format!("{} bytes are acknowledged, but {} were delivered", tcp.acknowledged, tcp.delivered)
    });
    findings.check(tcp.delivered <= tcp.sent, &tcp.name, || {
        format!("{} bytes were delivered, but {} were sent", tcp.delivered, tcp.sent)
    });
    findings.check(tcp.size.is_none_or(|size| tcp.sent <= size), &tcp.name, || {
        format!("{} bytes were sent of a transfer of {:?}", tcp.sent, tcp.size)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::transmitter::{EffectiveRate, IdleTime, InService, RateLogEntry};
    use crate::verify::link::{LowPowerLedger, VariableLedger};
    use netlull_mechanism::link::LowPowerTimes;
    use netlull_network::loss::Policer;
    use netlull_network::queue::Buffer;
    use netlull_network::trace::Trace;
    use netlull_power::{EnergyMeter, PowerModel, TransitionPower};
    use netlull_units::{BitRate, Duration};
    use std::sync::Arc;

    fn counters() -> LinkCounters {
        LinkCounters {
            offered_packets: 10,
            offered_bytes: 10_000,
            dropped_packets: 2,
            dropped_bytes: 2_000,
            delivered_packets: 7,
            delivered_bytes: 7_000,
            most_waiting: 3,
            ..LinkCounters::default()
        }
    }

    /// A run without errors: of 10 packets from node 0 to node 1, 7 arrived, 2 were dropped, and 1 is held.
    fn sound() -> Ledger<'static> {
        let (start, end) = (Instant::ZERO, Instant::from_nanos(1_000_000_000));
        let (fast, slow) = (BitRate::from_mbps(10), BitRate::from_mbps(5));
        let change = Instant::from_nanos(500_000_000);
        let (pause, idle) = (Duration::from_millis(2), IdleTime::default());
        let mut meter = EnergyMeter::new(start, fast);
        meter.rate_changed(change, slow, pause);
        let variable = VariableLedger {
            log: Cow::Owned(vec![
                RateLogEntry { at: start, rate: fast, pause: Duration::ZERO, sent_bytes: 0 },
                RateLogEntry { at: change, rate: slow, pause, sent_bytes: 6_000 },
            ]),
            effective: Cow::Owned(vec![
                EffectiveRate { at: start, rate: fast, pause: Duration::ZERO, sent_bytes: 0, idle },
                EffectiveRate { at: change, rate: slow, pause, sent_bytes: 6_000, idle },
            ]),
            sent_bytes: 7_000,
            largest_packet: 1_000,
            residency: meter.finish(end),
            transition_power: TransitionPower::Higher,
            power: vec![PowerModel::by_name("fs").unwrap(), PowerModel::by_name("dvs").unwrap()],
            in_service: Some(InService::FinishThenPause),
            idle,
            pause_due: Duration::ZERO,
        };
        Ledger {
            end,
            measured_from: start,
            lost_at_nodes: vec![0, 0],
            kept_at_nodes: vec![0, 0],
            stations: Vec::new(),
            links: vec![LinkLedger {
                name: Cow::Borrowed("a-b"),
                from: 0,
                to: 1,
                max_rate: fast,
                overhead: 0,
                buffer: Buffer::Packets(3),
                policer: None,
                trace: None,
                held: (1, 1_000),
                lateness_bound: Some(Duration::from_millis(5)),
                naps: 0,
                variable: Some(Box::new(variable)),
                low_power: None,
            }],
            counters: Cow::Owned(vec![counters()]),
            airs: vec![SharedAirLedger { name: "ap".to_owned(), overhead: Duration::ZERO, links: vec![0, 0] }],
            agents: vec![
                AgentLedger { name: "sender".to_owned(), node: 0, sent: 10, ..AgentLedger::default() },
                AgentLedger {
                    name: "receiver".to_owned(),
                    node: 1,
                    addressed: 10,
                    received: 7,
                    dropped: 2,
                    held: 1,
                    ..AgentLedger::default()
                },
            ],
            tcp: vec![TcpLedger {
                name: "t".to_owned(),
                acknowledged: 6_000,
                delivered: 7_000,
                sent: 10_000,
                size: Some(10_000),
            }],
            requests: vec![RequestsLedger {
                name: "r".to_owned(),
                opened: 5,
                counted_open: 1,
                retired: 4,
                incomplete: 0,
                on_way: 2,
                held: 2,
                open: vec![TcpLedger {
                    name: "r, connection 3".to_owned(),
                    sent: 10,
                    size: Some(20),
                    ..TcpLedger::default()
                }],
            }],
        }
    }

    #[test]
    fn a_sound_ledger_passes() {
        let findings = check(&sound());
        assert_eq!(findings.violations(), []);
        assert!(findings.checks() > 12);
    }

    #[test]
    fn every_rule_finds_its_violation() {
        let found = |spoil: &dyn Fn(&mut Ledger<'static>)| {
            let mut ledger = sound();
            spoil(&mut ledger);
            check(&ledger).violations().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        };
        let has = |text: &str, spoil: &dyn Fn(&mut Ledger<'static>)| {
            let message = found(spoil);
            assert!(message.contains(text), "{text:?} not in {message:?}");
        };
        has("a-b: 10 packets were offered", &|ledger| ledger.links[0].held.0 = 0);
        has("a-b: 10000 bytes were offered", &|ledger| ledger.counters.to_mut()[0].delivered_bytes -= 1);
        has("a-b: 4 waited, but the buffer holds 3 packets", &|ledger| ledger.counters.to_mut()[0].most_waiting = 4);
        has("a-b: 3001 waited, but the buffer holds 3000 B", &|ledger| {
            ledger.links[0].buffer = Buffer::Bytes(netlull_units::Bytes::new(3_000));
            ledger.counters.to_mut()[0].most_waiting_bytes = 3_001;
        });
        has(
            "a-b: a packet left 5.000001 ms later than at the highest rate; its controller guarantees 5 ms",
            &|ledger| {
                ledger.counters.to_mut()[0].largest_lateness_ns = 5_000_001;
            },
        );
        has("a-b: its policer has passed 10000 bytes since 0 s, more than 999 B and 72 kb/s", &|ledger| {
            // 72 kb/s give 9,000 B in the second of the run.
            let (rate, burst) = (BitRate::from_bps(72_000), netlull_units::Bytes::new(999));
            ledger.links[0].policer = Some(Policer { rate, burst, start: Duration::ZERO });
        });
        has("a-b: delivered 7028 bytes with their headers, more than 4 opportunities carry", &|ledger| {
            ledger.links[0].variable = None;
            // 4 x 1504 B in a second.
            ledger.links[0].trace = Trace::new(vec![250]).map(Arc::new);
        });
        has("a-b: 2 packets were dropped, of them 3", &|ledger| ledger.counters.to_mut()[0].managed_drops = 3);
        has("a-b: 9 packets were marked, but delivered + stranded + held = 8", &|ledger| {
            ledger.counters.to_mut()[0].marked_packets = 9;
        });
        has("delivered 7000 bytes in", &|ledger| {
            ledger.links[0].variable = None;
            ledger.links[0].max_rate = BitRate::from_bps(55_999);
        });
        // 2 x 7 packets of 71 ms, and 2 x 5.6 ms for their bits at 10 Mb/s.
        has("ap: its links sent for 1005200000 ns, but the run ends at 1.000000000 s", &|ledger| {
            ledger.airs[0].overhead = Duration::from_millis(71);
        });
        has("a-b: its queue has 7 packet ns; expected 8 (ended waits) to 3000000000 (longest queue)", &|ledger| {
            let counters = &mut ledger.counters.to_mut()[0];
            (counters.waited_ns, counters.waited_in_vain_ns, counters.queued_ns) = (5, 3, 7);
        });
        has("expected 0 (ended waits) to 3000000000 (longest queue)", &|ledger| {
            ledger.counters.to_mut()[0].queued_ns = 3_000_000_001;
        });
        has("a-b: sent 6000 bytes up to 0.500000000 s, but carries 625000 bytes while it is not idle", &|ledger| {
            // 10 Mb/s for 0.5 s without an idle time.
            ledger.links[0].variable.as_mut().unwrap().in_service = None;
        });
        has("more than 5 Mb/s carries outside a pause of 2 ms", &|ledger| {
            // 5 Mb/s for 0.5 s less 2 ms is 311,250 B, and the packet before had finished. An extra byte is too many.
            ledger.links[0].variable.as_mut().unwrap().sent_bytes = 6_000 + 311_251;
        });
        has("its changes cost 2 ms of pauses, but it paused for 0 s", &|ledger| {
            ledger.links[0].variable.as_mut().unwrap().effective.to_mut()[1].pause = Duration::ZERO;
        });
        has("its changes cost 4 ms of pauses, but it paused for 2 ms", &|ledger| {
            let log = ledger.links[0].variable.as_mut().unwrap().log.to_mut();
            log.push(RateLogEntry { sent_bytes: 6_500, ..log[1] });
        });
        has("its last change was to 6 Mb/s, but it runs at 5 Mb/s", &|ledger| {
            ledger.links[0].variable.as_mut().unwrap().log.to_mut()[1].rate = BitRate::from_mbps(6);
        });
        has("its rate log goes back", &|ledger| {
            ledger.links[0].variable.as_mut().unwrap().effective.to_mut()[1].sent_bytes = 8_000;
        });
        has("its meter holds", &|ledger| {
            ledger.links[0].variable.as_mut().unwrap().effective.to_mut()[1].at = Instant::from_nanos(500_000_001);
        });
        has("but power integrates to", &|ledger| {
            ledger.links[0].variable.as_mut().unwrap().effective.to_mut()[1].pause = Duration::from_millis(3);
        });
        has("receiver: 10 packets were sent to it", &|ledger| ledger.agents[1].dropped = 1);
        has("node 1: 7 packets came", &|ledger| ledger.agents[1].sent = 1);
        has("t: 8000 bytes are acknowledged", &|ledger| ledger.tcp[0].acknowledged = 8_000);
        has("t: 7000 bytes were delivered, but 6999", &|ledger| ledger.tcp[0].sent = 6_999);
        has("of a transfer of", &|ledger| ledger.tcp[0].size = Some(9_999));
        has("node 1: 7 packets came", &|ledger| ledger.kept_at_nodes[1] = 1);
        has("r: 6 connections were opened, but 4 are over and 1 are open", &|ledger| ledger.requests[0].opened = 6);
        has("1 are open, which were counted as 2", &|ledger| ledger.requests[0].counted_open = 2);
        has("r: 1 of its connections ended without", &|ledger| ledger.requests[0].incomplete = 1);
        has("r: 1 of its packets are on their way, but 2 are on links", &|ledger| ledger.requests[0].on_way = 1);
        has("r, connection 3: 11 bytes were delivered, but 10", &|ledger| ledger.requests[0].open[0].delivered = 11);
    }

    #[test]
    fn every_rule_of_low_power_idle_finds_its_violation() {
        // 10 Mb/s: the 8,000 B of the packets take 6.4 ms. It wakes twice in 1 s and falls asleep once, after 3 ms.
        let (sleep, wake, hysteresis) = (Duration::from_millis(2), Duration::from_millis(4), Duration::from_millis(3));
        let whole = LowPowerTimes {
            awake_ns: 10_000_000,
            entering_ns: 2_000_000,
            asleep_ns: 980_000_000,
            waking_ns: 8_000_000,
            sleeps: 1,
            wakes: 2,
            ..LowPowerTimes::default()
        };
        let (mut low, power) = (sound(), vec![PowerModel::by_name("fs").unwrap()]);
        low.links[0].variable = None;
        low.links[0].low_power = Some(Box::new(LowPowerLedger {
            naps: None,
            hysteresis,
            is_coupled: false,
            whole,
            measured: whole,
            transitions: [sleep, Duration::ZERO, wake, Duration::ZERO],
            shares: (0.1, 0.7),
            power,
            // 1 W for 20 ms, 0.1 W for 980 ms.
            reported: vec![0.118],
        }));
        assert_eq!(check(&low).violations(), []);
        let has = |text: &str, spoil: &dyn Fn(&mut LowPowerLedger)| {
            let mut ledger = low.clone();
            ledger.links[0].low_power.as_mut().map(|low| spoil(low)).unwrap();
            let message = check(&ledger).violations().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
            assert!(message.contains(text), "{text:?} not in {message:?}");
        };
        has("its states of low-power idle last 1000000001 ns; the run lasts 1000000000", &|low| {
            low.whole.asleep_ns += 1;
        });
        has("its transitions take 12000000 ns, but it spent 7999999 ns in them", &|low| {
            low.whole.wakes = 3;
            low.whole.waking_ns -= 1;
        });
        has("it woke 3 times, but fell asleep 1 times", &|low| low.whole.wakes = 3);
        // 7,000 B have arrived: 5.6 ms, and 5 ms of hysteresis; a nanosecond for each rounded time.
        has("was awake for 10000000 ns; 7000 bytes and 1 times of 5 ms take 10600000 ns", &|low| {
            low.hysteresis = Duration::from_millis(5);
        });
        // At most 6.4 ms and eight packets and two times of waking.
        has("was awake for 10000000 ns; 8 packets keep it awake for at most 7400010 ns", &|low| {
            low.hysteresis = Duration::from_micros(100);
        });
        has("energy is 0.119 J, but its times in low-power idle give 0.118", &|low| low.reported = vec![0.119]);
    }

    #[test]
    fn a_measurement_that_starts_late_is_integrated_from_there() {
        let mut ledger = sound();
        ledger.measured_from = Instant::from_nanos(750_000_000);
        ledger.links[0].variable.as_mut().unwrap().residency =
            EnergyMeter::new(ledger.measured_from, BitRate::from_mbps(5)).finish(ledger.end);
        assert_eq!(check(&ledger).violations(), []);
    }
}
