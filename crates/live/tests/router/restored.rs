//! What stood at the root comes back where that is harder than usual.

use super::net::{Network, can_run, command};
use super::{EARTH, Instance, pids, router, text, until};

#[test]
fn a_device_that_was_renamed_gets_its_queue_back() {
    if !can_run() {
        return;
    }
    let network = Network::new(None);
    let router = &network.router;
    command(&format!("tc -n {router} qdisc add dev far root handle 9: bfifo limit 77777"));
    let instance = Instance::start(&network, EARTH);
    assert!(network.saved().is_some());
    command(&format!("ip -n {router} link set far down"));
    command(&format!("ip -n {router} link set far name away"));
    command(&format!("ip -n {router} link add far type veth peer name farther"));
    let ended = instance.end();
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    let shown = command(&format!("tc -n {router} qdisc show dev away"));
    assert!(shown.contains("qdisc bfifo 9:") && shown.contains("limit 77777b"), "{shown}");
    assert!(network.saved().is_none());
}

#[test]
fn a_queue_that_is_refused_leaves_the_kernels_own() {
    if !can_run() {
        return;
    }
    let network = Network::new(None);
    command(&format!("tc -n {} qdisc add dev far root handle 9: bfifo limit 77777", network.router));
    let instance = Instance::start(&network, EARTH);
    let saved = network.saved().unwrap();
    let written = std::fs::read_to_string(&saved).unwrap();
    assert!(written.contains("\"bfifo\""), "{written}");
    std::fs::write(&saved, written.replace("\"bfifo\"", "\"nl_unknown\"")).unwrap();
    let ended = instance.end();
    assert!(!ended.status.success());
    let said = text(&ended.stderr);
    assert!(said.contains("putting the queue nl_unknown of far back; the kernel's own stands there now"), "{said}");
    assert!(network.queue().contains("qdisc noqueue"), "{}", network.queue());
    assert!(network.saved().is_none());
    until("the watch is gone", || pids(&network).is_empty());
}

#[test]
fn devices_of_two_namespaces_may_have_the_same_name() {
    if !can_run() {
        return;
    }
    let (mut one, other) = (Network::new(None), Network::new(None));
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
