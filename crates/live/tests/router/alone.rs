//! A single instance per device, for any state directory.

use super::net::Network;
use super::{EARTH, Instance, LINK, PROGRAM, command, pids, router, text, wait_until};
use std::path::PathBuf;
use std::process::{Command, Output};

/// A second state directory, removed when dropped.
struct Elsewhere(PathBuf);

impl Elsewhere {
    fn of(network: &Network) -> Self {
        Self(network.state.with_extension("elsewhere"))
    }

    /// `netlulld router` in a network, with its state elsewhere.
    fn router(&self, network: &Network, words: &str) -> Output {
        let words = format!("netns exec {} {PROGRAM} router {words} --state {}", network.router, self.0.display());
        Command::new("ip").args(words.split_whitespace()).output().unwrap()
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn an_instance_with_its_state_elsewhere_is_refused() {
    let Some(network) = Network::for_test() else { return };
    let instance = Instance::start(&network, EARTH);
    let whose = format!("the instance with pid {}", instance.0.as_ref().unwrap().id());
    let elsewhere = Elsewhere::of(&network);
    let before = std::fs::read(network.saved().unwrap()).unwrap();
    for words in [format!("run {LINK} --mechanism awm"), "restore --dev far".to_owned()] {
        let second = elsewhere.router(&network, &words);
        assert!(!second.status.success(), "{words}");
        let said = text(&second.stderr);
        assert!(said.contains(&format!("device \"far\" is controlled by {whose}; expected no instance")), "{said}");
        assert!(!elsewhere.0.exists(), "nothing is left of it");
    }
    assert!(network.queue().contains("qdisc tbf 6e6c:"), "the first is not disturbed");
    assert_eq!(std::fs::read(network.saved().unwrap()).unwrap(), before);
    let status = elsewhere.router(&network, "status --dev far");
    assert!(!status.status.success());
    assert_eq!(
        text(&status.stdout),
        format!("far: no instance with this --state; {whose} controls the device with another\n")
    );
    assert!(instance.end().status.success());
    let status = elsewhere.router(&network, "status --dev far");
    assert_eq!(text(&status.stdout), "far: no instance\n");
}

#[test]
fn a_device_is_driven_whatever_its_name() {
    let Some(network) = Network::for_test() else { return };
    let instance = Instance::start(&network, EARTH);
    let pid = instance.0.as_ref().unwrap().id();
    command(&format!("ip -n {} link set far down", network.router));
    command(&format!("ip -n {} link set far name away", network.router));
    let run = LINK.replace("far", "away");
    let second = router(&network, &format!("run {run} --mechanism awm")).output().unwrap();
    assert!(!second.status.success());
    assert!(text(&second.stderr).contains(&format!("the instance with pid {pid}")), "{}", text(&second.stderr));
    assert!(instance.end().status.success());
}

#[test]
fn a_dry_run_says_that_an_instance_runs() {
    let Some(network) = Network::for_test() else { return };
    let dry = |more: &str| {
        let done = router(&network, &format!("run {LINK} --mechanism awm --dry-run {more}")).output().unwrap();
        assert!(done.status.success(), "{}", text(&done.stderr));
        text(&done.stdout)
    };
    let json = || serde_json::from_str::<serde_json::Value>(&dry("--json")).unwrap();
    assert!(!dry("").contains("controls the device"));
    assert_eq!((&json()["driven"], &json()["driven_by"]), (&false.into(), &serde_json::Value::Null));
    let instance = Instance::start(&network, EARTH);
    let pid = instance.0.as_ref().unwrap().id();
    let said = format!("far: the instance with pid {pid} controls the device; a second instance would be refused\n");
    assert!(dry("").starts_with(&said), "{}", dry(""));
    assert_eq!((&json()["driven"], &json()["driven_by"]), (&true.into(), &pid.into()));
    assert!(instance.end().status.success());
}

#[test]
fn nothing_is_left_of_what_is_refused_or_has_ended() {
    let Some(network) = Network::for_test() else { return };
    for words in [
        "--dev nowhere --rate 20Mb/s --buffer 150kB --mechanism awm",
        "--dev far --rate 20Mb/s --buffer 150kB --mechanism awm --set tarket=1kB",
        "--dev far --rate 20Mb/s --buffer 1kB --mechanism awm",
    ] {
        let refused = router(&network, &format!("run {words}")).output().unwrap();
        assert!(!refused.status.success(), "{words}");
        assert!(!network.state.exists(), "{words}");
    }
    let instance = Instance::start(&network, EARTH);
    assert!(instance.end().status.success());
    wait_until("the watch is gone", || pids(&network).is_empty());
    assert_eq!(std::fs::read_dir(&network.state).unwrap().count(), 0);
}
