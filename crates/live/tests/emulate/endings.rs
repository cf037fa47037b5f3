//! The end of an emulation: nothing is left after a signal, a kill, or the death of its caller.

use super::again::{check, in_one_of_five, skip, wait_for, wait_until};
use super::{Folder, alone, alone_without_rights, lowered, plan, said};
use netlull_live::namespace::{Namespace, Rights, sysctl};
use netlull_network::plan::Traffic;
use netlull_units::Duration;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};

/// An emulation, ended when dropped.
struct Running(Child);

impl Running {
    /// Waits until it ends by itself, long before its plan.
    fn ended(&mut self) -> ExitStatus {
        wait_for("the emulation has ended", || self.0.try_wait().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_emulation_that_is_killed_leaves_nothing_behind() {
    let Some(_alone) = alone() else { return };
    let folder = Folder::new("killed");
    let devices = || std::fs::read_dir("/sys/class/net").unwrap().count();
    let before = devices();
    for (signal, code) in [("-KILL", None), ("-TERM", Some(130)), ("-INT", Some(130))] {
        let mut child = folder.command(&plan(&["reno"], 600)).arg("--progress").stdout(Stdio::piped()).spawn().unwrap();
        // The first report of progress shows that it is running.
        // It ends by itself when nobody reads its progress.
        let (mut line, mut progress) = (String::new(), BufReader::new(child.stdout.take().unwrap()));
        progress.read_line(&mut line).unwrap();
        assert!(line.starts_with("progress 0."), "{line}");
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let status = child.wait().unwrap();
        assert_eq!(status.code(), code, "{signal}");
        // Hosts are in separate namespaces, which end with their last file: the process had all of them.
        assert_eq!(devices(), before);
        assert!(!folder.file("outcome.json").exists(), "{signal}");
    }
}

#[test]
fn an_emulation_with_too_many_events_ends_and_names_them() {
    let Some(_alone) = alone() else { return };
    let folder = Folder::new("busy");
    let mut plan = plan(&["reno"], 30);
    plan.probe.interval = Some(Duration::from_nanos(1));
    let mut running = Running(folder.command(&plan).stderr(Stdio::piped()).spawn().unwrap());
    let ended = running.ended();
    let said = std::io::read_to_string(running.0.stderr.take().unwrap()).unwrap();
    assert_eq!(ended.code(), Some(2), "{said}");
    for part in
        ["the emulation has reached 0.0", " late, after ", "The next event is the end of a bin of probe.interval"]
    {
        assert!(said.contains(part), "{said}");
    }
    assert!(!folder.file("outcome.json").exists());
}

#[test]
fn a_killed_emulation_without_rights_leaves_no_namespace() {
    let Some(_alone) = alone_without_rights() else { return };
    let folder = Folder::new("namespaces");
    // No more namespaces are allowed than the two of a run's hosts, so no killed run may leave one. The kernel removes
    // namespaces a little after their process.
    let script = r#"
        echo 2 > /proc/sys/user/max_net_namespaces || exit 99
        start() {
            for again in $(seq 2000); do
                : > "$0/progress"
                "$@" --progress > "$0/progress" 2> "$0/said" & child=$!
                while kill -0 $child 2> /dev/null; do
                    grep -q progress "$0/progress" && return
                    sleep 0.02
                done
                sleep 0.05
            done
            cat "$0/said" >&2
            exit 1
        }
        for signal in KILL TERM KILL TERM KILL; do
            start "$@"
            kill -$signal $child
            wait $child
            echo $?
        done"#;
    let output = lowered(&folder, &plan(&["reno"], 600), script);
    assert!(output.status.success() || output.status.code() == Some(137), "{}", said(&output));
    // A shell reports 128 + 9 for a killed process; netlulld ends with 130 when asked to.
    assert_eq!(String::from_utf8_lossy(&output.stdout), "137\n130\n137\n130\n137\n", "{}", said(&output));
}

#[test]
fn an_emulation_whose_caller_is_killed_ends() {
    let Some(_alone) = alone() else { return };
    let folder = Folder::new("orphan");
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = folder.command(&plan(&["reno"], 600));
    let capture = folder.file("c.pcapng");
    let mut running = Running(command.arg("--capture").arg(&capture).stdout(writer).spawn().unwrap());
    // The command has a copy of the pipe's end, too.
    drop(command);
    wait_until("it has begun", || capture.exists());
    // It looks for its caller every second.
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert!(running.0.try_wait().unwrap().is_none(), "it runs while its caller does");
    drop(reader);
    assert_eq!(running.ended().code(), Some(130));
}

/// A named namespace, removed when dropped.
struct Named(String);

impl Named {
    fn new() -> Self {
        let name = format!("nl-attach-{}", std::process::id());
        assert!(Command::new("ip").args(["netns", "add", &name]).status().unwrap().success());
        Self(name)
    }

    /// Its TCP settings.
    fn values(&self) -> Vec<String> {
        let read =
            || ["timestamps", "window_scaling", "sack", "ecn"].map(|name| sysctl(&format!("ipv4/tcp_{name}")).unwrap());
        Namespace::named(&self.0).unwrap().inside(|| Ok(read().to_vec())).unwrap()
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "delete", &self.0]).status();
    }
}

#[test]
fn a_namespace_that_was_there_gets_back_what_it_had() {
    let Some(_alone) = alone() else { return };
    if Rights::given().is_none() {
        return skip("it needs root: `ip netns` does");
    }
    let (named, folder) = (Named::new(), Folder::new("attached"));
    let before = named.values();
    // Without SACK each hole takes a round trip or a timeout: 1.7 s.
    let mut plan = plan(&["reno"], 6);
    let Traffic::Tcp { tcp, .. } = &mut plan.flows[0].traffic else { panic!("no TCP") };
    (tcp.timestamps, tcp.sack) = (false, false);
    let outcome = in_one_of_five(|| {
        let run = folder.emulate(&plan, &["--attach", &format!("A={}", named.0)]);
        check(run.flows[0].completed.is_some(), &run.flows)?;
        Ok(run)
    });
    assert_eq!(outcome.flows[0].segment_bytes, Some(1460), "without timestamps");
    assert_eq!(named.values(), before);
    // A run that cannot start changes nothing either: the device exists already.
    let taken = Command::new("ip").args(["-n", &named.0, "link", "add", "netlull", "type", "veth"]).status().unwrap();
    assert!(taken.success());
    let output = folder.command(&plan).args(["--attach", &format!("A={}", named.0)]).output().unwrap();
    assert!(!output.status.success());
    assert_eq!(named.values(), before);
}

#[test]
fn a_namespace_that_was_there_gets_back_what_it_had_after_a_kill() {
    let Some(_alone) = alone() else { return };
    if Rights::given().is_none() {
        return skip("it needs root: `ip netns` does");
    }
    let (named, folder) = (Named::new(), Folder::new("attached-killed"));
    let before = named.values();
    let mut plan = plan(&["reno"], 600);
    let Traffic::Tcp { tcp, .. } = &mut plan.flows[0].traffic else { panic!("no TCP") };
    (tcp.timestamps, tcp.sack) = (false, false);
    let attach = format!("A={}", named.0);
    let mut command = folder.command(&plan);
    command.args(["--progress", "--attach", &attach]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It ends by itself when nobody reads its progress.
    let (mut line, mut progress) = (String::new(), BufReader::new(child.stdout.take().unwrap()));
    progress.read_line(&mut line).unwrap();
    assert!(line.starts_with("progress 0."), "{line}");
    assert_ne!(named.values(), before, "without timestamps and SACK");
    child.kill().unwrap();
    child.wait().unwrap();
    // The guard has the same standard error, which ends with it.
    let said = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert!(said.contains("the emulation has died: the TCP settings of namespace"), "{said}");
    assert_eq!(named.values(), before);
}
