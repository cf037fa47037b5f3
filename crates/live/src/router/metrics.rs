//! The metrics of an instance: text for Prometheus, on loopback only, and JSON for `router status`.

use super::clamp::Counters;
use super::readings::Reading;
use crate::clock::Clock;
use crate::error::{LiveError, Result};
use crate::lateness::{ENDS, LatenessCounts};
use netlull_units::{BitRate, Bytes, Duration, Instant, Joules};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration as StdDuration;

/// The state of an instance at the end of a period.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The device.
    pub device: String,
    /// The name of the mechanism.
    pub mechanism: String,
    /// The time since the start.
    pub uptime: Duration,
    /// The current rate of the link.
    pub rate: BitRate,
    /// The highest rate of the link.
    pub full_rate: BitRate,
    /// The number of rate changes.
    pub changes: u64,
    /// The queue's counters.
    pub queue: Reading,
    /// swnd.
    pub window: Option<Bytes>,
    /// The estimated number of flows, N.
    pub flows: Option<f64>,
    /// The estimated round-trip time, RTT.
    pub round_trip: Option<Duration>,
    /// The counters of the eBPF programs; `None` if none are attached.
    pub counters: Option<Counters>,
    /// The sampling: one flow in so many is reported completely.
    pub one_in: u64,
    /// The lateness of the loop.
    pub lateness: LatenessCounts,
    /// The number of periods skipped.
    pub missed: u64,
    /// The number of times that the watch process has raised the rate.
    pub raised: u64,
    /// The name of the power model.
    pub power_model: String,
    /// The energy since the start.
    pub energy: Joules,
    /// The energy at full rate since the start.
    pub full_energy: Joules,
}

/// The part of a snapshot that `--json` and `router status` show.
#[derive(Debug, Serialize)]
pub struct Summary {
    device: String,
    mechanism: String,
    uptime_s: f64,
    rate_bps: u64,
    full_rate_bps: u64,
    rate_changes: u64,
    sent_bytes: u64,
    sent_packets: u64,
    drops: u64,
    queue_bytes: u64,
    queue_packets: u64,
    window_bytes: Option<u64>,
    flows: Option<f64>,
    round_trip_s: Option<f64>,
    acknowledgements: Option<u64>,
    rewritten: Option<u64>,
    unknown_scale: Option<u64>,
    malformed: Option<u64>,
    fragments: Option<u64>,
    told: Option<u64>,
    untold: Option<u64>,
    told_one_in: u64,
    loop_periods: u64,
    loop_missed: u64,
    loop_lateness_p50_s: f64,
    loop_lateness_p99_s: f64,
    loop_lateness_max_s: f64,
    watch_raised: u64,
    power_model: String,
    energy_j: f64,
    full_energy_j: f64,
}

impl Snapshot {
    /// Summarises the snapshot.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let count = |of: fn(&Counters) -> u64| self.counters.as_ref().map(of);
        Summary {
            device: self.device.clone(),
            mechanism: self.mechanism.clone(),
            uptime_s: self.uptime.as_secs_f64(),
            rate_bps: self.rate.as_bps(),
            full_rate_bps: self.full_rate.as_bps(),
            rate_changes: self.changes,
            sent_bytes: self.queue.sent_bytes,
            sent_packets: self.queue.sent_packets,
            drops: self.queue.drops,
            queue_bytes: self.queue.backlog,
            queue_packets: self.queue.packets,
            window_bytes: self.window.map(Bytes::as_u64),
            flows: self.flows,
            round_trip_s: self.round_trip.map(Duration::as_secs_f64),
            acknowledgements: count(|counters| counters.acknowledgements),
            rewritten: count(|counters| counters.rewritten),
            unknown_scale: count(|counters| counters.unknown_scale),
            malformed: count(|counters| counters.malformed),
            fragments: count(|counters| counters.fragments),
            told: count(|counters| counters.told),
            untold: count(|counters| counters.untold),
            told_one_in: self.one_in,
            loop_periods: self.lateness.count(),
            loop_missed: self.missed,
            loop_lateness_p50_s: self.lateness.quantile(0.5).as_secs_f64(),
            loop_lateness_p99_s: self.lateness.quantile(0.99).as_secs_f64(),
            loop_lateness_max_s: self.lateness.most().as_secs_f64(),
            watch_raised: self.raised,
            power_model: self.power_model.clone(),
            energy_j: self.energy.as_f64(),
            full_energy_j: self.full_energy.as_f64(),
        }
    }

    /// The metrics as text for Prometheus (exposition format 0.0.4).
    #[must_use]
    pub fn exposition(&self) -> String {
        let mut page = Page { text: String::with_capacity(4096), device: &self.device };
        page.one("rate_bits_per_second", "gauge", "Current service rate", self.rate.as_f64());
        page.one("full_rate_bits_per_second", "gauge", "Highest service rate", self.full_rate.as_f64());
        page.count("rate_changes_total", "Changes of the service rate", self.changes);
        page.gauge("queue_bytes", "Bytes in the queue", self.queue.backlog);
        page.gauge("queue_packets", "Packets in the queue", self.queue.packets);
        page.count("sent_bytes_total", "Bytes that have left the queue", self.queue.sent_bytes);
        page.count("sent_packets_total", "Packets that have left the queue", self.queue.sent_packets);
        page.count("drops_total", "Packets dropped because the queue was full", self.queue.drops);
        if let Some(window) = self.window {
            page.one("window_bytes", "gauge", "Largest window that passes (swnd)", window.as_f64());
        }
        if let Some(flows) = self.flows {
            page.one("flows", "gauge", "Estimate of the number of flows (N)", flows);
        }
        if let Some(time) = self.round_trip {
            page.one("round_trip_seconds", "gauge", "Estimate of the round-trip time (RTT)", time.as_secs_f64());
        }
        if let Some(counters) = &self.counters {
            page.count("forward_packets_total", "Packets on their way to the queue", counters.forward_packets);
            page.count("backward_packets_total", "Packets in the reverse direction", counters.backward_packets);
            page.count(
                "acknowledgements_total",
                "Acknowledgements in the reverse direction",
                counters.acknowledgements,
            );
            page.count("clamped_acknowledgements_total", "Acknowledgements with a lowered window", counters.rewritten);
            page.count(
                "unknown_scale_total",
                "Acknowledgements left unchanged: unknown window scale",
                counters.unknown_scale,
            );
            page.count("malformed_packets_total", "Packets left unchanged: malformed", counters.malformed);
            page.count("fragments_total", "Packets left unchanged: fragments", counters.fragments);
            page.count("segments_told_total", "Segments reported to the estimators", counters.told);
            page.count("segments_untold_total", "Segments not reported: ring full", counters.untold);
            page.gauge("flows_told_one_in", "Number of flows per completely reported flow", self.one_in);
        }
        page.lateness(&self.lateness);
        page.count("loop_missed_total", "Periods skipped by the loop", self.missed);
        page.count("watch_raised_total", "Times the watch process has raised the rate of a hung loop", self.raised);
        let model = &self.power_model;
        let _ = writeln!(
            page.text,
            "# HELP netlull_router_energy_joules_total Energy since the start, under a power model"
        );
        let _ = writeln!(page.text, "# TYPE netlull_router_energy_joules_total counter");
        for (rate, energy) in [("driven", self.energy), ("full", self.full_energy)] {
            let labels = format!("device=\"{}\",model=\"{model}\",rate=\"{rate}\"", self.device);
            let _ = writeln!(page.text, "netlull_router_energy_joules_total{{{labels}}} {}", energy.as_f64());
        }
        page.text
    }
}

/// A page of metrics of a device.
struct Page<'a> {
    text: String,
    device: &'a str,
}

impl Page<'_> {
    fn one(&mut self, name: &str, kind: &str, help: &str, value: f64) {
        self.head(name, kind, help);
        let _ = writeln!(self.text, "netlull_router_{name}{{device=\"{}\"}} {value}", self.device);
    }

    fn count(&mut self, name: &str, help: &str, value: u64) {
        self.whole(name, "counter", help, value);
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.whole(name, "gauge", help, value);
    }

    fn whole(&mut self, name: &str, kind: &str, help: &str, value: u64) {
        self.head(name, kind, help);
        let _ = writeln!(self.text, "netlull_router_{name}{{device=\"{}\"}} {value}", self.device);
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.text, "# HELP netlull_router_{name} {help}");
        let _ = writeln!(self.text, "# TYPE netlull_router_{name} {kind}");
    }

    fn lateness(&mut self, lateness: &LatenessCounts) {
        let name = "loop_lateness_seconds";
        self.head(name, "histogram", "Lateness of the loop");
        let device = self.device;
        for (end, count) in ENDS.iter().zip(lateness.cumulative()) {
            let end = Duration::from_micros(*end).as_secs_f64();
            let _ = writeln!(self.text, "netlull_router_{name}_bucket{{device=\"{device}\",le=\"{end}\"}} {count}");
        }
        let count = lateness.count();
        let _ = writeln!(self.text, "netlull_router_{name}_bucket{{device=\"{device}\",le=\"+Inf\"}} {count}");
        let _ =
            writeln!(self.text, "netlull_router_{name}_sum{{device=\"{device}\"}} {}", lateness.sum().as_secs_f64());
        let _ = writeln!(self.text, "netlull_router_{name}_count{{device=\"{device}\"}} {count}");
        let p99 = lateness.quantile(0.99).as_secs_f64();
        self.one("loop_lateness_p99_seconds", "gauge", "99th percentile of the lateness of the loop", p99);
    }
}

/// A snapshot shared between the loop, which writes it, and its readers. The loop never waits for them.
#[derive(Clone, Debug, Default)]
pub struct Board(Arc<Mutex<Snapshot>>);

impl Board {
    /// Updates the snapshot unless somebody is reading it; the next update then includes the change. Counters are
    /// therefore kept elsewhere and copied here.
    pub fn show(&self, update: impl FnOnce(&mut Snapshot)) {
        if let Ok(mut snapshot) = self.0.try_lock() {
            update(&mut snapshot);
        }
    }

    /// Updates the snapshot and waits for readers; only for use before and after the loop.
    pub fn write(&self, update: impl FnOnce(&mut Snapshot)) {
        update(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The latest snapshot.
    #[must_use]
    pub fn look(&self) -> Snapshot {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Checks that metrics may be served at an address.
///
/// # Errors
/// If it is not a loopback address.
pub fn check(address: SocketAddr) -> Result<()> {
    if address.ip().is_loopback() {
        return Ok(());
    }
    let expected = "expected a loopback address, such as 127.0.0.1:9464";
    Err(LiveError::input(format!("metrics is {address}; {expected}")))
}

/// The server of an instance's metrics. It listens before the instance is confined, and answers afterwards.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    /// The address, with the chosen port in place of port 0.
    pub address: SocketAddr,
}

/// The number of requests that are answered at the same time.
const AT_ONCE: usize = 16;
/// The time from the acceptance of a connection until its request must be complete.
const PATIENCE: Duration = Duration::from_secs(1);

impl Server {
    /// Listens at an address.
    ///
    /// # Errors
    /// If the address is not a loopback address, or is in use.
    pub fn listen(address: SocketAddr) -> Result<Self> {
        check(address)?;
        let cannot = |error: std::io::Error| LiveError::system(format!("metrics at {address}"), error);
        let listener = TcpListener::bind(address).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        Ok(Self { listener, address })
    }

    /// Answers requests in separate threads.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub fn serve(self, board: &Board) -> Result<()> {
        let cannot = |error: std::io::Error| LiveError::system(format!("metrics at {}", self.address), error);
        for _ in 0..AT_ONCE {
            let (listener, board) = (self.listener.try_clone().map_err(cannot)?, board.clone());
            let answers = move || {
                for stream in listener.incoming() {
                    match stream {
                        // A client that has disconnected needs no answer.
                        Ok(stream) => drop(answer(stream, &board)),
                        // The limit of open files: the loop must not take a processor.
                        Err(_) => std::thread::sleep(StdDuration::from_millis(100)),
                    }
                }
            };
            std::thread::Builder::new().name("netlull-metrics".to_owned()).spawn(answers).map_err(cannot)?;
        }
        Ok(())
    }
}

/// Answers a single request: `GET /metrics` or `GET /status`.
fn answer(mut stream: TcpStream, board: &Board) -> std::io::Result<()> {
    let clock = Clock::start();
    let mut request = [0; 4096];
    let mut length = 0;
    while length < request.len() && !request[..length].windows(4).any(|end| end == b"\r\n\r\n") {
        let left = PATIENCE.saturating_sub(clock.now() - Instant::ZERO);
        if left == Duration::ZERO {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(StdDuration::from_nanos(left.as_nanos())))?;
        match stream.read(&mut request[length..])? {
            0 => break,
            more => length += more,
        }
    }
    let request = String::from_utf8_lossy(&request[..length]);
    let mut lines = request.split("\r\n");
    let line = lines.next().unwrap_or_default();
    let (status, kind, body) = match line {
        _ if !lines.take_while(|line| !line.is_empty()).any(names_loopback) => {
            ("403 Forbidden", "text/plain", "expected Host: localhost or a loopback address\n".to_owned())
        }
        line if line.starts_with("GET /metrics ") => {
            ("200 OK", "text/plain; version=0.0.4; charset=utf-8", board.look().exposition())
        }
        line if line.starts_with("GET /status ") => {
            ("200 OK", "application/json", serde_json::to_string(&board.look().summary()).unwrap_or_default())
        }
        line if line.starts_with("GET ") => ("404 Not Found", "text/plain", "see /metrics\n".to_owned()),
        _ => ("400 Bad Request", "text/plain", "expected GET\n".to_owned()),
    };
    let length = body.len();
    // The answer is smaller than a socket's buffer, so a client that does not read delays nobody.
    stream.set_write_timeout(Some(StdDuration::from_nanos(PATIENCE.as_nanos())))?;
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// Returns true if a header is a `Host` on loopback. A web page that rebinds its own name to a loopback address sends
/// that name.
fn names_loopback(header: &str) -> bool {
    let Some((name, host)) = header.split_once(':') else { return false };
    let host = host.trim();
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    let host = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(host, _)| host);
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    name.eq_ignore_ascii_case("host")
        && (host.eq_ignore_ascii_case("localhost")
            || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> Snapshot {
        Snapshot {
            device: "eth0".to_owned(),
            rate: BitRate::from_mbps(20),
            window: Some(Bytes::new(40_000)),
            counters: Some(Counters { rewritten: 3, ..Counters::default() }),
            ..Snapshot::default()
        }
    }

    #[test]
    fn every_line_is_a_comment_or_a_metric_with_a_number() {
        let text = snapshot().exposition();
        for line in text.lines().filter(|line| !line.starts_with("# ")) {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert!(name.starts_with("netlull_router_") && name.ends_with('}'), "{line}");
            assert!(value.parse::<f64>().is_ok(), "{line}");
        }
        assert!(text.contains("netlull_router_rate_bits_per_second{device=\"eth0\"} 20000000\n"));
        assert!(text.contains("netlull_router_clamped_acknowledgements_total{device=\"eth0\"} 3\n"));
        assert!(!text.contains("round_trip"), "AWM alone has none");
    }

    #[test]
    fn the_loop_passes_by_a_reader_and_is_shown_the_next_time() {
        let board = Board::default();
        let reader = board.0.lock().unwrap();
        board.show(|shown| shown.missed = 1);
        assert_eq!(reader.missed, 0);
        let end = std::thread::spawn({
            let board = board.clone();
            move || board.write(|shown| shown.changes = 7)
        });
        drop(reader);
        end.join().unwrap();
        board.show(|shown| shown.missed = 2);
        assert_eq!((board.look().missed, board.look().changes), (2, 7));
    }

    fn served() -> SocketAddr {
        let board = Board::default();
        board.show(|shown| *shown = snapshot());
        let server = Server::listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = server.address;
        server.serve(&board).unwrap();
        address
    }

    fn get(address: SocketAddr, path: &str, host: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nAccept: */*\r\n{host}\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn metrics_are_served_on_loopback_and_nowhere_else() {
        let address = served();
        let get = |path: &str| get(address, path, &format!("Host: {address}"));
        assert!(get("/metrics").contains("netlull_router_window_bytes{device=\"eth0\"} 40000\n"));
        assert!(get("/status").contains("\"rewritten\":3"));
        assert!(get("/").starts_with("HTTP/1.1 404 "));
        let why = Server::listen("0.0.0.0:0".parse().unwrap()).unwrap_err().to_string();
        assert!(why.starts_with("metrics is 0.0.0.0:0; expected a loopback address"), "{why}");
    }

    #[test]
    fn a_name_that_was_rebound_to_loopback_is_refused() {
        let address = served();
        for host in ["Host: localhost:9464", "host: LOCALHOST", "Host: [::1]:9464", "Host: 127.8.9.1", "Host: [::1]"] {
            assert!(get(address, "/metrics", host).starts_with("HTTP/1.1 200 "), "{host}");
        }
        for host in
            ["Host: evil.example:9464", "Host: localhost.evil.example", "Host: 10.0.0.1", "Host:", "X: localhost"]
        {
            assert!(get(address, "/metrics", host).starts_with("HTTP/1.1 403 "), "{host}");
        }
    }

    #[test]
    fn slow_clients_delay_nobody_and_have_a_deadline() {
        // On a busy machine, an answer may take longer than the slow clients' time, hardly five times.
        assert!((0..5).any(|_| is_answered_among_slow_clients()), "an answer waits for slow clients");
    }

    /// Returns true if an answer comes before the server ends any of the slow clients, which have come first.
    fn is_answered_among_slow_clients() -> bool {
        let address = served();
        let slow: Vec<_> = (0..AT_ONCE - 1).map(|_| TcpStream::connect(address).unwrap()).collect();
        // Each sends a byte at a time, so a limit for each byte alone would never end them.
        let ended: Vec<_> = slow.iter().map(|stream| std::thread::spawn(drip(stream.try_clone().unwrap()))).collect();
        assert!(get(address, "/metrics", "Host: localhost").starts_with("HTTP/1.1 200 "));
        let is_open = |stream: &TcpStream| {
            stream.set_nonblocking(true).unwrap();
            stream.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
        };
        let are_open = slow.iter().all(is_open);
        assert!(ended.into_iter().all(|thread| thread.join().unwrap()), "the server ends the connection");
        are_open
    }

    /// Sends a byte every 100 ms, for two minutes at most. Returns true if the server ends the connection.
    fn drip(mut stream: TcpStream) -> impl FnOnce() -> bool {
        move || {
            (0..1200).any(|_| {
                std::thread::sleep(StdDuration::from_millis(100));
                stream.write_all(b"G").is_err()
            })
        }
    }
}
