//! `netlulld client compare`: the Internet experiment of client-centered-2004 (Fig. 5) with today's servers.
//!
//! Each URL is downloaded with eager acknowledgements and with the shaper in turn. Of several runs the one with the
//! median transfer time counts, as in the paper.

use super::arguments::Compare;
use crate::error::{LiveError, Result, say, tell};
use serde_json::Value;
use std::process::{Command, ExitCode, Stdio};

/// The baseline, and the technique.
const MECHANISMS: [&str; 2] = ["eager", "client-shaper"];

/// A download: the largest connection of a run.
#[derive(Clone, Debug, PartialEq)]
struct Run {
    bytes: u64,
    seconds: f64,
    joules: f64,
    /// The share of the time in which the radio slept.
    asleep: f64,
    /// The shaper's state at the end, with the reason if it gave up.
    end: String,
}

/// Downloads every URL and prints a row for each, and the mean of energy x delay.
///
/// # Errors
/// If a daemon cannot start. A download that fails is reported and left out.
pub(super) fn compare(options: &Compare) -> Result<ExitCode> {
    let times = options.times;
    tell(format_args!("{times} downloads each, eager and shaped in turn; the one with the median time counts"))?;
    tell(row("download", "bytes", ["eager s", "shaped s", "energy", "energy x delay"], "asleep", "shaper"))?;
    let mut products = Vec::new();
    for url in &options.urls {
        let mut runs = [Vec::new(), Vec::new()];
        for _ in 0..times {
            for (mechanism, done) in MECHANISMS.iter().zip(&mut runs) {
                done.extend(download(options, mechanism, url)?);
            }
        }
        let [Some(eager), Some(shaped)] = runs.map(median) else {
            tell(format_args!("{url}: no download"))?;
            continue;
        };
        let energy = shaped.joules / eager.joules;
        let product = energy * shaped.seconds / eager.seconds;
        products.push(product);
        let numbers = [eager.seconds, shaped.seconds, energy, product].map(|number| format!("{number:.2}"));
        let asleep = format!("{:.0} %", 100.0 * shaped.asleep);
        tell(row(url, &shaped.bytes.to_string(), numbers.each_ref().map(String::as_str), &asleep, &shaped.end))?;
    }
    if products.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    let mean = format!("{:.2}", products.iter().sum::<f64>() / products.len() as f64);
    tell(row("mean", "", ["", "", "", &mean], "", ""))?;
    Ok(ExitCode::SUCCESS)
}

fn row(url: &str, bytes: &str, numbers: [&str; 4], asleep: &str, shaper: &str) -> String {
    let [eager, shaped, energy, product] = numbers;
    let text = format!("{url:<40} {bytes:>10} {eager:>8} {shaped:>8} {energy:>7} {product:>14} {asleep:>7}  {shaper}");
    text.trim_end().to_owned()
}

/// A download by curl with a daemon that serves nothing else; `None` if curl failed or no data came.
fn download(options: &Compare, mechanism: &str, url: &str) -> Result<Option<Run>> {
    let program = std::env::current_exe().map_err(|error| LiveError::system("this program", error))?;
    let mut command = Command::new(program);
    command.args(["client", "run", "--dev", &options.device.dev, "--mechanism", mechanism, "--drop-asleep"]);
    command.args(["--air-rate", &options.air_rate.to_string(), "--radio", &options.radio]);
    command.args(["--report", "/dev/stdout", "--", "curl", "--silent", "--show-error", "--fail", "--location"]);
    command.args(["--output", "/dev/null", "--", url]);
    let output = command.stdin(Stdio::null()).output().map_err(|error| LiveError::system("netlulld", error))?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        let why = told.lines().find(|line| line.starts_with("curl: ")).unwrap_or("the download failed");
        say(format_args!("{url}, {mechanism}: {why}"));
    }
    let report: Value = match serde_json::from_slice(&output.stdout) {
        Ok(report) => report,
        // The daemon has not started.
        Err(_) => {
            return Err(LiveError::input(
                String::from_utf8_lossy(&output.stderr).trim().trim_start_matches("netlulld: "),
            ));
        }
    };
    Ok(output.status.success().then(|| largest(&report)).flatten())
}

/// The largest connection of a report.
fn largest(report: &Value) -> Option<Run> {
    let downloads = report["downloads"].as_array()?;
    let download = downloads.iter().max_by_key(|download| download["bytes"].as_u64())?;
    let seconds = download["seconds"].as_f64()?;
    let state = download["state"].as_str().unwrap_or_default();
    Some(Run {
        bytes: download["bytes"].as_u64()?,
        seconds,
        joules: download["energy_j"].as_object()?.values().next()?.as_f64()?,
        asleep: download["asleep_s"].as_f64()? / seconds,
        end: download["fallback"].as_str().map_or(state.to_owned(), |why| format!("{state} ({why})")),
    })
}

/// The run with the median transfer time.
fn median(mut runs: Vec<Run>) -> Option<Run> {
    runs.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    let middle = runs.len() / 2;
    (middle < runs.len()).then(|| runs.swap_remove(middle))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    fn one(bytes: u64, seconds: f64, fallback: Option<&str>) -> Value {
        json!({
            "bytes": bytes, "seconds": seconds, "asleep_s": seconds / 4.0, "energy_j": { "wavelan-dsss": 3.0 },
            "state": "ended", "fallback": fallback
        })
    }

    #[test]
    fn the_largest_connection_is_the_download() {
        let report = json!({ "downloads": [one(500, 0.1, None), one(9000, 2.0, Some("paced")), one(70, 0.2, None)] });
        let found = largest(&report).unwrap();
        let expected = Run { bytes: 9000, seconds: 2.0, joules: 3.0, asleep: 0.25, end: "ended (paced)".to_owned() };
        assert_eq!(found, expected);
        assert_eq!(largest(&json!({ "downloads": [] })), None);
    }

    #[test]
    fn of_three_runs_the_one_with_the_median_time_counts() {
        let run = |bytes, seconds| largest(&json!({ "downloads": [one(bytes, seconds, None)] })).unwrap();
        let found = median(vec![run(1, 3.0), run(2, 1.0), run(3, 2.0)]).unwrap();
        assert_eq!((found.bytes, median(Vec::new())), (3, None));
    }
}
