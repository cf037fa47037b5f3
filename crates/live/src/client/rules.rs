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
        self.remove()?;
        for program in ["iptables-restore", "ip6tables-restore"] {
            if let Err(error) = self.install_by(program) {
                // The first error is the reason.
                let _ = self.remove();
                return Err(error);
            }
        }
        Ok(())
    }

    fn install_by(&self, program: &str) -> Result<()> {
        let cannot = |error| cannot(program, &error);
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
    ///
    /// # Errors
    /// If a rule may still be installed: a program is missing or refuses. The rules of the other program are removed.
    pub(super) fn remove(&self) -> Result<usize> {
        let [v4, v6] = PROGRAMS.map(|program| self.remove_by(program));
        Ok(v4? + v6?)
    }

    fn remove_by(&self, program: &str) -> Result<usize> {
        let mut removed = 0;
        // The guard of a daemon may remove the same rules at the same time: a failure counts if something is left.
        let mut failed = None;
        for _ in 0..ATTEMPTS {
            let commands = self.removal(&listed(program)?);
            if commands.is_empty() {
                return Ok(removed);
            }
            for command in commands {
                match run(program, &command) {
                    Ok(_) => removed += usize::from(command[0] == "-X"),
                    Err(error) => failed = Some(error),
                }
            }
        }
        if self.removal(&listed(program)?).is_empty() {
            return Ok(removed);
        }
        Err(failed.unwrap_or_else(|| LiveError::new(format!("{program}: the rules come back; expected none"))))
    }

    /// The commands that remove the listed rules.
    fn removal(&self, listed: &str) -> Vec<Vec<String>> {
        let mut commands = Vec::new();
        for chain in self.chains() {
            commands.extend(rules_to(listed, &chain).map(|rule| [vec!["-D".to_owned()], rule].concat()));
            if listed.lines().any(|line| line.strip_prefix("-N ") == Some(chain.as_str())) {
                commands.extend(["-F", "-X"].map(|command| vec![command.to_owned(), chain.clone()]));
            }
        }
        commands
    }

    /// Returns true if packets are led into the queues.
    ///
    /// # Errors
    /// If a program is missing or refuses.
    pub(super) fn are_installed(&self) -> Result<bool> {
        let [input, _] = self.chains();
        Ok(rules_to(&listed("iptables")?, &input).next().is_some())
    }
}

/// The programs that list and remove rules.
const PROGRAMS: [&str; 2] = ["iptables", "ip6tables"];

/// The number of attempts to remove the rules.
const ATTEMPTS: u32 = 5;

/// The rules of the table, as lines of commands.
fn listed(program: &str) -> Result<String> {
    run(program, &["-S".to_owned()])
}

/// The words of the rules that lead to a chain, without the command before them.
fn rules_to<'a>(listed: &'a str, chain: &'a str) -> impl Iterator<Item = Vec<String>> + use<'a> {
    let words = listed.lines().filter_map(|line| line.strip_prefix("-A ")).map(|rule| rule.split_whitespace());
    words
        .map(|words| words.map(str::to_owned).collect())
        .filter(move |words: &Vec<_>| words.ends_with(&["-j".to_owned(), chain.to_owned()]))
}

/// Runs a program on the table, and returns its output.
fn run(program: &str, arguments: &[String]) -> Result<String> {
    let mut command = Command::new(program);
    let output = command.args(["--wait", "-t", "mangle"]).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| cannot(program, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(LiveError::system(program, String::from_utf8_lossy(&output.stderr).trim()))
}

fn cannot(program: &str, error: &std::io::Error) -> LiveError {
    match error.kind() {
        ErrorKind::NotFound => LiveError::new(format!("{program}: not found; expected the package iptables")),
        _ => LiveError::system(program, error),
    }
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

    #[test]
    fn a_removal_takes_the_rules_of_its_own_device_and_no_others() {
        let listed = "-P INPUT ACCEPT\n-N NETLULL-I-wlan0\n-N NETLULL-I-wlan01\n-A INPUT -i wlan0 -p tcp -j NETLULL-I-wlan0\n\
                      -A INPUT -i wlan01 -p tcp -j NETLULL-I-wlan01\n-A NETLULL-I-wlan0 -j NFQUEUE --queue-num 7\n";
        let commands: Vec<_> =
            Rules::new("wlan0", 7).removal(listed).into_iter().map(|command| command.join(" ")).collect();
        let jump = "-D INPUT -i wlan0 -p tcp -j NETLULL-I-wlan0";
        assert_eq!(commands, [jump, "-F NETLULL-I-wlan0", "-X NETLULL-I-wlan0"]);
    }
}
