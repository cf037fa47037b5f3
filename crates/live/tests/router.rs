//! The gateway on real devices, in network namespaces.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)] // A test may fail.
#![cfg(target_os = "linux")]

#[path = "support/again.rs"]
mod again;
#[path = "router/alone.rs"]
mod alone;
#[path = "router/flows.rs"]
mod flows;
#[path = "router/install.rs"]
mod install;
#[path = "router/net.rs"]
mod net;
#[path = "router/packets.rs"]
mod packets;
#[path = "support/process.rs"]
mod process;
#[path = "router/restored.rs"]
mod restored;
#[path = "router/safe.rs"]
mod safe;
#[path = "router/senders.rs"]
mod senders;
#[path = "router/windows.rs"]
mod windows;

use again::{wait_for, wait_until};
use net::{Network, command, is_bfifo, try_command};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const PROGRAM: &str = env!("CARGO_BIN_EXE_netlulld");
/// A controller whose rate falls to 1 Mb/s on an idle link within a fifth of a second.
const EARTH: &str = "--mechanism earth --set rates=[\"1Mb/s\",\"5Mb/s\",\"20Mb/s\"] --set threshold=90kB \
                     --set min_interval=50ms";
/// Lull with rates that tell themselves apart in the output of tc.
const LULL: &str = "--mechanism lull --set rates=[\"1Mb/s\",\"5Mb/s\",\"20Mb/s\"] --set transition=5ms";
const LINK: &str = "--dev far --rate 20Mb/s --buffer 150kB";

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// `netlulld router` in a namespace.
fn router(network: &Network, words: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", &network.router, PROGRAM, "router"]).args(words.split_whitespace());
    command.arg("--state").arg(&network.state);
    command
}

/// A running instance, ended when dropped.
struct Instance(Option<Child>);

impl Instance {
    fn start(network: &Network, words: &str) -> Self {
        let mut command = router(network, &format!("run {LINK} {words}"));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let pid = child.id();
        let instance = Self(Some(child));
        // The bucket alone may be that of an earlier instance.
        wait_until("it drives the device", || network.is_driven_by(pid) && network.queue().contains("qdisc tbf 6e6c:"));
        instance
    }

    fn signal(&self, signal: &str) {
        command(&format!("kill -{signal} {}", self.0.as_ref().unwrap().id()));
    }

    /// The pid of its watch process.
    fn watch(&self) -> u32 {
        wait_for("its watch runs", || process::guard(self.0.as_ref().unwrap().id()))
    }

    /// Waits for its end.
    fn wait(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }

    fn end(self) -> Output {
        self.signal("TERM");
        self.wait()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The processes in the router's namespace.
fn pids(network: &Network) -> Vec<String> {
    command(&format!("ip netns pids {}", network.router)).split_whitespace().map(str::to_owned).collect()
}

#[test]
fn an_instance_leaves_everything_as_it_was() {
    let Some(network) = Network::for_test() else { return };
    network.put_bfifo();
    let instance = Instance::start(&network, "--mechanism awm --json");
    let shown = network.queue();
    assert!(shown.contains("rate 20Mbit"), "{shown}");
    let status = router(&network, "status --dev far --json").output().unwrap();
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!((&status["running"], &status["mechanism"]), (&true.into(), &"awm".into()));
    let ended = instance.end();
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    let summary: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(summary["full_rate_bps"], 20_000_000);
    let shown = network.queue();
    assert!(is_bfifo(&shown), "{shown}");
    assert!(network.saved().is_none());
    wait_until("the watch is gone", || pids(&network).is_empty());
    let status = router(&network, "status --dev far").output().unwrap();
    assert!(!status.status.success() && text(&status.stdout).contains("no instance"));
}

#[test]
fn lull_slows_an_idle_link_and_raises_it_for_a_download() {
    let Some(network) = Network::for_test() else { return };
    let instance = Instance::start(&network, &format!("{LULL} --json"));
    wait_until("the rate is low", || network.queue().contains("rate 1Mbit"));
    let status = router(&network, "status --dev far --json").output().unwrap();
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!((&status["running"], &status["mechanism"]), (&true.into(), &"lull".into()));
    let flows = flows::Flows::start(&network, "cubic", 1);
    wait_until("the rate is full", || network.queue().contains("rate 20Mbit"));
    flows.end();
    wait_until("the rate is low again", || network.queue().contains("rate 1Mbit"));
    let ended = instance.end();
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    let summary: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert!(summary["rate_changes"].as_u64().unwrap() >= 3, "{summary}");
    assert!(summary["energy_j"].as_f64().unwrap() < summary["full_energy_j"].as_f64().unwrap(), "{summary}");
    // It runs on counters, without an eBPF program that could report segments.
    assert_eq!(summary.get("told"), Some(&serde_json::Value::Null), "{summary}");
    assert!(network.queue().contains("qdisc noqueue"), "{}", network.queue());
}

#[test]
fn a_dry_run_changes_nothing() {
    let Some(network) = Network::for_test() else { return };
    let before = network.queue();
    let done = router(&network, &format!("run {LINK} --mechanism awm --dry-run")).output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(text(&done.stdout).contains("would replace the root qdisc noqueue by tbf 6e6c: 20 Mb/s"));
    assert_eq!(network.queue(), before);
    assert!(!network.state.exists());
    let wrong = router(&network, &format!("run {LINK} --mechanism c-earth")).output().unwrap();
    assert!(text(&wrong.stderr).contains("round_trip: is missing; expected a table"), "{}", text(&wrong.stderr));
    let wrong = router(&network, "run --dev nowhere --rate 20Mb/s --buffer 150kB --mechanism awm").output().unwrap();
    assert!(text(&wrong.stderr).contains("device \"nowhere\""), "{}", text(&wrong.stderr));
}

#[test]
fn a_daemon_that_is_killed_leaves_no_lowered_rate() {
    let Some(network) = Network::for_test() else { return };
    let instance = Instance::start(&network, EARTH);
    wait_until("the rate is low", || network.queue().contains("rate 1Mbit"));
    instance.signal("KILL");
    let _ = instance.wait();
    wait_until("the queue is as it was", || network.queue().contains("qdisc noqueue"));
    wait_until("the watch is gone", || pids(&network).is_empty());
    assert!(network.saved().is_none());
}

#[test]
fn a_daemon_that_hangs_has_its_rate_raised_and_takes_it_up_again() {
    let Some(network) = Network::for_test() else { return };
    let instance = Instance::start(&network, EARTH);
    wait_until("the rate is low", || network.queue().contains("rate 1Mbit"));
    instance.signal("STOP");
    wait_until("the rate is full", || network.queue().contains("rate 20Mbit"));
    instance.signal("CONT");
    wait_until("the rate is low again", || network.queue().contains("rate 1Mbit"));
    // Killed while it hangs.
    instance.signal("STOP");
    wait_until("the rate is full", || network.queue().contains("rate 20Mbit"));
    instance.signal("KILL");
    let _ = instance.wait();
    wait_until("the queue is as it was", || network.queue().contains("qdisc noqueue"));
}

#[test]
fn there_is_one_instance_for_a_device() {
    let Some(network) = Network::for_test() else { return };
    let instance = Instance::start(&network, EARTH);
    let pid = instance.0.as_ref().unwrap().id();
    for words in [format!("run {LINK} --mechanism awm"), "restore --dev far".to_owned()] {
        let second = router(&network, &words).output().unwrap();
        assert!(!second.status.success());
        assert!(text(&second.stderr).contains(&format!("the instance with pid {pid}")), "{}", text(&second.stderr));
    }
    assert!(network.queue().contains("qdisc tbf 6e6c:"), "the first is not disturbed");
    assert!(instance.end().status.success());
}

#[test]
fn a_device_that_goes_ends_its_instance() {
    let Some(network) = Network::for_test() else { return };
    let instance = Instance::start(&network, "--mechanism awm");
    command(&format!("ip -n {} link del far", network.router));
    let ended = instance.wait();
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    assert!(text(&ended.stderr).contains("far was removed"), "{}", text(&ended.stderr));
    wait_until("the watch is gone", || pids(&network).is_empty());
    assert!(network.saved().is_none());
}

#[test]
fn what_a_crash_has_left_is_undone_and_undone_once() {
    let Some(network) = Network::for_test() else { return };
    network.put_bfifo();
    // The watch process is killed, too. It cannot have noticed the end of the first process, because it is stopped.
    let crash = || {
        let instance = Instance::start(&network, EARTH);
        wait_until("the rate is low", || network.queue().contains("rate 1Mbit"));
        let watch = instance.watch();
        command(&format!("kill -STOP {watch}"));
        // Without waiting for its output, because the watch process holds an end of the pipe.
        drop(instance);
        command(&format!("kill -KILL {watch}"));
        wait_until("nothing runs", || pids(&network).is_empty());
        assert!(network.queue().contains("qdisc tbf 6e6c:"), "a leftover");
    };
    crash();
    let said = text(&router(&network, "restore --dev far").output().unwrap().stdout);
    assert_eq!(said, "far: the former queue is restored\n");
    assert!(is_bfifo(&network.queue()));
    let said = text(&router(&network, "restore --dev far").output().unwrap().stdout);
    assert_eq!(said, "far: nothing to restore\n");
    assert!(is_bfifo(&network.queue()));
    // An instance that starts does the same, and knows the queue before both.
    crash();
    let instance = Instance::start(&network, "--mechanism awm");
    let ended = instance.end();
    assert!(text(&ended.stderr).contains("an earlier instance had left its queue"), "{}", text(&ended.stderr));
    assert!(is_bfifo(&network.queue()), "{}", network.queue());
}
