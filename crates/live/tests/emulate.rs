//! `netlulld emulate` with the kernel's own TCP. Skipped with a message if namespaces or TUN devices are not available.
//! Only attached namespaces need root.
//!
//! Assertions refer to the emulation's virtual time or to counters, never to real time. Properties that depend on the
//! hosts' scheduling must hold in one run of five.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)] // A test may fail.

use netlull_live::namespace::Rights;
use netlull_live::system::Awake;
use netlull_live::tape::replay;
use netlull_mechanism::gateway::{AwmConfig, FlowCountConfig, HeldQueue, WindowRule};
use netlull_mechanism::link;
use netlull_mechanism::radio::{RepairAcks, RttFrom, ShaperConfig};
use netlull_mechanism::rate::{PractRaConfig, QueueLength, RateSet};
use netlull_mechanism::station;
use netlull_network::outcome::Outcome;
use netlull_network::plan::{
    ControlPlan, FORMAT, FlowPlan, InService, LinkPlan, Plan, ProbePlan, StationPlan, TcpPlan, Traffic,
};
use netlull_network::queue::{Buffer, QueueModel};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

#[path = "support/again.rs"]
mod again;
#[path = "emulate/endings.rs"]
mod endings;

use again::{append_line, check, in_one_of_five, skip};

const MS: fn(u64) -> Duration = Duration::from_millis;
/// Runs need the machine's processors, so they run one after the other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The first requirement of an emulation that a command of netlulld misses on this machine.
fn missing(mut netlulld: Command) -> Option<String> {
    // Another process: a user namespace is open only to a process without threads.
    let output = netlulld.args(["doctor", "--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let lacks = |check: &&Value| {
        check["ok"] == false && check["needed_for"].as_array().unwrap().iter().any(|command| command == "emulate")
    };
    let missing = report["checks"].as_array().unwrap().iter().find(lacks);
    missing.map(|check| format!("{}: {}", check["name"].as_str().unwrap(), check["message"].as_str().unwrap()))
}

/// Exclusive use of the machine, if it supports these tests; reports the reason if not.
fn alone() -> Option<MutexGuard<'static, ()>> {
    static MISSING: LazyLock<Option<String>> = LazyLock::new(|| missing(Command::new(env!("CARGO_BIN_EXE_netlulld"))));
    if let Some(missing) = &*MISSING {
        skip(missing);
        return None;
    }
    Some(ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The same for tests of an emulation without rights, which a machine may forbid.
fn alone_without_rights() -> Option<MutexGuard<'static, ()>> {
    if let Some(missing) = missing(without_rights(env!("CARGO_BIN_EXE_netlulld"))) {
        skip(missing);
        return None;
    }
    alone()
}

/// A command of an ordinary user: without any capability, even if the tests run as root.
fn without_rights(program: &str) -> Command {
    if Rights::given().is_none() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-all", "--inh-caps=-all", program]);
    command
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + MS(millis)
}

fn link(name: &str, from: u32, to: u32, rate: BitRate) -> LinkPlan {
    LinkPlan {
        name: name.to_owned(),
        from,
        to,
        rate,
        overhead: 0,
        delay: MS(10),
        buffer: Buffer::Packets(60),
        queue: QueueModel::DropTail,
        loss: None,
        arrival: None,
        control: None,
        steps: None,
        trace: None,
    }
}

fn tcp(algorithm: &str) -> TcpPlan {
    TcpPlan {
        congestion_control: algorithm.to_owned(),
        mss: 1460,
        timestamps: true,
        window_scaling: true,
        sack: true,
        ecn: false,
        receive_buffer: Bytes::new(1 << 20),
        send_buffer: None,
        initial_window: 10,
        nagle: false,
        min_rto: MS(200),
    }
}

/// A - R - B: 20 Mb/s after 100, a round trip of 40 ms. Flows of 1 MB from A to B with these algorithms; the first
/// starts at once.
fn plan(algorithms: &[&str], seconds: u64) -> Plan {
    let flow = |(index, name): (usize, &&str)| {
        let start = at(20 * index as u64);
        let traffic = Traffic::Tcp { start, size: Some(1_000_000), stop: None, writes: None, tcp: tcp(name) };
        FlowPlan { name: format!("f{index}"), from: 0, to: 2, traffic }
    };
    let (fast, slow) = (BitRate::from_mbps(100), BitRate::from_mbps(20));
    Plan {
        format: FORMAT,
        name: "line".to_owned(),
        duration: Duration::from_secs(seconds),
        marks: vec![Instant::ZERO, at(1000 * seconds)],
        seed: 7,
        mtu: 1500,
        nodes: ["A", "R", "B"].map(str::to_owned).to_vec(),
        links: vec![link("A-R", 0, 1, fast), link("R-B", 1, 2, slow), link("B-R", 2, 1, slow), link("R-A", 1, 0, fast)],
        routes: vec![vec![None, Some(0), Some(0)], vec![Some(3), None, Some(1)], vec![Some(2), Some(2), None]],
        routing: None,
        flows: algorithms.iter().enumerate().map(flow).collect(),
        stations: Vec::new(),
        probe: ProbePlan {
            interval: Some(MS(100)),
            window: true,
            links: vec![1],
            flows: (0..algorithms.len() as u32).collect(),
            ..ProbePlan::default()
        },
        differences: Vec::new(),
    }
}

/// The folder of a test, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("netlull-emulate-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn command(&self, plan: &Plan) -> Command {
        self.command_of(Command::new(env!("CARGO_BIN_EXE_netlulld")), plan)
    }

    /// The given command of netlulld, with the arguments that emulate a plan.
    fn command_of(&self, mut command: Command, plan: &Plan) -> Command {
        std::fs::write(self.file("plan.json"), serde_json::to_string(plan).unwrap()).unwrap();
        command.arg("emulate").arg("--plan").arg(self.file("plan.json"));
        // A shared machine may be late, but the assertions do not depend on it.
        command.arg("--outcome").arg(self.file("outcome.json")).args(["--max-lateness", "10 s"]);
        command
    }

    fn outcome(&self) -> Outcome {
        serde_json::from_str(&std::fs::read_to_string(self.file("outcome.json")).unwrap()).unwrap()
    }

    fn emulate(&self, plan: &Plan, more: &[&str]) -> Outcome {
        self.outcome_of(self.command(plan).args(more))
    }

    fn outcome_of(&self, command: &mut Command) -> Outcome {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        self.outcome()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The time from the SYN to the last acknowledgement, in seconds.
fn seconds(outcome: &Outcome, flow: usize) -> f64 {
    let flow = &outcome.flows[flow];
    (flow.completed.expect("it completes") - flow.opened.expect("it opens")).as_secs_f64()
}

fn has(algorithm: &str) -> bool {
    let available = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    let has = available.split_whitespace().any(|name| name == algorithm);
    if !has {
        skip(format_args!("this kernel has no {algorithm}"));
    }
    has
}

#[test]
fn downloads_complete_with_what_arithmetic_allows_and_every_packet_is_counted() {
    let Some(_alone) = alone() else { return };
    for algorithm in ["reno", "cubic", "bbr"].into_iter().filter(|name| has(name)) {
        let folder = Folder::new(algorithm);
        let outcome = in_one_of_five(|| {
            let run = folder.emulate(&plan(&[algorithm], 3), &[]);
            check(run.flows[0].completed.is_some(), format!("{algorithm}: not complete after 3 s"))?;
            // 691 segments of 1448 B, 1500 B on the wire, take 0.414 s at 20 Mb/s; at least two round trips follow.
            let took = seconds(&run, 0);
            assert!(took > 0.49, "{algorithm}: {took} s");
            check(took < 2.5, format!("{algorithm}: {took} s"))?;
            // A window was sampled, and it was not below the initial one before the first loss.
            let windows = run.tables.iter().find(|table| table.name == "window").expect("a table of windows");
            check(!windows.columns[0].1.is_empty(), format!("{algorithm}: no window"))?;
            check(run.flows[0].mean_cwnd_bytes.is_some_and(|mean| mean > 14_000.0), &run.flows)?;
            Ok(run)
        });
        let last = &outcome.marks[1];
        assert_eq!(last.flows[0].delivered_bytes, 1_000_000, "{algorithm}");
        assert_eq!(outcome.flows[0].segment_bytes, Some(1448));
        assert_eq!(outcome.system.kept_awake, Awake::keep().is_ok());
        for (index, link) in last.links.iter().enumerate() {
            let counters = &link.counters;
            let gone = counters.delivered_packets + counters.dropped_packets + counters.lost_packets;
            assert_eq!(counters.offered_packets, gone, "{algorithm}, link {index}: all had arrived");
            assert!(counters.most_waiting <= 60);
        }
        assert_eq!(
            last.flows[0].dropped_packets,
            last.links.iter().map(|link| link.counters.dropped_packets).sum::<u64>()
        );
    }
}

#[test]
fn an_emulation_without_rights_has_the_same_windows_and_buffers() {
    let Some(_alone) = alone_without_rights() else { return };
    let folder = Folder::new("rights");
    let mut plan = plan(&["reno", "cubic"], 4);
    // A window of 30 kB is the limit of the first flow: per round trip of 40 ms and more. A send buffer of 20 kB, which
    // the kernel doubles for its own memory, is the limit of the second.
    let sizes = [(Bytes::new(30_000), None), (Bytes::new(1 << 20), Some(Bytes::new(20_000)))];
    for (flow, (receive, send)) in plan.flows.iter_mut().zip(sizes) {
        let Traffic::Tcp { tcp, .. } = &mut flow.traffic else { panic!("no TCP") };
        (tcp.receive_buffer, tcp.send_buffer) = (receive, send);
    }
    let both = |run: &Outcome| (0..2).map(|flow| seconds(run, flow)).collect::<Vec<_>>();
    in_one_of_five(|| {
        let run = folder.outcome_of(&mut folder.command_of(without_rights(env!("CARGO_BIN_EXE_netlulld")), &plan));
        check(run.flows.iter().all(|flow| flow.completed.is_some()), &run.flows)?;
        let (free, given) = (both(&run), both(&folder.emulate(&plan, &[])));
        // 34 windows of 30 kB, each a round trip of 40 ms. The kernel's default buffer would allow windows of 1 MB.
        assert!(free[0] > 34.0 * 0.04, "{free:?}");
        check(free.iter().zip(&given).all(|(free, given)| (free / given - 1.0).abs() < 0.05), (&free, &given))
    });
}

#[test]
fn runs_repeat_in_virtual_time() {
    let Some(_alone) = alone() else { return };
    let folder = Folder::new("repeat");
    // Within 0.04 % on an idle machine (validation/linux). However, applications act by the clock: an application that
    // waits for a processor opens and writes later. The test looks for three matching runs among nine.
    let mut times = Vec::new();
    while times.len() < 9 {
        let run = folder.emulate(&plan(&["reno"], 3), &[]);
        times.push(if run.flows[0].completed.is_some() { seconds(&run, 0) } else { f64::INFINITY });
        times.sort_by(f64::total_cmp);
        if times.windows(3).any(|three| three[2] < 1.02 * three[0]) {
            return;
        }
    }
    panic!("no three of nine runs agree within 2 %: {times:?}");
}

/// A mechanism on a link of 20 Mb/s.
fn control(mechanism: link::Config) -> ControlPlan {
    let link = link::Context::new(BitRate::from_mbps(20), Bytes::new(1500));
    ControlPlan {
        mechanism,
        link,
        acknowledgements: None,
        coupled_with: None,
        naps: None,
        in_service: InService::default(),
    }
}

#[test]
fn a_machine_on_tape_decides_the_same_again() {
    let Some(_alone) = alone() else { return };
    let folder = Folder::new("tape");
    let mut plan = plan(&["reno"], 5);
    let rates = RateSet::from_range(BitRate::from_mbps(2), BitRate::from_mbps(20), BitRate::from_mbps(2)).unwrap();
    plan.links[1].control = Some(control(link::Config::PractRa(PractRaConfig::intertwining_2012(rates))));
    let tapes = folder.file("tapes");
    let capture = folder.file("c.pcapng");
    let options = ["--tapes", tapes.to_str().unwrap(), "--capture", capture.to_str().unwrap()];
    let outcome = in_one_of_five(|| {
        let run = folder.emulate(&plan, &options);
        check(run.flows[0].completed.is_some(), &run.flows)?;
        Ok(run)
    });
    assert_eq!(outcome.marks[1].flows[0].delivered_bytes, 1_000_000);
    let changes = outcome.marks[1].links[1].rate_changes;
    // Before and after the download the link is idle: 9 steps down, some of them up and down again.
    assert!(changes >= 9, "{changes}");
    assert_eq!(outcome.rates[1].len() as u64, changes + 1);
    let replayed = replay(&tapes.join("R-B.tape")).unwrap();
    assert_eq!((replayed.kind.as_str(), replayed.difference, replayed.actions), ("practra", None, changes));
    assert!(captured(&capture).len() >= 1400, "691 segments at both hosts, and as many as half in acknowledgements");
}

/// The packets of a capture.
fn captured(file: &Path) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(file).unwrap();
    let mut reader = pcap_file::pcapng::PcapNgReader::new(&bytes[..]).unwrap();
    let mut packets = Vec::new();
    while let Some(block) = reader.next_block() {
        packets.extend(block.unwrap().into_enhanced_packet().map(|packet| packet.data.into_owned()));
    }
    packets
}

#[test]
fn the_first_data_end_the_handshake() {
    let Some(_alone) = alone() else { return };
    let folder = Folder::new("handshake");
    let capture = folder.file("c.pcapng");
    in_one_of_five(|| {
        folder.emulate(&plan(&["reno"], 1), &["--capture", capture.to_str().unwrap()]);
        let packets = captured(&capture);
        // The source address of a packet; its TCP flags (no IP options).
        let (source, flags) = (|packet: &[u8]| packet[12..16].to_vec(), |packet: &[u8]| packet[33]);
        let syn = packets.first().expect("a SYN");
        assert_eq!(flags(syn), 0x02);
        let next = packets.iter().find(|packet| source(packet) == source(syn) && flags(packet) != 0x02);
        // 1448 B of data, or the remainder if the kernel splits a larger write.
        check(next.is_some_and(|packet| packet.len() > 100), ("the packet after the SYN", next))
    });
}

#[test]
fn awm_keeps_the_queue_of_real_senders_near_its_target() {
    let Some(_alone) = alone() else { return };
    let folder = Folder::new("awm");
    let run = |with: bool| {
        let mut plan = plan(&["reno"; 4], 6);
        (plan.marks[0], plan.links[1].buffer) = (at(2000), Buffer::Packets(100));
        for flow in &mut plan.flows {
            if let Traffic::Tcp { size, .. } = &mut flow.traffic {
                *size = None;
            }
        }
        if with {
            let held = HeldQueue::new(QueueLength::Bytes(Bytes::new(75_000)));
            let windows = WindowRule { flows: FlowCountConfig::fixed(4.0), ..WindowRule::default() };
            let mechanism = link::Config::Awm(AwmConfig { held, windows });
            plan.links[1].control = Some(ControlPlan { acknowledgements: Some(2), ..control(mechanism) });
        }
        folder.emulate(&plan, &[])
    };
    let dropped =
        |run: &Outcome| run.marks[1].links[1].counters.dropped_packets - run.marks[0].links[1].counters.dropped_packets;
    let goodput = |run: &Outcome| -> u64 {
        (0..4).map(|flow| run.marks[1].flows[flow].delivered_bytes - run.marks[0].flows[flow].delivered_bytes).sum()
    };
    in_one_of_five(|| {
        let (without, with) = (run(false), run(true));
        check(dropped(&without) > 0, "drop-tail has dropped nothing")?;
        // None on an idle machine.
        check(4 * dropped(&with) <= dropped(&without), (dropped(&with), "of", dropped(&without), "dropped"))?;
        // 20 Mb/s for 4 s are 10 MB; headers take 3.5 %.
        check(goodput(&with) > 8_000_000, (goodput(&with), "B of goodput"))?;
        let gateway = with.gateways[1].expect("a gateway");
        check(gateway.rewritten_acknowledgements > 1000, gateway)
    });
}

#[test]
fn a_client_that_shapes_real_senders_misses_nothing_and_sleeps() {
    let Some(_alone) = alone() else { return };
    for algorithm in ["reno", "cubic"] {
        let folder = Folder::new(&format!("shaper-{algorithm}"));
        let mut plan = plan(&[algorithm], 6);
        plan.links.iter_mut().for_each(|link| link.buffer = Buffer::Packets(1000));
        let Traffic::Tcp { size, tcp, .. } = &mut plan.flows[0].traffic else { unreachable!() };
        (*size, tcp.receive_buffer) = (Some(2_000_000), Bytes::new(65_536));
        let context = station::Context { air_rate: BitRate::from_mbps(20), wake: MS(2), mtu: Bytes::new(1500) };
        let mechanism = station::Config::ClientShaper(ShaperConfig {
            margin: MS(1),
            rtt_from: RttFrom::OpenAck,
            repair: RepairAcks::AsTheyAre,
            paced_share: Some(0.5),
            ..ShaperConfig::default()
        });
        plan.stations = vec![StationPlan { node: 2, access: 1, down: 1, up: 2, context, mechanism: Some(mechanism) }];
        let tapes = folder.file("tapes");
        in_one_of_five(|| {
            let outcome = folder.emulate(&plan, &["--tapes", tapes.to_str().unwrap()]);
            let replayed = replay(&tapes.join("B.tape")).unwrap();
            assert_eq!((replayed.kind.as_str(), replayed.difference), ("client_shaper", None));
            let station = &outcome.stations[0];
            let Some(download) = station.download else { return Err(format!("{algorithm}: not over; {station:?}")) };
            assert_eq!(outcome.marks[1].flows[0].delivered_bytes, 2_000_000);
            // A packet that a delayed sender sends late arrives while the radio sleeps; not on an idle machine.
            check(download.missed_packets <= 20, (algorithm, station))?;
            let share = download.radio.asleep.as_secs_f64() / (download.over - download.begun).as_secs_f64();
            // Bursts of 64 KiB take 27 ms of round trips of 40 ms and more.
            check(share > 0.05, (algorithm, "asleep for", share, station))?;
            check(station.counts.bursts > 5, (algorithm, station))
        });
    }
}

#[test]
fn requests_come_and_go_and_every_one_is_measured() {
    let Some(_alone) = alone() else { return };
    let folder = Folder::new("requests");
    let mut plan = plan(&["cubic"], 3);
    let requests: Vec<(Instant, u64)> = (0..40).map(|number| (at(30 * number), 1000 + 2000 * number)).collect();
    let datagrams = (0..500).map(|number| (at(3 * number), 500)).collect();
    plan.flows = vec![
        FlowPlan { name: "d".to_owned(), from: 0, to: 2, traffic: Traffic::Datagrams { packets: datagrams } },
        FlowPlan {
            name: "web".to_owned(),
            from: 0,
            to: 2,
            traffic: Traffic::Requests { requests: requests.clone(), most_open: 40, tcp: tcp("cubic") },
        },
    ];
    plan.probe.flows = vec![0, 1];
    let outcome = in_one_of_five(|| {
        let run = folder.emulate(&plan, &[]);
        let web = &run.flows[1];
        // The SYN and the data of one window: two round trips of 40 ms, hardly more.
        let soon = |time| time > MS(80) && time < MS(2500);
        check(web.requests.iter().all(|request| request.completion.is_some_and(soon)), web)?;
        Ok(run)
    });
    let web = &outcome.flows[1];
    assert_eq!(
        web.requests.iter().map(|request| request.size).collect::<Vec<_>>(),
        requests.iter().map(|r| r.1).collect::<Vec<_>>()
    );
    assert_eq!(outcome.marks[1].flows[1].delivered_bytes, requests.iter().map(|request| request.1).sum::<u64>());
    assert_eq!((outcome.marks[1].flows[0].sent_packets, outcome.marks[1].flows[0].delivered_bytes), (500, 250_000));
    assert!((1..=40).contains(&web.most_open));
    // A connection beyond the limit is refused, with a hint.
    if let Traffic::Requests { most_open, .. } = &mut plan.flows[1].traffic {
        *most_open = 1;
    }
    let output = folder.command(&plan).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("flow.web.most_open: 1 connections are open"), "{}", said(&output));
}

#[test]
fn what_cannot_be_done_is_said_and_nothing_is_written() {
    let Some(_alone) = alone() else { return };
    let folder = Folder::new("refused");
    let refused = |plan: &Plan, more: &[&str]| {
        let output = folder.command(plan).args(more).output().unwrap();
        assert!(!folder.file("outcome.json").exists());
        (output.status.code(), said(&output))
    };
    let (code, message) = refused(&plan(&["nonesuch"], 1), &[]);
    assert!(
        code == Some(1) && message.contains("congestion control nonesuch") && message.contains("this kernel has"),
        "{message}"
    );
    let (_, message) = refused(&plan(&["reno"], 1), &["--attach", "Z=nothing"]);
    assert!(message.contains("--attach Z: is not a node; expected one of A, R, B"), "{message}");
    let (_, message) = refused(&plan(&["reno"], 1), &["--attach", "A=nl-nonesuch"]);
    assert!(message.contains("nl-nonesuch"), "{message}");
    let (_, message) = refused(&Plan { format: 99, ..plan(&["reno"], 1) }, &[]);
    assert!(message.contains(&format!("has format 99; expected {FORMAT}")), "{message}");
    let mut differ = plan(&["reno", "reno"], 1);
    if let Traffic::Tcp { tcp, .. } = &mut differ.flows[1].traffic {
        tcp.timestamps = false;
    }
    let (_, message) = refused(&differ, &[]);
    assert!(message.contains("expected the same for all flows of a host"), "{message}");
    // Every run exceeds a lateness of zero.
    let mut command = Command::new(env!("CARGO_BIN_EXE_netlulld"));
    std::fs::write(folder.file("plan.json"), serde_json::to_string(&plan(&["reno"], 1)).unwrap()).unwrap();
    command
        .arg("emulate")
        .arg("--plan")
        .arg(folder.file("plan.json"))
        .arg("--outcome")
        .arg(folder.file("outcome.json"));
    let output = command.args(["--max-lateness", "1 ns"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(said(&output).contains("expected at most 1 ns: the run is not trustworthy"), "{}", said(&output));
    let is_ordinary = folder.outcome().system.scheduling == "other";
    assert_eq!(said(&output).contains("no real-time priority"), is_ordinary, "{}", said(&output));
    assert!(folder.outcome().lateness.packets > 0, "the numbers are there to be looked at");
}

/// A script in a user namespace whose settings it may lower. Its words are netlulld without rights, emulating a plan.
fn lowered(folder: &Folder, plan: &Plan, script: &str) -> Output {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "sh", "-c", script, folder.0.to_str().unwrap()]);
    command.args(["setpriv", "--bounding-set=-all", "--inh-caps=-all", env!("CARGO_BIN_EXE_netlulld")]);
    folder.command_of(command, plan).output().unwrap()
}

#[test]
fn a_machine_that_forbids_namespaces_is_told_how_to_allow_them() {
    let Some(_alone) = alone_without_rights() else { return };
    let folder = Folder::new("forbidden");
    let refused = |setting: &str, value: u32| {
        let script = format!(r#"echo {value} > /proc/sys/user/{setting} || exit 99; exec "$@""#);
        let output = lowered(&folder, &plan(&["reno"], 1), &script);
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        said(&output)
    };
    for setting in ["max_user_namespaces", "max_net_namespaces"] {
        let message = refused(setting, 0);
        let remedy = format!("user.{setting}: 0; expected 10000, as root: sysctl -w user.{setting}=10000");
        assert!(message.contains(&remedy) && !message.contains("not root"), "{message}");
    }
    // Two hosts need two namespaces.
    let message = refused("max_net_namespaces", 1);
    assert!(message.contains("node B: creating a network namespace") && message.contains("a limit"), "{message}");
}

#[test]
fn a_test_that_needs_root_is_skipped_by_name() {
    let folder = Folder::new("skipped");
    let name = "endings::a_namespace_that_was_there_gets_back_what_it_had";
    let mut command = without_rights(std::env::current_exe().unwrap().to_str().unwrap());
    let output = command.args(["--exact", name]).env("NETLULL_SKIPPED", folder.file("skipped")).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains(&format!("skipped {name}: ")), "{}", said(&output));
    assert_eq!(std::fs::read_to_string(folder.file("skipped")).unwrap(), format!("{name}\n"));
}

#[test]
fn tests_that_are_skipped_at_once_have_a_line_each() {
    let folder = Folder::new("skipped-at-once");
    let file = folder.file("skipped");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..2000).for_each(|_| append_line(file.as_ref(), "a_test")));
        }
    });
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "a_test\n".repeat(16_000));
}
