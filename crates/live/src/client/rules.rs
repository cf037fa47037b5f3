//! The rules that lead packets into the queues: chains of this daemon in the table mangle, for IPv4 and IPv6.

use crate::error::{LiveError, Result};
use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

/// The mark of this daemon's own packets, which bypass the queues.
pub(super) const MARK: u32 = 0x6e6c_0001;

/// The rules of a device and its queues.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    device: String,
    /// The queue of arrivals; the next number is the queue of departures.
    queue: u16,
}

impl Rules {
    pub(super) fn new(device: &str, queue: u16) -> Self {
        Self { device: device.to_owned(), queue }
    }

    fn chains(&self) -> [String; 2] {
        [format!("NETLULL-I-{}", self.device), format!("NETLULL-O-{}", self.device)]
    }

    /// The input of iptables-restore.
    fn text(&self) -> String {
        let [input, output] = self.chains();
        let (device, coming, going) = (&self.device, self.queue, self.queue + 1);
        format!(
            "*mangle\n:{input} - [0:0]\n:{output} - [0:0]\n\
             -A {input} -j NFQUEUE --queue-num {coming} --queue-bypass\n\
             -A {output} -m mark --mark {MARK:#x} -j RETURN\n\
             -A {output} -j NFQUEUE --queue-num {going} --queue-bypass\n\
             -A INPUT -i {device} -p tcp -j {input}\n\
             -A OUTPUT -o {device} -p tcp -j {output}\n\
             COMMIT\n"
        )
    }

    /// Installs the rules.
    ///
    /// # Errors
    /// If a rule is refused.
    pub(super) fn install(&self) -> Result<()> {
        self.remove();
        for program in ["iptables-restore", "ip6tables-restore"] {
            if let Err(error) = self.install_by(program) {
                self.remove();
                return Err(error);
            }
        }
        Ok(())
    }

    fn install_by(&self, program: &str) -> Result<()> {
        let cannot = |error: std::io::Error| match error.kind() {
            ErrorKind::NotFound => LiveError::new(format!("{program}: not found; expected the package iptables")),
            _ => LiveError::system(program, error),
        };
        let mut child = Command::new(program)
            .args(["--noflush", "--wait"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(cannot)?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(self.text().as_bytes()).map_err(cannot)?;
        }
        let output = child.wait_with_output().map_err(cannot)?;
        if output.status.success() {
            return Ok(());
        }
        Err(LiveError::system(program, String::from_utf8_lossy(&output.stderr).trim()))
    }

    /// Removes the rules, regardless of who has left them, and returns the number of chains removed.
    pub(super) fn remove(&self) -> usize {
        let [input, output] = self.chains();
        let mut removed = 0;
        for program in ["iptables", "ip6tables"] {
            for (hook, way, chain) in [("INPUT", "-i", &input), ("OUTPUT", "-o", &output)] {
                let jump = ["-D", hook, way, &self.device, "-p", "tcp", "-j", chain];
                while runs(program, &jump) {}
                runs(program, &["-F", chain]);
                removed += usize::from(runs(program, &["-X", chain]));
            }
        }
        removed
    }

    /// Whether packets are led into the queues.
    pub(super) fn are_installed(&self) -> bool {
        let [input, _] = self.chains();
        runs("iptables", &["-C", "INPUT", "-i", &self.device, "-p", "tcp", "-j", &input])
    }
}

fn runs(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(["--wait", "-t", "mangle"]).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_packets_pass_and_all_others_do_so_if_nobody_listens() {
        let text = Rules::new("wlan0", 20_004).text();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[3], "-A NETLULL-I-wlan0 -j NFQUEUE --queue-num 20004 --queue-bypass");
        assert_eq!(lines[4], "-A NETLULL-O-wlan0 -m mark --mark 0x6e6c0001 -j RETURN");
        assert_eq!(lines[5], "-A NETLULL-O-wlan0 -j NFQUEUE --queue-num 20005 --queue-bypass");
        assert_eq!(text.matches("NFQUEUE").count(), text.matches("--queue-bypass").count());
    }
}
