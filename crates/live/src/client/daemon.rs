//! The loop: packets from the queues to the station, its verdicts back.

use super::queue::Queue;
use super::raw::RawSender;
use crate::clock::Clock;
use crate::error::{LiveError, Result};
use crate::station::{Output, SendVerdict, Sent, Station, Verdict};
use netlull_units::{Duration, Instant};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signalfd::SignalFd;
use nix::sys::time::{TimeSpec, TimeValLike};
use std::collections::VecDeque;
use std::os::fd::AsFd;

/// So many packets of one queue are looked at before the other one's.
const TURN: usize = 128;
/// A timer that is later than this was kept from running.
const LATE: Duration = Duration::from_micros(200);
/// How long it waits for packets that were, too.
const GRACE: Duration = Duration::from_millis(1);
/// A packet of the largest size with what the kernel says of it.
const MESSAGE: usize = 66_000;

/// A station between the queues of its device.
pub(super) struct Datapath {
    clock: Clock,
    station: Station,
    coming: Queue,
    going: Queue,
    raw: RawSender,
    buffer: Vec<u8>,
    /// Packets of the host's that wait for the radio.
    held: VecDeque<(Instant, u32, Vec<u8>)>,
    /// Packets of the station's that do.
    outputs: VecDeque<Output>,
    /// Until when a timer that was late waits for packets.
    grace: Option<Instant>,
}

/// Why [`Datapath::wait`] has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    /// A signal has come.
    Signal,
    /// There are packets, or something is due.
    Work,
}

impl Datapath {
    pub(super) fn new(clock: Clock, station: Station, [coming, going]: [Queue; 2], raw: RawSender) -> Self {
        Self {
            clock,
            station,
            coming,
            going,
            raw,
            buffer: vec![0; MESSAGE],
            held: VecDeque::new(),
            outputs: VecDeque::new(),
            grace: None,
        }
    }

    pub(super) fn station(&mut self) -> &mut Station {
        &mut self.station
    }

    /// Sleeps until there is something to do, at the latest until `latest`.
    ///
    /// # Errors
    /// If the kernel refuses to wait.
    pub(super) fn wait(&self, latest: Instant, signals: &SignalFd) -> Result<Woken> {
        let due = [
            self.grace.or_else(|| self.station.next_timeout()),
            self.held.front().map(|(at, ..)| *at),
            self.outputs.front().map(|output| output.at),
        ];
        let due = due.into_iter().flatten().fold(latest, Instant::min);
        let left = due.saturating_since(self.clock.now()).as_nanos();
        let timeout = TimeSpec::nanoseconds(i64::try_from(left).unwrap_or(i64::MAX));
        let ready = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let mut fds = [ready(self.coming.as_fd()), ready(self.going.as_fd()), ready(signals.as_fd())];
        match ppoll(&mut fds, Some(timeout), None) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(LiveError::system("waiting for packets", error)),
        }
        Ok(if fds[2].any() == Some(true) { Woken::Signal } else { Woken::Work })
    }

    /// Does what there is to do, once round.
    pub(super) fn turn(&mut self) {
        self.come();
        self.go();
        self.time_out();
        self.send_outputs();
        let now = self.clock.now();
        while let Some((_, id, bytes)) = self.held.pop_front_if(|(at, ..)| *at <= now) {
            self.going.let_go(id, &bytes);
        }
        self.coming.flush();
        self.going.flush();
    }

    /// A timer that comes late says that something has kept this machine from running. What has kept packets from coming, too, may be let
    /// go at the same instant: the queues are read once more before a silence is judged.
    fn time_out(&mut self) {
        let now = self.clock.now();
        let late = self.station.next_timeout().filter(|due| *due + LATE < now && !self.station.is_asleep());
        match (late, self.grace) {
            (Some(_), None) => self.grace = Some(now + GRACE),
            (Some(_), Some(until)) if now < until => {}
            _ => {
                self.grace = None;
                self.station.handle_timeout(now);
            }
        }
    }

    fn come(&mut self) {
        for _ in 0..TURN {
            let Some((id, bytes)) = self.coming.receive(&mut self.buffer) else { break };
            match self.station.receives(self.clock.now(), bytes, false) {
                Verdict::Deliver => self.coming.accept(id),
                Verdict::Missed => self.coming.drop_packet(id),
            }
        }
    }

    fn go(&mut self) {
        for _ in 0..TURN {
            let Some((id, bytes)) = self.going.receive(&mut self.buffer) else { break };
            let before = first_bytes(bytes);
            match self.station.sends(self.clock.now(), bytes) {
                SendVerdict::Send if first_bytes(bytes) == before => self.going.accept(id),
                SendVerdict::Send => self.going.accept_as(id, bytes),
                SendVerdict::HoldUntil(at) => {
                    self.going.hold();
                    self.held.push_back((at, id, bytes.to_vec()));
                }
            }
        }
    }

    fn send_outputs(&mut self) {
        while let Some(output) = self.station.poll_output() {
            self.outputs.push_back(output);
        }
        let now = self.clock.now();
        while let Some(output) = self.outputs.pop_front_if(|output| output.at <= now) {
            // There is no access point here to poll or to tell.
            if let Sent::Packet(bytes) = output.what {
                self.raw.send(&bytes);
            }
        }
    }

    /// The end: nothing stays closed, held or unsent.
    pub(super) fn finish(&mut self) -> Result<()> {
        let now = self.clock.now();
        self.station.release(now);
        while let Some(output) = self.station.poll_output() {
            self.outputs.push_back(output);
        }
        for output in self.outputs.drain(..) {
            if let Sent::Packet(bytes) = output.what {
                self.raw.send(&bytes);
            }
        }
        while let Some((_, id, bytes)) = self.held.pop_front() {
            self.going.let_go(id, &bytes);
        }
        // What still waits goes on as it is.
        for queue in [&mut self.coming, &mut self.going] {
            while let Some((id, _)) = queue.receive(&mut self.buffer) {
                queue.accept(id);
            }
            queue.flush();
        }
        self.station.finish()
    }

    /// How long since the clock began.
    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }
}

/// As much of a packet as a rewritten window can be in: IP header, extension headers, TCP header. The checksum changes with it.
fn first_bytes(bytes: &[u8]) -> [u8; 128] {
    let mut first = [0; 128];
    for (to, from) in first.iter_mut().zip(bytes) {
        *to = *from;
    }
    first
}

/// How often the guard hears a beat; it restores after several of them are missing.
pub(super) const BEAT: Duration = Duration::from_millis(100);
