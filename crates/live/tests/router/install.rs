//! The unit of an instance.

use super::net::Network;
use super::{LINK, PROGRAM, router, text, try_command};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A root directory for a unit, removed when dropped.
struct Root(PathBuf);

impl Root {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("netlull-install-{name}-{}", std::process::id())))
    }

    fn unit(&self) -> PathBuf {
        self.0.join("etc/systemd/system/netlull-router-eth7.service")
    }

    fn write(&self, file: &str, content: &str) {
        let path = self.0.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// `netlulld router` with this root.
    fn router(&self, words: &str) -> Output {
        let mut command = Command::new(PROGRAM);
        command.arg("router").args(words.split_whitespace()).arg("--root").arg(&self.0);
        command.output().unwrap()
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const INSTALL: &str = "install --dev eth7 --rate 20Mb/s --buffer 150kB";
const G_ROUTER: &str = "--mechanism g-router --set min_rate=1Mb/s --set round_trip.kind=timestamps \
                        --set round_trip.initial=100ms";

#[test]
fn a_unit_is_installed_under_a_root_and_removed() {
    let root = Root::new("unit");
    root.write("etc/netlull/g.toml", "kind = \"g_router\"\nbeta = \"1 Mb/s\"\n");
    let install = format!(
        "{INSTALL} {G_ROUTER} --config /etc/netlull/g.toml --metrics 127.0.0.1:9464 --record /var/lib/netlull/x.tape"
    );
    let tried = root.router(&format!("{install} --dry-run"));
    assert!(text(&tried.stdout).contains("ExecStart="), "{}", text(&tried.stderr));
    assert!(!root.unit().exists());
    let installed = root.router(&install);
    assert!(installed.status.success(), "{}", text(&installed.stderr));
    assert!(text(&installed.stderr).contains("eth7 does not exist here; options are checked as for Ethernet"));
    let written = std::fs::read_to_string(root.unit()).unwrap();
    let start = "router run --dev eth7 --rate \"20 Mb/s\" --buffer \"150 kB\" --mechanism g-router \
                 --config /etc/netlull/g.toml --set min_rate=1Mb/s";
    assert!(written.contains(start), "{written}");
    assert!(written.contains("router restore --dev eth7"));
    assert!(written.contains("AmbientCapabilities=CAP_NET_ADMIN CAP_BPF CAP_NET_RAW CAP_SYS_NICE\n"));
    for line in ["NoNewPrivileges=yes", "RuntimeDirectoryMode=0700", "SystemCallFilter=@system-service bpf capset"] {
        assert!(written.contains(line), "{line}: {written}");
    }
    assert!(written.contains("StateDirectory=netlull\n"), "systemd makes what --record needs");
    verify(&root.unit());
    assert!(root.router("uninstall --dev eth7").status.success());
    assert!(!root.unit().exists());
    assert!(text(&root.router("uninstall --dev eth7").stdout).contains("does not exist"));
}

/// Verifies a unit with systemd; does nothing without systemd.
fn verify(unit: &Path) {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        println!("not verified: there is no systemd-analyze");
        return;
    }
    let verified = try_command(&format!("systemd-analyze verify --man=no --recursive-errors=no {}", unit.display()));
    assert!(verified.status.success() && verified.stderr.is_empty(), "{}", text(&verified.stderr));
}

#[test]
fn a_unit_is_not_installed_whose_instance_would_be_refused() {
    let root = Root::new("refused");
    for (options, why) in [
        ("--mechanism awm --metrics 0.0.0.0:9464", "metrics is 0.0.0.0:9464; expected a loopback address"),
        ("--mechanism awm --config /etc/netlull/none.toml", "etc/netlull/none.toml: No such file"),
        ("--mechanism awm --set tarket=1kB", "is unknown; did you mean target?"),
        ("--mechanism g-router --set min_rate=1Mb/s", "round_trip: is missing; expected a table"),
        ("--mechanism awm --set target=1", "expected"),
        (
            "--mechanism practra --set transition=2ms --set min_interval=16ms --set delay_bound=40ms --set rates=[\"1Mb/s\",\"10Mb/s\"]",
            "rates: is a set that ends at 10 Mb/s",
        ),
        (
            "--mechanism practra --set transition=2ms --set min_interval=16ms --set delay_bound=40ms --set rates=[\"1b/s\",\"20Mb/s\"]",
            "the lowest of rates is 1 b/s; expected at least 8 kb/s",
        ),
        (
            "--mechanism earth --set rates=[\"7kb/s\",\"20Mb/s\"] --set threshold=9kB",
            "rates is 7 kb/s; expected at least",
        ),
        (
            "--mechanism g-router --set min_rate=1b/s --set round_trip.kind=timestamps --set round_trip.initial=1s",
            "min_rate is 1 b/s; expected at least 8 kb/s",
        ),
        ("--mechanism awm --record /var/lib/netlull", "expected a file below /var/lib/netlull"),
        ("--mechanism awm --ack-dev ..", "invalid value '..' for '--ack-dev"),
        ("--mechanism awm --ack-dev a_name_too_long_x", "expected 1 to 15 bytes without white space"),
        ("", "mechanism is not given"),
        ("--mechanism awm --loop 1s", "loop is 1 s; expected 1 ms to 100 ms"),
        ("--mechanism awm --power none", "power is \"none\"; expected one of"),
        ("--mechanism awm --record /tmp/x.tape", "record is /tmp/x.tape; expected a file below /var/lib/netlull"),
        ("--mechanism awm --record /var/lib/netlull/a/x.tape", "expected a file in a folder that exists"),
        ("--mechanism awm --state /tmp/x", "state is /tmp/x; expected /run/netlull"),
    ] {
        let refused = root.router(&format!("{INSTALL} {options}"));
        assert!(!refused.status.success(), "{options}");
        assert!(text(&refused.stderr).contains(why), "{options}: {}", text(&refused.stderr));
        assert!(refused.stdout.is_empty() && !root.0.exists(), "{options}: nothing is written");
    }
    for (options, why) in [
        ("--rate 1kb/s --buffer 150kB", "rate is 1 kb/s; expected at least 8 kb/s"),
        ("--rate 1e9Gb/s --buffer 150kB", "rate is 1000000000 Gb/s; expected at most 512 Gb/s"),
        ("--rate 20Mb/s --buffer 1kB", "buffer is 1 kB; expected at least 1514 B"),
    ] {
        let refused = root.router(&format!("install --dev eth7 --mechanism awm {options}"));
        assert!(!refused.status.success() && text(&refused.stderr).contains(why), "{}", text(&refused.stderr));
    }
    root.write("etc/netlull/g.toml", "kind = \"earth\"\n");
    let refused = root.router(&format!("{INSTALL} --mechanism awm --config /etc/netlull/g.toml"));
    assert!(text(&refused.stderr).contains("mechanism is awm; expected earth, as in the configuration"));
    assert!(!root.unit().exists());
}

#[test]
fn a_units_device_has_a_name_that_a_device_can_have() {
    let root = Root::new("names");
    for (command, name) in [("run", ".."), ("install", ".."), ("uninstall", "../x"), ("restore", "a:b"), ("status", "")]
    {
        let refused = Command::new(PROGRAM).args(["router", command, "--dev", name]).output().unwrap();
        assert!(!refused.status.success(), "{command} {name}");
        let said = text(&refused.stderr);
        assert!(said.contains("expected 1 to 15 bytes without white space"), "{command} {name}: {said}");
    }
    let mut install = Command::new(PROGRAM);
    install.args(["router"]).args(INSTALL.split_whitespace()).args(["--mechanism", "awm"]);
    let refused = install.args(["--ack-dev", "a/b %n $HOME", "--root"]).arg(&root.0).output().unwrap();
    assert!(!refused.status.success() && !root.0.exists(), "{}", text(&refused.stderr));
}

#[test]
fn a_unit_that_is_masked_stays_so() {
    let root = Root::new("masked");
    std::fs::create_dir_all(root.unit().parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("/dev/null", root.unit()).unwrap();
    for words in [format!("{INSTALL} --mechanism awm"), "uninstall --dev eth7".to_owned()] {
        for dry in ["--dry-run", ""] {
            let refused = root.router(&format!("{words} {dry}"));
            assert!(!refused.status.success() && refused.stdout.is_empty(), "{words} {dry}");
            let said = text(&refused.stderr);
            assert!(said.contains("is a symbolic link to /dev/null; expected a file"), "{said}");
            assert_eq!(std::fs::read_link(root.unit()).unwrap(), Path::new("/dev/null"));
        }
    }
}

#[test]
fn installing_speaks_json() {
    let root = Root::new("json");
    let install = |dry: &str| {
        let done = root.router(&format!("{INSTALL} --mechanism awm --json {dry}"));
        assert!(done.status.success(), "{}", text(&done.stderr));
        serde_json::from_slice::<serde_json::Value>(&done.stdout).unwrap()
    };
    let (tried, exists) = (install("--dry-run"), root.unit().exists());
    assert!(!exists);
    let done = install("");
    assert_eq!((&tried["dry_run"], &done["dry_run"]), (&true.into(), &false.into()));
    assert_eq!(done["unit"], root.unit().display().to_string());
    assert_eq!(done["text"], std::fs::read_to_string(root.unit()).unwrap());
    assert_eq!(tried["text"], done["text"]);
    assert!(done["text"].as_str().unwrap().contains(" --json\n"), "so does the instance");
}

#[test]
fn options_are_refused_alike_by_a_dry_run_and_by_an_instance() {
    let Some(network) = Network::for_test() else { return };
    for (options, why) in [
        (
            "--rate 20Mb/s --mechanism awm --metrics 0.0.0.0:9464",
            "metrics is 0.0.0.0:9464; expected a loopback address",
        ),
        ("--rate 7999b/s --mechanism awm", "rate is 7.999 kb/s; expected at least 8 kb/s"),
        (
            "--rate 20Mb/s --mechanism practra --set transition=2ms --set min_interval=16ms --set delay_bound=40ms --set rates=[\"1b/s\",\"20Mb/s\"]",
            "the lowest of rates is 1 b/s; expected at least 8 kb/s",
        ),
        (
            "--rate 20Mb/s --mechanism awm --record /nowhere/x.tape",
            "record is /nowhere/x.tape; expected a file in a folder that exists",
        ),
    ] {
        for dry in ["--dry-run", ""] {
            let refused = router(&network, &format!("run --dev far --buffer 150kB {options} {dry}")).output().unwrap();
            assert!(!refused.status.success(), "{options} {dry}");
            assert!(text(&refused.stderr).contains(why), "{options} {dry}: {}", text(&refused.stderr));
        }
    }
    assert!(network.queue().contains("qdisc noqueue"), "nothing was put in place");
}

#[test]
fn a_device_that_is_there_is_looked_at() {
    let Some(network) = Network::for_test() else { return };
    let install = |words: &str| {
        let words = format!("netns exec {} {PROGRAM} router install --dry-run {words}", network.router);
        Command::new("ip").args(words.split_whitespace()).output().unwrap()
    };
    let awm = format!("{LINK} --mechanism awm");
    let accepted = install(&awm);
    assert!(accepted.status.success(), "{}", text(&accepted.stderr));
    assert!(!text(&accepted.stderr).contains("does not exist here"), "{}", text(&accepted.stderr));
    let late = install(&format!("{awm} --ack-dev eth7"));
    assert!(late.status.success() && text(&late.stderr).contains("eth7 does not exist here"), "{}", text(&late.stderr));
    super::command(&format!("ip -n {} link set far mtu 9000", network.router));
    let refused = install("--dev far --rate 20Mb/s --buffer 5kB --mechanism awm");
    assert!(text(&refused.stderr).contains("buffer is 5 kB; expected at least 9014 B"), "{}", text(&refused.stderr));
    super::command(&format!("tc -n {} qdisc add dev far root handle 1: htb", network.router));
    let refused = install(&awm);
    assert!(!refused.status.success());
    assert!(text(&refused.stderr).contains("far has a root qdisc htb"), "{}", text(&refused.stderr));
}
