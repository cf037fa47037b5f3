//! The limits of other users, and the rights of the daemon itself.

use super::net::{Network, command, is_bfifo};
use super::process::{NET_ADMIN, is_confined};
use super::{EARTH, Instance, LINK, pids, router, text, wait_until};
use std::io::Read;
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The user nobody.
const NOBODY: &str = "65534";

/// Starts a program of nobody in the router's namespace.
fn as_nobody(network: &Network, words: &[&str]) -> std::process::Child {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", &network.router, "setpriv", "--clear-groups"]);
    command.args([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")]).args(words);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Returns true if a process has ended, and nobody waits for it.
fn has_ended(pid: u32) -> bool {
    !Path::new(&format!("/proc/{pid}")).exists()
}

#[test]
fn another_user_cannot_keep_a_lowered_rate_in_place() {
    let Some(network) = Network::for_test() else { return };
    network.put_bfifo();
    let index = command(&format!("ip netns exec {} cat /sys/class/net/far/ifindex", network.router));
    // Takes every name that the daemon gives up, and every lock that it can open, as fast as it can.
    let taker = format!(
        "import fcntl, glob, socket, time\n\
         names, held = ['netlull-router-{0}', 'netlull-client-far'], []\n\
         rounds = 0\n\
         while True:\n\
         \x20for name in names:\n\
         \x20 taken = socket.socket(socket.AF_UNIX)\n\
         \x20 try: taken.bind(chr(0) + name); taken.listen(); held.append(taken)\n\
         \x20 except OSError: pass\n\
         \x20for path in glob.glob('/run/netlull/*') + ['/run/netlull']:\n\
         \x20 try: file = open(path); fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB); held.append(file)\n\
         \x20 except OSError: pass\n\
         \x20if rounds == 0: print(flush=True)\n\
         \x20rounds += 1; time.sleep(0.0005)\n",
        index.trim()
    );
    let instance = Instance::start(&network, EARTH);
    wait_until("the rate is low", || network.queue().contains("rate 1Mbit"));
    let mut other = as_nobody(&network, &["env", "PATH=/usr/bin:/bin", "python3", "-c", &taker]);
    // It has tried everything once.
    other.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    let watch = instance.watch();
    instance.signal("KILL");
    let _ = instance.wait();
    wait_until("the watch is gone", || has_ended(watch));
    assert!(is_bfifo(&network.queue()), "the queue is as it was");
    // Neither does it keep an instance from starting, nor a restoration after both processes were killed.
    let instance = Instance::start(&network, EARTH);
    let watch = instance.watch();
    command(&format!("kill -STOP {watch}"));
    drop(instance);
    command(&format!("kill -KILL {watch}"));
    wait_until("the watch is gone", || has_ended(watch));
    assert!(network.queue().contains("qdisc tbf 6e6c:"), "a leftover");
    let restored = router(&network, "restore --dev far").output().unwrap();
    assert!(restored.status.success(), "{}", text(&restored.stderr));
    assert!(is_bfifo(&network.queue()));
    assert!(other.try_wait().unwrap().is_none(), "the other user is still there");
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn a_watch_that_hangs_keeps_nobody_from_restoring() {
    let Some(network) = Network::for_test() else { return };
    network.put_bfifo();
    let instance = Instance::start(&network, EARTH);
    let watch = instance.watch();
    command(&format!("kill -STOP {watch}"));
    drop(instance);
    let restored = router(&network, "restore --dev far").output().unwrap();
    assert!(restored.status.success(), "{}", text(&restored.stderr));
    assert!(text(&restored.stderr).contains("hangs; its changes are undone without it"), "{}", text(&restored.stderr));
    assert!(is_bfifo(&network.queue()));
    command(&format!("kill -KILL {watch}"));
}

#[test]
fn the_daemon_and_its_watch_keep_one_capability_each() {
    let Some(network) = Network::for_test() else { return };
    network.put_bfifo();
    let tape = network.state.with_extension("tape");
    let words = format!("--mechanism awm --record {} --metrics 127.0.0.1:9464", tape.display());
    let instance = Instance::start(&network, &words);
    let pid = instance.0.as_ref().unwrap().id();
    for pid in [pid, instance.watch()] {
        wait_until("it is confined", || is_confined(pid, &[NET_ADMIN]));
    }
    // All of its threads are.
    wait_until("its threads answer and control", || {
        let status = router(&network, "status --dev far --json").output().unwrap();
        let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
        status["loop_periods"].as_u64() > Some(0)
    });
    let threads: Vec<_> = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten().collect();
    assert!(threads.len() > 2);
    for thread in threads {
        let id = thread.file_name().to_str().unwrap().parse().unwrap();
        assert!(is_confined(id, &[NET_ADMIN]), "thread {id}");
    }
    let ended = instance.end();
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    assert!(is_bfifo(&network.queue()) && network.saved().is_none());
    let replayed = Command::new(super::PROGRAM).arg("replay").arg(&tape).output().unwrap();
    assert!(replayed.status.success(), "{}", text(&replayed.stderr));
    std::fs::remove_file(tape).unwrap();
}

#[test]
fn state_is_private_and_locks_are_removed() {
    let Some(network) = Network::for_test() else { return };
    let instance = Instance::start(&network, "--mechanism awm");
    let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
    assert_eq!((mode(&network.state), mode(&network.saved().unwrap())), (0o700, 0o600));
    assert_eq!(mode(Path::new("/run/netlull")), 0o700);
    let namespace = Path::new("/run/netns").join(&network.router).metadata().unwrap().ino();
    let files = || {
        let names = std::fs::read_dir("/run/netlull").unwrap().flatten().map(|file| file.file_name());
        names.filter(|name| name.to_string_lossy().contains(&namespace.to_string())).count()
    };
    assert_eq!(files(), 1);
    instance.signal("KILL");
    let _ = instance.wait();
    wait_until("the watch is gone", || pids(&network).is_empty());
    assert_eq!(files(), 0, "after a kill -9");
    assert!(Instance::start(&network, "--mechanism awm").end().status.success());
    assert_eq!(files(), 0);
    // Others can neither read the state nor claim that there is none.
    let instance = Instance::start(&network, "--mechanism awm");
    let state = network.state.display().to_string();
    let status = as_nobody(&network, &[super::PROGRAM, "router", "status", "--dev", "far", "--state", &state]);
    let status = status.wait_with_output().unwrap();
    assert_eq!(status.status.code(), Some(1));
    assert!(text(&status.stderr).contains("Permission denied"), "{}", text(&status.stderr));
    assert!(instance.end().status.success());
}

#[test]
fn bad_input_and_a_refusing_system_have_their_own_exit_codes() {
    let Some(network) = Network::for_test() else { return };
    for (words, code, why) in [
        ("run --dev far", 2, "required arguments"),
        (
            "run --dev far --rate 20Mb/s --buffer 150kB --mechanism awm --set beta=nan",
            2,
            "beta: nan; expected a finite number",
        ),
        ("run --dev far --rate 20Mb/s --buffer 150kB --mechanism awm --config /dev/zero", 2, "/dev/zero: a device"),
        ("run --dev far --rate 20Mb/s --buffer 150kB --mechanism awm --config /none", 2, "/none: No such file"),
        ("run --dev far --rate 20Mb/s --buffer 1kB --mechanism awm", 2, "buffer is"),
        ("run --dev nowhere --rate 20Mb/s --buffer 150kB --mechanism awm", 1, "device \"nowhere\""),
        ("status --dev far", 3, ""),
    ] {
        let done = router(&network, words).output().unwrap();
        assert_eq!(done.status.code(), Some(code), "{words}: {}", text(&done.stderr));
        assert!(text(&done.stderr).contains(why), "{words}: {}", text(&done.stderr));
    }
    let instance = Instance::start(&network, EARTH);
    let second = router(&network, &format!("run {LINK} --mechanism awm")).output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    drop(instance);
}

#[test]
fn the_metrics_of_an_instance_are_for_loopback_names() {
    let Some(network) = Network::for_test() else { return };
    let instance = Instance::start(&network, "--mechanism awm --metrics 127.0.0.1:9464");
    let answered = Network::inside(&network.router, || {
        ["localhost", "rebound.example"].map(|host| {
            use std::io::Write;
            let mut stream = TcpStream::connect("127.0.0.1:9464").unwrap();
            write!(stream, "GET /metrics HTTP/1.1\r\nHost: {host}:9464\r\n\r\n").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        })
    });
    let [own, foreign] = answered.join().unwrap();
    assert!(own.contains("netlull_router_rate_bits_per_second"), "{own}");
    assert!(foreign.starts_with("HTTP/1.1 403 ") && !foreign.contains("netlull_router"), "{foreign}");
    assert!(instance.end().status.success());
}
