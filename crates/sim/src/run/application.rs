//! The application of a TCP connection, which writes its data.
//!
//! Without a write rate, the application hands over all data when the connection opens. Data that TCP has not sent
//! counts as not written. With a write rate, it writes at its own times, independently of TCP. Unsent data waits in
//! the send buffer, which has no limit.

use crate::scenario::{TcpFlow, TransferSize, WriteStep, Writes};
use netlull_tcp::{Data, Endpoint};
use netlull_units::{BitRate, Instant, Serialiser};
use std::collections::VecDeque;

/// An application that acts after the opening of its connection.
#[derive(Clone, Debug)]
pub(super) struct Application {
    /// The time after which nothing is written.
    stop: Instant,
    /// `None` while TCP always has data to send.
    writer: Option<Writer>,
    /// Later changes of its writes.
    steps: VecDeque<WriteStep>,
}

/// An application's writes at a constant rate.
#[derive(Clone, Debug)]
struct Writer {
    /// The time of the next write; NEVER before the opening and after the last byte.
    next: Instant,
    /// The time between two writes.
    spacing: Serialiser,
    /// The size of a write, bytes.
    size: u32,
    /// Data not yet written, bytes; `None` for endless data.
    left: Option<u64>,
    /// Data written, bytes.
    written: u64,
}

impl Application {
    /// The application of `flow`; `None` if it does nothing after the opening.
    pub fn new(flow: &TcpFlow) -> Option<Box<Self>> {
        let writer = flow.writes.map(|writes| Writer::new(writes, flow.size));
        let steps = flow.steps.iter().copied().collect();
        flow.acts().then(|| Box::new(Self { stop: flow.stop, writer, steps }))
    }

    /// The time of its next action; [`Instant::NEVER`] after its last byte.
    pub fn next(&self) -> Instant {
        let step = self.steps.front().map_or(Instant::NEVER, |step| step.at);
        self.writer.as_ref().map_or(Instant::NEVER, |writer| writer.next).min(self.stop).min(step)
    }

    /// The written data; `None` if it equals the data that TCP has sent.
    pub fn written(&self) -> Option<u64> {
        self.writer.as_ref().map(|writer| writer.written)
    }

    /// Performs the action due at `now`. Returns true if the application will not write again.
    pub fn act(&mut self, now: Instant, endpoint: &mut Endpoint) -> bool {
        if let Some(step) = self.steps.front().copied()
            && step.at <= now
            && now < self.stop
        {
            self.steps.pop_front();
            self.change(now, step.writes, endpoint);
            return false;
        }
        let last = match &mut self.writer {
            Some(writer) if now < self.stop => writer.write(now, endpoint),
            // Written data will be sent.
            Some(writer) => {
                writer.next = Instant::NEVER;
                true
            }
            None => {
                endpoint.stop();
                true
            }
        };
        if last {
            self.stop = Instant::NEVER;
            self.steps.clear();
            endpoint.close();
        }
        last
    }

    /// Changes its writes: the first at the new rate comes now.
    fn change(&mut self, now: Instant, writes: Option<Writes>, endpoint: &mut Endpoint) {
        let Some(writes) = writes else {
            self.writer = None;
            endpoint.send(Data::Endless);
            return;
        };
        let written = self.writer.as_ref().map_or_else(|| endpoint.hold(), |writer| writer.written);
        // A pause has a writer that never writes, at any rate.
        let spaced = Writes { rate: writes.rate.max(BitRate::from_bps(1)), ..writes };
        let mut writer = Writer { written, ..Writer::new(spaced, TransferSize::Endless) };
        if !writes.rate.is_zero() {
            writer.write(now, endpoint);
        }
        self.writer = Some(writer);
    }
}

impl Writer {
    fn new(writes: Writes, size: TransferSize) -> Self {
        let left = match size {
            TransferSize::Endless => None,
            TransferSize::Bytes(bytes) => Some(bytes.as_u64()),
        };
        Self { next: Instant::NEVER, spacing: Serialiser::new(writes.rate), size: writes.size, left, written: 0 }
    }

    /// Performs the write due at `now`. Returns true if it is the last.
    fn write(&mut self, now: Instant, endpoint: &mut Endpoint) -> bool {
        let size = u64::from(self.size);
        let bytes = self.left.map_or(size, |left| size.min(left));
        endpoint.send(Data::Bytes(bytes));
        self.written += bytes;
        self.left = self.left.map(|left| left - bytes);
        let last = self.left == Some(0);
        self.next = if last { Instant::NEVER } else { now + self.spacing.next(self.size) };
        last
    }
}

/// Hands over the available data when the connection opens. Returns true if the application will not write again.
pub(super) fn hand_over(
    application: Option<&mut Application>,
    size: TransferSize,
    now: Instant,
    endpoint: &mut Endpoint,
) -> bool {
    match (application, size) {
        (Some(application), _) if application.writer.is_some() => application.act(now, endpoint),
        (_, TransferSize::Endless) => {
            endpoint.send(Data::Endless);
            false
        }
        (_, TransferSize::Bytes(bytes)) => {
            endpoint.send(Data::Bytes(bytes.as_u64()));
            endpoint.close();
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::FlowPath;
    use netlull_tcp::{Config, SeqNr};
    use netlull_units::{Bytes, Duration};

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn flow(size: TransferSize, stop: Instant, writes: Option<Writes>) -> TcpFlow {
        let path = FlowPath { name: "f".to_owned(), from: 0, to: 1 };
        let config = Config::default();
        TcpFlow { path, start: Instant::ZERO, jitter: Duration::ZERO, size, stop, writes, steps: Vec::new(), config }
    }

    /// Times of all actions before `until`, each with the data written by then.
    fn story(flow: &TcpFlow, opens: Instant, until: Instant) -> Vec<(Instant, u64)> {
        let mut application = Application::new(flow).expect("it does something");
        let mut endpoint = Endpoint::client(&flow.config, SeqNr::new(0));
        endpoint.open(opens);
        hand_over(Some(&mut application), flow.size, opens, &mut endpoint);
        let mut story = vec![(opens, application.written().unwrap_or_default())];
        while application.next() < until {
            let now = application.next();
            application.act(now, &mut endpoint);
            story.push((now, application.written().unwrap_or_default()));
        }
        story
    }

    /// 1000 B = 8000 bit at 1 Mb/s: a write every 8 ms.
    const WRITES: Option<Writes> = Some(Writes { rate: BitRate::from_mbps(1), size: 1000 });

    #[test]
    fn writes_come_at_their_rate_from_the_opening_on_and_the_last_is_what_is_left() {
        let flow = flow(TransferSize::Bytes(Bytes::new(2500)), Instant::NEVER, WRITES);
        let written = [(at(3), 1000), (at(11), 2000), (at(19), 2500)];
        assert_eq!(story(&flow, at(3), Instant::NEVER), written);
    }

    #[test]
    fn nothing_is_written_from_the_stop_on() {
        // A write would be due at the stop.
        let flow = flow(TransferSize::Endless, at(16), WRITES);
        assert_eq!(story(&flow, at(0), Instant::NEVER), [(at(0), 1000), (at(8), 2000), (at(16), 2000)]);
    }

    #[test]
    fn an_application_that_only_stops_does_so_once() {
        let flow = flow(TransferSize::Endless, at(5), None);
        assert_eq!(story(&flow, at(0), Instant::NEVER), [(at(0), 0), (at(5), 0)]);
    }

    #[test]
    fn rates_change_at_their_times() {
        // Endless until 4 ms, of which nothing is sent; then a write every 8 ms, a pause at 20 ms, and endless data.
        let step = |millis, writes| WriteStep { at: at(millis), writes };
        let pause = Some(Writes { rate: BitRate::from_bps(0), size: 1000 });
        let steps = vec![step(4, WRITES), step(20, pause), step(30, None)];
        let flow = TcpFlow { steps, ..flow(TransferSize::Endless, Instant::NEVER, None) };
        let written = [(at(0), 0), (at(4), 1000), (at(12), 2000), (at(20), 2000), (at(30), 0)];
        assert_eq!(story(&flow, at(0), at(100)), written);
    }

    #[test]
    fn one_that_does_nothing_more_is_none() {
        assert!(Application::new(&flow(TransferSize::Endless, Instant::NEVER, None)).is_none());
    }

    #[test]
    fn what_has_not_been_sent_by_the_stop_never_is() {
        // Nothing is sent yet, so only the FIN follows.
        let mut endpoint = Endpoint::client(&Config::default(), SeqNr::new(0));
        let flow = flow(TransferSize::Bytes(Bytes::new(5000)), at(5), None);
        let mut application = Application::new(&flow).expect("it stops");
        endpoint.open(at(0));
        assert!(hand_over(Some(&mut application), flow.size, at(0), &mut endpoint));
        assert!(!endpoint.all_acked());
        assert!(application.act(at(5), &mut endpoint));
        assert!(endpoint.all_acked());
    }
}
