//! The main loop: packets from the queues to the station, its verdicts back.

use super::access::{Access, Held};
use super::outgoing::{Leaving, Outgoing, RawSender};
use super::queue::{Batch, Queue};
use crate::clock::Clock;
use crate::error::{LiveError, Result};
use crate::station::{LiveStation, SendVerdict, Sent, StationReport, Verdict};
use netlull_network::outcome::StationCounts;
use netlull_units::{Duration, Instant};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signalfd::SignalFd;
use nix::sys::time::{TimeSpec, TimeValLike};
use std::os::fd::AsFd;

/// The maximum number of packets from one queue before the other queue's turn.
const TURN: usize = 128;
/// The lateness of a timer above which the process counts as delayed.
const LATE: Duration = Duration::from_micros(200);
/// The time that a late timer waits for packets that may be delayed, too.
const GRACE: Duration = Duration::from_millis(1);

/// A station between the queues of its device.
pub(super) struct Datapath {
    clock: Clock,
    station: LiveStation,
    coming: Queue,
    going: Queue,
    raw: RawSender,
    /// The access point that holds arrivals, if the mechanism needs one.
    access: Option<Access>,
    batch: Batch,
    /// True for each queue in which packets wait.
    ready: [bool; 2],
    /// The packets waiting for the radio.
    outgoing: Outgoing,
    /// The end of a late timer's wait for packets.
    grace: Option<Instant>,
}

/// The reason why [`Datapath::wait`] has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    /// A signal has arrived.
    Signal,
    /// Packets have arrived, or a timer is due.
    Work,
}

impl Datapath {
    pub(super) fn new(
        clock: Clock,
        station: LiveStation,
        [coming, going]: [Queue; 2],
        raw: RawSender,
        access: Option<Access>,
    ) -> Self {
        Self {
            clock,
            station,
            coming,
            going,
            raw,
            access,
            batch: Batch::new(),
            ready: [false; 2],
            outgoing: Outgoing::default(),
            grace: None,
        }
    }

    /// Sleeps until there is work, at the latest until `latest`.
    ///
    /// # Errors
    /// If the kernel refuses to wait.
    pub(super) fn wait(&mut self, latest: Instant, signals: &SignalFd) -> Result<Woken> {
        let due = [
            self.grace.or_else(|| self.station.next_timeout()),
            self.outgoing.next_timeout(),
            self.access.as_ref().and_then(Access::next_timeout),
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
        self.ready = [fds[0].any() == Some(true), fds[1].any() == Some(true)];
        Ok(if fds[2].any() == Some(true) { Woken::Signal } else { Woken::Work })
    }

    /// Processes all pending work once.
    pub(super) fn turn(&mut self) {
        self.come();
        self.leave();
        self.go();
        self.time_out();
        self.leave();
        self.coming.flush();
        self.going.flush();
    }

    /// Processes timers. A late timer means that the process was delayed, and packets may have been delayed with it.
    /// The queues are therefore read once more before a silence is judged.
    fn time_out(&mut self) {
        let now = self.clock.now();
        if let Some(access) = &mut self.access {
            // Earlier events have been processed at their instants.
            access.advance(now, &mut self.station, &mut self.outgoing.outputs);
            return self.settle();
        }
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
        let (mut left, mut more) = (TURN, self.ready[0]);
        while more && left > 0 {
            left = left.saturating_sub(self.coming.receive(&mut self.batch));
            more = !self.batch.has_all();
            while let Some(packet) = self.batch.next(&mut self.coming) {
                let now = self.clock.now();
                if let Some(access) = &mut self.access {
                    let held = Held { id: packet.id, bytes: packet.bytes.to_vec(), checksum: packet.checksum };
                    self.coming.hold();
                    access.arrives(now, held, &mut self.station, &mut self.outgoing.outputs);
                    continue;
                }
                match self.station.receives_with(now, packet.bytes, false, packet.checksum) {
                    Verdict::Deliver => self.coming.accept(packet.id),
                    Verdict::Missed => self.coming.drop_packet(packet.id),
                }
            }
        }
    }

    /// Delivers or drops the packets with a verdict of the modelled air.
    fn settle(&mut self) {
        while let Some((id, verdict)) = self.access.as_mut().and_then(Access::poll_fate) {
            match verdict {
                Verdict::Deliver => self.coming.let_go(id, None),
                Verdict::Missed => self.coming.give_up(id),
            }
        }
    }

    fn go(&mut self) {
        let (mut left, mut more) = (TURN, self.ready[1]);
        while more && left > 0 {
            left = left.saturating_sub(self.going.receive(&mut self.batch));
            more = !self.batch.has_all();
            while let Some(packet) = self.batch.next(&mut self.going) {
                let (id, bytes, now) = (packet.id, packet.bytes, self.clock.now());
                if let Some(access) = &mut self.access {
                    access.advance(now, &mut self.station, &mut self.outgoing.outputs);
                }
                let before = first_bytes(bytes);
                let at = match self.station.sends(now, bytes) {
                    SendVerdict::Send => self.outgoing.behind(now),
                    SendVerdict::HoldUntil(at) => Some(at),
                    SendVerdict::Redundant => {
                        self.going.drop_packet(id);
                        continue;
                    }
                };
                match at {
                    None if first_bytes(bytes) == before => self.going.accept(id),
                    None => self.going.accept_as(id, bytes),
                    Some(at) => {
                        self.going.hold();
                        self.outgoing.hold(at, id, bytes.to_vec());
                    }
                }
            }
        }
    }

    /// Sends the packets that are due.
    fn leave(&mut self) {
        if self.access.is_none() {
            self.take_outputs();
        }
        self.leave_until(self.clock.now());
    }

    fn leave_until(&mut self, now: Instant) {
        while let Some(leaving) = self.outgoing.poll(now) {
            match leaving {
                Leaving::Held(id, bytes) => self.going.let_go(id, Some(&bytes)),
                Leaving::Own(Sent::Packet(bytes)) => {
                    // The host's earlier packets go first: an older window that arrived later would prevail.
                    self.going.flush();
                    self.raw.send(&bytes);
                }
                // Without a modelled access point, nobody receives polls or announcements.
                Leaving::Own(Sent::Poll | Sent::Announce(_)) => {}
            }
        }
    }

    fn take_outputs(&mut self) {
        while let Some(output) = self.station.poll_output() {
            self.outgoing.outputs.push_back(output);
        }
    }

    /// Ends without leaving a window closed, or a packet held or unsent.
    pub(super) fn finish(&mut self) -> Result<()> {
        let now = self.clock.now();
        self.station.release(now);
        self.take_outputs();
        self.leave_until(Instant::NEVER);
        self.settle();
        // Queued packets pass unchanged, including those held in an access point, which uses the same queue.
        for queue in [&mut self.coming, &mut self.going] {
            while queue.receive(&mut self.batch) > 0 {
                while let Some(packet) = self.batch.next(queue) {
                    queue.accept(packet.id);
                }
            }
            queue.accept_all();
        }
        if let Some(access) = &mut self.access {
            access.finish()?;
        }
        self.station.finish()
    }

    /// The station's report, with the counts of its access point.
    pub(super) fn report(&self, now: Instant) -> StationReport {
        let (held_packets, refused_packets) = self.access.as_ref().map_or((0, 0), Access::counts);
        let mut report = self.station.summary(now);
        report.counts = StationCounts { held_packets, refused_packets, ..report.counts };
        report
    }

    /// The time since the clock's start.
    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }
}

/// The part of a packet that can contain a rewritten window: IP header, extension headers, TCP header. The checksum
/// changes with it.
fn first_bytes(bytes: &[u8]) -> [u8; 128] {
    let mut first = [0; 128];
    for (to, from) in first.iter_mut().zip(bytes) {
        *to = *from;
    }
    first
}

/// The interval of heartbeats to the guard, which restores the rules after several are missing.
pub(super) const BEAT: Duration = Duration::from_millis(100);
