//! `netlulld client` between hosts of real Linux TCP.

mod support;

use serde_json::Value;
use support::{DEVICE, Network, Path, SERVER, can_run, curl, parse};

const RUN: [&str; 9] = ["client", "run", "--dev", DEVICE, "--air-rate", "20 Mb/s", "--wake", "2 ms", "--drop-asleep"];

/// A download through a daemon that runs curl: its size and time, and the daemon's report.
fn shaped(
    network: &Network,
    options: &[&str],
    server: &str,
    bytes: u64,
    congestion_control: &str,
) -> (u64, f64, Value) {
    let file = std::env::temp_dir().join(format!("{}.json", network.client()));
    let report = file.to_str().unwrap();
    let mut command = network.netlulld(&RUN);
    command.args(options).args(["--report", report, "--", "curl"]).args(curl(server, bytes, congestion_control));
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    if std::env::var_os("NETLULL_SHOW").is_some() {
        eprintln!("{congestion_control}: {}{errors}", String::from_utf8_lossy(&output.stdout));
    }
    assert!(output.status.success(), "{errors}");
    let (size, seconds) = parse(&output);
    let report = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    std::fs::remove_file(file).unwrap();
    (size, seconds, report)
}

#[test]
fn senders_that_do_not_pace_are_slept_through() {
    if !can_run() {
        return;
    }
    let network = Network::new(Path::WIRELESS);
    for congestion_control in ["reno", "cubic"] {
        let (size, seconds, report) = shaped(&network, &[], SERVER, 3_000_000, congestion_control);
        assert_eq!(size, 3_000_000, "{seconds} s");
        assert_eq!(report["missed_packets"], 0, "{report:#}");
        assert_eq!(report["state"], "ended", "{report:#}");
    }
    assert_eq!(network.chains(), 0);
}

/// Not a test: what docs/how-to/client.md and docs/models/client-shaper.md quote. `cargo test --test client -- --ignored --nocapture figures`.
#[test]
#[ignore = "measures for a minute"]
fn figures() {
    if !can_run() {
        return;
    }
    let bytes = 5_000_000;
    for congestion_control in ["reno", "cubic", "bbr"] {
        for mechanism in ["eager", "client-shaper"] {
            for _ in 0..if mechanism == "eager" { 1 } else { 4 } {
                // Metrics and slow start thresholds are each download's own.
                let network = Network::new(Path::WIRELESS);
                let (_, seconds, report) =
                    shaped(&network, &["--mechanism", mechanism], SERVER, bytes, congestion_control);
                let download = &report["downloads"][0];
                println!(
                    "{congestion_control} {mechanism}: {seconds:.3} s, {:.3} J, {:.3} J s, missed {}, asleep {:.3} s, rtt {}, {} {}",
                    download["energy_j"]["wavelan-dsss"].as_f64().unwrap(),
                    download["energy_delay_js"]["wavelan-dsss"].as_f64().unwrap(),
                    report["missed_packets"],
                    download["asleep_s"].as_f64().unwrap(),
                    report["round_trip_s"],
                    report["state"],
                    report["fallback"],
                );
            }
        }
    }
}
