//! The hosts of the emulation: network namespaces, each with a TUN device that carries all of its packets.

use super::frame::address;
use super::ids::{Id, NodeId};
use super::sockets::{Attached, Setting, set};
use crate::error::{LiveError, Result};
use crate::namespace::{Namespace, Rights};
use crate::route::{Existing, Metrics, go_through, set_queue_length};
use crate::system::{bring_up, open_tun, set_up_point_to_point};
use netlull_network::plan::{Plan, TcpPlan, Traffic};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};

/// The name of each host's device, in its own namespace.
const DEVICE: &str = "netlull";
/// The queue length of a device in packets: longer than any window.
const ROOM: u32 = 100_000;

/// A host.
#[derive(Debug)]
pub struct Host {
    /// Its node.
    pub node: NodeId,
    /// The namespace of its sockets.
    pub namespace: Namespace,
    tun: File,
    /// The namespace's original settings, if it was there before.
    _attached: Option<Attached>,
}

impl Host {
    /// Creates a handle of this host for another thread.
    ///
    /// # Errors
    /// If the limit of open files is reached.
    pub fn view(&self) -> Result<Self> {
        let tun = self.tun.try_clone().map_err(|error| LiveError::system("duplicating the handle of a host", error))?;
        Ok(Self { node: self.node, namespace: self.namespace.try_clone()?, tun, _attached: None })
    }

    /// Passes a packet to the host's kernel.
    ///
    /// # Errors
    /// If the device is gone.
    pub fn receives(&mut self, bytes: &[u8]) -> Result<()> {
        match self.tun.write(bytes) {
            // The kernel reports an invalid packet only by dropping it.
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
            Err(error) => Err(LiveError::system(format!("passing a packet to node {}", self.node.number()), error)),
        }
    }

    /// Takes the next packet that the host's kernel sends and returns its length; `None` if there is none.
    ///
    /// # Errors
    /// If the device is gone.
    pub fn sends(&mut self, into: &mut [u8]) -> Result<Option<usize>> {
        match self.tun.read(into) {
            Ok(len) => Ok(Some(len)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(LiveError::system(format!("taking a packet from node {}", self.node.number()), error)),
        }
    }

    /// The device, for polling.
    #[must_use]
    pub fn device(&self) -> &File {
        &self.tun
    }
}

/// Creates the hosts of a plan's flows. `attach` maps names of nodes to names of existing namespaces. A process without
/// root's rights creates them in a user namespace, and keeps the real-time `priority`; it must not have started a
/// thread yet.
///
/// # Errors
/// If the system refuses, flows of a host need different TCP settings, or a node does not exist.
pub fn hosts(plan: &Plan, attach: &BTreeMap<String, String>, priority: i32) -> Result<Vec<Host>> {
    for name in attach.keys() {
        if !plan.nodes.contains(name) {
            return Err(LiveError::new(format!(
                "--attach {name}: is not a node; expected one of {}",
                plan.nodes.join(", ")
            )));
        }
    }
    let mut wanted: BTreeMap<NodeId, Option<&TcpPlan>> = BTreeMap::new();
    for flow in &plan.flows {
        let (Traffic::Tcp { tcp, .. } | Traffic::Requests { tcp, .. }) = &flow.traffic else { continue };
        for node in [flow.from, flow.to].map(NodeId::numbered) {
            let before = wanted.entry(node).or_default();
            if before.is_some_and(|before| host_wide(before) != host_wide(tcp)) {
                let name = &plan.nodes[node.index()];
                let what = "timestamps, window scaling, SACK, ECN, initial windows or minimum timeouts that differ between flows";
                return Err(LiveError::new(format!(
                    "node {name}: has {what}; expected the same for all flows of a host"
                )));
            }
            *before = Some(tcp);
        }
    }
    for name in attach.keys() {
        let node = plan.nodes.iter().position(|node| node == name).unwrap_or_default();
        wanted.entry(NodeId::new(node)).or_default();
    }
    if let Some((node, name)) = attach.first_key_value()
        && Rights::given().is_none()
    {
        return Err(LiveError::new(format!(
            "--attach {node}={name}: the namespaces of `ip netns` need root; expected root, or no --attach"
        )));
    }
    if !wanted.is_empty() {
        Rights::take(priority)?;
    }
    wanted.into_iter().map(|(node, tcp)| host(plan, node, tcp, attach)).collect()
}

fn host(plan: &Plan, node: NodeId, tcp: Option<&TcpPlan>, attach: &BTreeMap<String, String>) -> Result<Host> {
    let name = &plan.nodes[node.index()];
    let in_host = |error| LiveError::system(format!("node {name}"), error);
    let device = |existing| {
        let tun = open_tun(DEVICE)?;
        bring_up("lo")?;
        set_queue_length(DEVICE, ROOM)?;
        set_up_point_to_point(DEVICE, address(node), plan.mtu)?;
        go_through(DEVICE, tcp.map_or_else(Metrics::default, metrics), existing)?;
        Ok(tun)
    };
    let asked = tcp.map(kernel_values).unwrap_or_default();
    let make = || {
        // Before the device exists: otherwise IPv6 would send packets when the device comes up.
        set(&always())?;
        set(&asked)?;
        device(Existing::Replace)
    };
    let take = || {
        set(&asked)?;
        device(Existing::Keep)
    };
    let (namespace, tun, attached) = match attach.get(name) {
        None => {
            let (namespace, tun) = Namespace::make(make).map_err(in_host)?;
            (namespace, tun, None)
        }
        Some(known) => {
            let namespace = Namespace::named(known).map_err(in_host)?;
            let attached = Attached::keep(known, &namespace, &asked).map_err(in_host)?;
            let tun = namespace.inside(take).map_err(in_host)?;
            (namespace, tun, Some(attached))
        }
    };
    Ok(Host { node, namespace, tun, _attached: attached })
}

/// The metrics of a host's route, which TCP obeys.
fn metrics(tcp: &TcpPlan) -> Metrics {
    Metrics { initial_window: Some(tcp.initial_window), least_rto: Some(tcp.min_rto) }
}

/// The settings that all connections of a host share.
fn host_wide(tcp: &TcpPlan) -> (Vec<Setting>, Metrics) {
    (kernel_values(tcp), metrics(tcp))
}

/// Settings for repeatable runs: TCP forgets earlier connections, and windows can reach any plan's buffer.
fn always() -> Vec<Setting> {
    vec![
        ("ipv4/tcp_no_metrics_save", "1".to_owned()),
        ("ipv4/tcp_rmem", "4096 1048576 1073741823".to_owned()),
        ("ipv4/tcp_wmem", "4096 1048576 1073741823".to_owned()),
        ("ipv6/conf/all/disable_ipv6", "1".to_owned()),
    ]
}

/// The TCP settings of a namespace.
fn kernel_values(tcp: &TcpPlan) -> Vec<Setting> {
    let switch = |on: bool| u8::from(on).to_string();
    vec![
        // With random offsets, as by default, or not at all.
        ("ipv4/tcp_timestamps", switch(tcp.timestamps)),
        ("ipv4/tcp_window_scaling", switch(tcp.window_scaling)),
        ("ipv4/tcp_sack", switch(tcp.sack)),
        ("ipv4/tcp_ecn", switch(tcp.ecn)),
    ]
}
