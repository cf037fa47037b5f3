//! The loop: packets from the queues to the station, its verdicts back.

use super::access::{Access, Held};
use super::outgoing::{Leaving, Outgoing};
use super::queue::{Batch, Queue};
use super::raw::RawSender;
use crate::clock::Clock;
use crate::error::{LiveError, Result};
use crate::station::{LiveStation, SendVerdict, Sent, StationReport, Verdict};
use netlull_network::station::StationCounts;
use netlull_units::{Duration, Instant};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signalfd::SignalFd;
use nix::sys::time::{TimeSpec, TimeValLike};
use std::os::fd::AsFd;

/// So many packets of one queue are looked at before the other one's.
const TURN: usize = 128;
/// A timer that is later than this was kept from running.
const LATE: Duration = Duration::from_micros(200);
/// How long it waits for packets that were, too.
const GRACE: Duration = Duration::from_millis(1);

/// A station between the queues of its device.
pub(super) struct Datapath {
    clock: Clock,
    station: LiveStation,
    coming: Queue,
    going: Queue,
    raw: RawSender,
    /// The access point that holds what comes, where the mechanism needs one.
    access: Option<Access>,
    batch: Batch,
    /// Whether packets wait in each queue.
    ready: [bool; 2],
    /// What waits for the radio.
    outgoing: Outgoing,
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

    /// Sleeps until there is something to do, at the latest until `latest`.
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

    /// Does what there is to do, once round.
    pub(super) fn turn(&mut self) {
        self.come();
        self.leave();
        self.go();
        self.time_out();
        self.leave();
        self.coming.flush();
        self.going.flush();
    }

    /// A timer that comes late says that something has kept this machine from running. What has kept packets from coming, too, may be let
    /// go at the same instant: the queues are read once more before a silence is judged.
    fn time_out(&mut self) {
        let now = self.clock.now();
        if let Some(access) = &mut self.access {
            // Everything before it has been done at its instant.
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

    /// What has come over the modelled air reaches the host, or does not.
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

    /// What is due leaves.
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
                    // What the host has sent before it goes before it: an older window that comes later would stand.
                    self.going.flush();
                    self.raw.send(&bytes);
                }
                // Without an access point of ours there is nobody to poll or to tell.
                Leaving::Own(Sent::Poll | Sent::Announce(_)) => {}
            }
        }
    }

    fn take_outputs(&mut self) {
        while let Some(output) = self.station.poll_output() {
            self.outgoing.outputs.push_back(output);
        }
    }

    /// The end: nothing stays closed, held or unsent.
    pub(super) fn finish(&mut self) -> Result<()> {
        let now = self.clock.now();
        self.station.release(now);
        self.take_outputs();
        self.leave_until(Instant::NEVER);
        self.settle();
        // What still waits goes on as it is, and what is held in an access point, which has the same queue.
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

    /// The station in numbers, with its access point.
    pub(super) fn report(&self, now: Instant) -> StationReport {
        let (held_packets, refused_packets) = self.access.as_ref().map_or((0, 0), Access::counts);
        let mut report = self.station.summary(now);
        report.counts = StationCounts { held_packets, refused_packets, ..report.counts };
        report
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
