//! Difficult cases of restoring the former root queue.

use super::net::{Network, command, is_bfifo};
use super::{EARTH, Instance, LINK, pids, router, text, wait_until};
use netlull_live::netlink::Socket;
use netlull_live::router::qdisc::{self, Device};

#[test]
fn a_device_that_was_renamed_gets_its_queue_back() {
    let Some(network) = Network::for_test() else { return };
    let router = &network.router;
    network.put_bfifo();
    let instance = Instance::start(&network, EARTH);
    assert!(network.saved().is_some());
    command(&format!("ip -n {router} link set far down"));
    command(&format!("ip -n {router} link set far name away"));
    command(&format!("ip -n {router} link add far type veth peer name farther"));
    let ended = instance.end();
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    let shown = command(&format!("tc -n {router} qdisc show dev away"));
    assert!(is_bfifo(&shown), "{shown}");
    assert!(network.saved().is_none());
}

#[test]
fn a_queue_that_is_refused_leaves_the_kernels_own() {
    let Some(network) = Network::for_test() else { return };
    network.put_bfifo();
    let instance = Instance::start(&network, EARTH);
    let saved = network.saved().unwrap();
    let written = std::fs::read_to_string(&saved).unwrap();
    assert!(written.contains("\"bfifo\""), "{written}");
    std::fs::write(&saved, written.replace("\"bfifo\"", "\"nl_unknown\"")).unwrap();
    let ended = instance.end();
    assert!(!ended.status.success());
    let said = text(&ended.stderr);
    assert!(
        said.contains("restoring the queue nl_unknown of far; the kernel's default queue is installed instead"),
        "{said}"
    );
    assert!(network.queue().contains("qdisc noqueue"), "{}", network.queue());
    assert!(network.saved().is_none());
    wait_until("the watch is gone", || pids(&network).is_empty());
}

#[test]
fn a_queue_that_somebody_has_put_in_place_is_left_alone() {
    let Some(network) = Network::for_test() else { return };
    let instance = Instance::start(&network, EARTH);
    command(&format!("tc -n {} qdisc replace dev far root handle 9: bfifo limit 77777", network.router));
    let ended = instance.wait();
    assert!(!ended.status.success());
    let said = text(&ended.stderr);
    assert!(said.contains("another program has replaced the queue of far; it is left unchanged"), "{said}");
    assert!(is_bfifo(&network.queue()), "{}", network.queue());
    assert!(network.saved().is_none());
    wait_until("the watch is gone", || pids(&network).is_empty());
}

#[test]
fn an_instance_does_not_go_on_without_its_watch() {
    let Some(network) = Network::for_test() else { return };
    network.put_bfifo();
    let instance = Instance::start(&network, EARTH);
    command(&format!("kill -KILL {}", instance.watch()));
    let ended = instance.wait();
    assert!(!ended.status.success());
    assert!(text(&ended.stderr).contains("the guard is gone"), "{}", text(&ended.stderr));
    assert!(is_bfifo(&network.queue()), "{}", network.queue());
    assert!(network.saved().is_none());
}

#[test]
fn devices_of_two_namespaces_may_have_the_same_name() {
    let (Some(mut one), Some(other)) = (Network::for_test(), Network::for_test()) else { return };
    let own = std::mem::replace(&mut one.state, other.state.clone());
    let first = Instance::start(&one, EARTH);
    let second = Instance::start(&other, EARTH);
    for network in [&one, &other] {
        let status = router(network, "status --dev far").output().unwrap();
        assert!(status.status.success(), "{}", text(&status.stderr));
    }
    for instance in [first, second] {
        let ended = instance.end();
        assert!(ended.status.success(), "{}", text(&ended.stderr));
    }
    one.state = own;
}

/// The error of a refused instance.
fn refusal(network: &Network) -> String {
    let before = configured(&network.queue());
    let refused = router(network, &format!("run {LINK} --mechanism awm")).output().unwrap();
    assert!(!refused.status.success());
    assert_eq!(configured(&network.queue()), before);
    text(&refused.stderr)
}

/// A queue without its counter: the kernel's own packets, such as IPv6 solicitations, pass at any time.
fn configured(queue: &str) -> String {
    let mut words: Vec<&str> = queue.split_whitespace().collect();
    if let Some(counter) = words.iter().position(|word| *word == "direct_packets_stat") {
        words.drain(counter..counter + 2);
    }
    words.join(" ")
}

#[test]
fn a_queue_is_refused_of_which_something_would_be_lost() {
    let Some(network) = Network::for_test() else { return };
    let tc = |words: &str| command(&format!("tc -n {} {words}", network.router));
    tc("qdisc add dev far root handle 9: stab overhead 24 linklayer atm bfifo limit 77777");
    let why = refusal(&network);
    assert!(why.contains("far has a root qdisc bfifo with a size table (stab), which would be lost"), "{why}");
    tc("qdisc replace dev far root handle 1: htb");
    let why = refusal(&network);
    assert!(why.contains("root qdisc htb, whose classes, filters and inner queues would be lost"), "{why}");
}

#[test]
fn filters_at_the_root_are_seen() {
    let Some(network) = Network::for_test() else { return };
    let tc = |words: &str| command(&format!("tc -n {} {words}", network.router));
    let filters = || {
        let read = Network::inside(&network.router, || {
            let mut socket = Socket::open().unwrap();
            let device = Device::find(&mut socket, "far").unwrap();
            qdisc::filters(&mut socket, device.index).unwrap()
        });
        read.join().unwrap()
    };
    assert!(filters().is_empty());
    // The only queue with filters in every kernel for these tests; its classes alone would have it refused.
    tc("qdisc add dev far root handle 1: htb");
    assert!(filters().is_empty());
    for port in [80, 443] {
        tc(&format!(
            "filter add dev far parent 1: protocol ip prio {port} u32 match ip dport {port} 0xffff flowid 1:1"
        ));
    }
    assert_eq!(filters(), ["filter u32"]);
    // Filters of the ingress stay in place and do not matter.
    tc("qdisc add dev near clsact");
    tc("filter add dev near ingress protocol ip u32 match u32 0 0");
    tc("qdisc del dev far root");
    assert!(filters().is_empty());
}
