//! The ledger for the run's verifier. It is collected separately from the summary.

use super::phases::{ledgers, low_power_residency, transition_power};
use super::pool::Pool;
use super::stations::Station;
use super::world::World;
use crate::net::ids::{AgentId, FlowId, LinkId};
use crate::net::link::LinkCounters;
use crate::scenario::{AirSpec, FlowPath, Scenario, StationSpec, TransferSize};
use crate::verify::ledger::{AgentLedger, Ledger, RequestsLedger, TcpLedger};
use crate::verify::link::{LinkLedger, LowPowerLedger, SharedAirLedger, VariableLedger};
use crate::verify::station::{AirLedger, StationLedger};
use netlull_network::loss::LossModel;
use netlull_power::Traffic;
use netlull_units::Duration;
use std::borrow::Cow;

/// The verifier's ledger. `counters` are those of the links at the end.
pub(super) fn ledger<'a>(world: &'a World, scenario: &'a Scenario, counters: &'a [LinkCounters]) -> Ledger<'a> {
    let flows = scenario.flow_paths().enumerate().map(|(place, path)| (FlowId::new(place), path));
    let ends = |(flow, path): (FlowId, &FlowPath)| {
        [("sender", AgentId::sender(flow)), ("receiver", AgentId::receiver(flow))]
            .map(|(role, agent)| agent_ledger(world, agent, format!("{role} of {}", path.name)))
    };
    let mut agents: Vec<AgentLedger> = flows.flat_map(ends).collect();
    let mut links = Vec::with_capacity(world.net.links.len());
    for (index, (spec, link)) in scenario.links.iter().zip(&world.net.links).enumerate() {
        let mut held = (0, 0);
        for packet in link.packets(&world.net.store) {
            held.0 += 1;
            held.1 += u64::from(packet.size);
            agents[world.requests.flow_agent(packet.agent).index()].held += 1;
        }
        links.push(LinkLedger {
            name: Cow::Borrowed(&spec.name),
            from: spec.from,
            to: spec.to,
            max_rate: spec.rate,
            overhead: spec.overhead,
            buffer: spec.buffer,
            policer: match spec.loss.as_deref() {
                Some(LossModel::Policer(policer)) => Some(*policer),
                _ => None,
            },
            held,
            trace: spec.trace().cloned(),
            lateness_bound: spec.lateness_bound(),
            naps: world
                .rerouting
                .as_ref()
                .map_or(0, |rerouting| rerouting.naps_of(LinkId::new(index), world.net.now).len() as u64),
            variable: variable_ledger(world, scenario, index).map(Box::new),
            low_power: low_power_ledger(world, scenario, index).map(Box::new),
        });
    }
    let mut lost_at_nodes = match &world.rerouting {
        Some(rerouting) => rerouting.lost_at_nodes().to_vec(),
        None => vec![0; scenario.nodes.len()],
    };
    let mut kept_at_nodes = vec![0; scenario.nodes.len()];
    for station in world.stations.iter() {
        lost_at_nodes[station.node.index()] += station.counters.counts.missed_packets + station.counters.withheld_acks;
        lost_at_nodes[station.access_node.index()] += station.counters.counts.refused_packets;
        for (node, packet) in station.kept() {
            kept_at_nodes[node.index()] += 1;
            agents[world.requests.flow_agent(packet.agent).index()].held += 1;
        }
    }
    Ledger {
        end: world.net.now,
        measured_from: world.baseline.at,
        lost_at_nodes,
        kept_at_nodes,
        stations: world
            .stations
            .iter()
            .zip(&scenario.stations)
            .map(|(station, spec)| station_ledger(world, scenario, station, spec))
            .collect(),
        links,
        counters: Cow::Borrowed(counters),
        airs: scenario.airs.iter().enumerate().map(|(index, air)| air_ledger(scenario, index, air)).collect(),
        agents,
        tcp: FlowId::all(world.hosts.connections.len()).map(|flow| tcp_ledger(world, scenario, flow)).collect(),
        requests: world.requests.pools.iter().map(|pool| requests_ledger(world, pool)).collect(),
    }
}

fn air_ledger(scenario: &Scenario, index: usize, air: &AirSpec) -> SharedAirLedger {
    let links = scenario.links.iter().enumerate().filter(|(_, link)| link.air == Some(index));
    SharedAirLedger { name: air.name.clone(), overhead: air.overhead, links: links.map(|(link, _)| link).collect() }
}

fn station_ledger(world: &World, scenario: &Scenario, station: &Station, spec: &StationSpec) -> StationLedger {
    let up = world.net.links[LinkId::new(spec.up)].counters(world.net.now);
    StationLedger {
        name: scenario.nodes[spec.node].clone(),
        times: station.radio.times(world.net.now, None),
        came: world.net.links[LinkId::new(spec.down)].counters(world.net.now).delivered_packets,
        received: station.counters.counts.received_packets,
        missed: station.counters.counts.missed_packets,
        down: AirLedger {
            rate: scenario.links[spec.down].rate,
            packets: station.counters.counts.received_packets + station.counters.counts.beacons,
            bytes: station.counters.received_bytes,
            beacons: station.beacons_heard(),
        },
        up: AirLedger {
            rate: scenario.links[spec.up].rate,
            packets: up.offered_packets - up.dropped_packets + station.counters.frames,
            bytes: up.offered_bytes - up.dropped_bytes + station.counters.frame_bytes,
            beacons: Duration::ZERO,
        },
        delivered_bytes: up.delivered_bytes,
    }
}

fn variable_ledger<'a>(world: &'a World, scenario: &Scenario, index: usize) -> Option<VariableLedger<'a>> {
    let spec = &scenario.links[index];
    let variable = world.net.links[index].variable()?;
    Some(VariableLedger {
        log: Cow::Borrowed(variable.log()),
        effective: Cow::Borrowed(variable.effective()),
        sent_bytes: variable.sent_bytes(),
        largest_packet: variable.largest_packet(),
        residency: variable.line.meter().finish(world.net.now),
        transition_power: transition_power(spec),
        power: scenario.power.iter().map(|power| power.of(index, spec)).collect(),
        in_service: spec.control.as_ref().map(|control| control.in_service),
        idle: variable.idle_time(world.net.now),
        pause_due: variable.line.pause_due(),
    })
}

fn low_power_ledger(world: &World, scenario: &Scenario, index: usize) -> Option<LowPowerLedger> {
    let spec = &scenario.links[index];
    let (config, control) = (spec.low_power()?, spec.control.as_ref()?);
    let whole = *world.low_power().get(&index)?;
    let measured = whole.since(&world.baseline.low_power.get(&index).copied().unwrap_or_default());
    let residency = low_power_residency(&measured, spec.rate);
    let ledgers = ledgers(scenario, index, &residency, Traffic::default(), Some(&measured));
    Some(LowPowerLedger {
        naps: control.naps.clone(),
        hysteresis: config.hysteresis(control.link).ok()?,
        is_coupled: config.is_coupled(),
        whole,
        measured,
        transitions: config.transitions(control.link).ok()?,
        shares: config.shares(),
        power: scenario.power.iter().map(|power| power.of(index, spec)).collect(),
        reported: ledgers.iter().map(|[energy, _]| energy.total().as_f64()).collect(),
    })
}

fn agent_ledger(world: &World, agent: AgentId, name: String) -> AgentLedger {
    let (agent, peer) = (&world.hosts.agents[agent.index()], &world.hosts.agents[agent.peer().index()]);
    AgentLedger {
        name,
        node: agent.node.index(),
        sent: agent.counters.sent_packets,
        addressed: peer.counters.sent_packets,
        received: agent.counters.received_packets,
        dropped: agent.counters.dropped_packets,
        held: 0,
    }
}

fn requests_ledger(world: &World, pool: &Pool) -> RequestsLedger {
    let (opened, counted_open) = pool.opened();
    let open = pool.open_places().map(|(index, place)| TcpLedger {
        name: format!("{}, connection {index}", pool.name),
        acknowledged: place.sender.bytes_acked(),
        delivered: place.receiver.bytes_delivered(),
        sent: place.sender.counters().bytes_sent - place.sender.counters().retransmitted_bytes,
        size: Some(place.size),
    });
    let kept = world.stations.iter().flat_map(|station| station.kept().map(|(_, packet)| *packet));
    let packets = world.net.packets().map(|(_, packet)| packet).chain(kept);
    let held = packets.filter(|packet| world.requests.owns(pool, packet.agent)).count() as u64;
    RequestsLedger {
        name: pool.name.clone(),
        opened,
        counted_open: u64::from(counted_open),
        retired: pool.retired.connections,
        incomplete: pool.retired.incomplete,
        on_way: pool.places.iter().map(|place| u64::from(place.on_way)).sum(),
        held,
        open: open.collect(),
    }
}

fn tcp_ledger(world: &World, scenario: &Scenario, flow: FlowId) -> TcpLedger {
    let [sender, receiver] =
        [AgentId::sender(flow), AgentId::receiver(flow)].map(|agent| &world.hosts.endpoints[agent.index()]);
    let connection = &world.hosts.connections[flow.index()];
    let written = connection.application.as_ref().and_then(|application| application.written());
    TcpLedger {
        name: scenario.tcp_flows[flow.index()].path.name.clone(),
        acknowledged: sender.bytes_acked(),
        delivered: receiver.bytes_delivered(),
        sent: sender.counters().bytes_sent - sender.counters().retransmitted_bytes,
        size: written.or(match connection.size {
            TransferSize::Endless => None,
            TransferSize::Bytes(bytes) => Some(bytes.as_u64()),
        }),
    }
}
