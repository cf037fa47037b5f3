//! A link's duties to its controller: it delivers events, performs the actions and sets the timer.
//!
//! ```text
//!             event                      change_rate, set_timer
//!   owner ───────────► Driver ─────────────────────────────────► Line
//!         ◄───────────   │  ▲
//!       window, error    ▼  │ actions, next timeout
//!                      controller
//! ```
//!
//! Simulator, emulation and router use the same driver.

use crate::gateway_summary::{Account, GatewaySummary};
use crate::plan::InService;
use crate::transmission::RateChange;
use netlull_mechanism::ConfigError;
use netlull_mechanism::link::{self, Estimates, LinkAction, LinkEvent};
use netlull_units::{BitRate, Bytes, Duration, Instant};

/// The most actions and timeouts of a machine at one instant. A machine above it would never let time pass.
const MOST_AT_ONCE: u32 = 100_000;
/// The longest run, and the longest pause: sums of times have room.
pub const LONGEST: Duration = Duration::from_secs(1_000_000_000);

/// A controlled link, for its driver.
pub trait Line {
    /// Changes the rate.
    fn change_rate(&mut self, now: Instant, change: RateChange);

    /// Sets the time of the controller's next timeout, in place of an earlier one; `NEVER` for none.
    fn set_timer(&mut self, at: Instant);
}

/// The number of a machine's actions and timeouts at the latest instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct AtOnce {
    at: Instant,
    count: u32,
}

impl AtOnce {
    /// Counts an action or a timeout.
    ///
    /// # Errors
    /// If there are too many at this instant.
    #[inline]
    pub fn count(&mut self, now: Instant) -> Result<(), ConfigError> {
        if self.at != now {
            *self = Self { at: now, count: 0 };
        }
        self.count += 1;
        if self.count > MOST_AT_ONCE {
            let expected = format!("at most {MOST_AT_ONCE} actions and timeouts at one instant");
            return Err(ConfigError::new("actions", self.count, expected));
        }
        Ok(())
    }
}

/// A controller with its link's duties.
///
/// After an error, which is returned once, the link stays at its own rate and the controller gets no more events.
#[derive(Debug)]
pub struct Driver<M> {
    machine: M,
    duties: Duties,
    /// The estimates for the summary, for a controller that reads segments.
    account: Option<Box<Account>>,
    hears_busy: bool,
    /// The readiness to stop that the other direction of a coupled link knows.
    told_ready: bool,
    has_failed: bool,
}

/// The rules by which a link performs actions.
#[derive(Debug)]
struct Duties {
    context: link::Context,
    in_service: InService,
    at_once: AtOnce,
    /// True if the controller may ask for rate 0.
    may_stop: bool,
}

impl Duties {
    #[inline(never)]
    fn change_rate(
        &mut self,
        now: Instant,
        rate: BitRate,
        pause: Duration,
        line: &mut impl Line,
    ) -> Result<(), Box<ConfigError>> {
        self.at_once.count(now)?;
        if !(rate.is_zero() && self.may_stop) {
            self.context.check_rate("rate", rate)?;
        }
        if pause > LONGEST {
            return Err(Box::new(ConfigError::new("pause", pause, format!("at most {LONGEST}"))));
        }
        line.change_rate(now, RateChange { rate, pause, in_service: self.in_service });
        Ok(())
    }
}

// Forced inlines here, by `make counts`: without them and those of transmitters practRA takes 3.4 % more instructions.
impl<M: link::Controller> Driver<M> {
    /// A driver of the machine of a link. `in_service` is the treatment of the packet in service when the rate changes.
    #[must_use]
    pub fn new(machine: M, context: link::Context, in_service: InService) -> Self {
        let account = machine.reads_segments().then(Box::default);
        let (hears_busy, told_ready) = (machine.hears_busy(), machine.is_ready_to_stop());
        let duties = Duties { context, in_service, at_once: AtOnce::default(), may_stop: machine.stops() };
        Self { machine, duties, account, hears_busy, told_ready, has_failed: false }
    }

    /// The controller.
    #[must_use]
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// The controller, for its owner; its driver alone passes events to it.
    pub fn machine_mut(&mut self) -> &mut M {
        &mut self.machine
    }

    /// True if it sums up the estimates of a controller that reads segments.
    #[must_use]
    pub fn keeps_account(&self) -> bool {
        self.account.is_some()
    }

    /// Sets the first timer, and stops the line of a controller that begins so.
    pub fn start(&self, line: &mut impl Line) {
        if self.duties.may_stop && self.machine.rate().is_zero() {
            let (rate, pause, in_service) = (BitRate::default(), Duration::ZERO, self.duties.in_service);
            line.change_rate(Instant::ZERO, RateChange { rate, pause, in_service });
        }
        line.set_timer(self.next_timeout());
    }

    /// The time of the next timeout; `NEVER` after an error.
    #[must_use]
    pub fn next_timeout(&self) -> Instant {
        self.machine.next_timeout().filter(|_| !self.has_failed).unwrap_or(Instant::NEVER)
    }

    /// True if this direction of a coupled link may stop, if that has changed since the last call: the other direction
    /// must hear of it.
    pub fn news_for_other_direction(&mut self) -> Option<bool> {
        let is_ready = self.machine.is_ready_to_stop();
        (std::mem::replace(&mut self.told_ready, is_ready) != is_ready).then_some(is_ready)
    }

    /// Delivers an event, performs the actions and sets the timer. Events that keep the link busy reach a controller
    /// only if it [hears them](link::Controller::hears_busy). Returns the last window that the controller requests; only an
    /// acknowledgement may lead to a window.
    ///
    /// # Errors
    /// If the controller has failed, its link cannot perform an action, or actions and timeouts never end.
    // Always inlined: a function per event need not check the kind of event.
    #[inline(always)]
    pub fn tell(&mut self, now: Instant, event: LinkEvent, line: &mut impl Line) -> Result<Option<Bytes>, ConfigError> {
        if self.has_failed || !self.hears_busy && event.keeps_busy() {
            return Ok(None);
        }
        self.try_to_tell(now, event, line).map_err(|error| {
            self.has_failed = true;
            // A controller that has failed has opened its link itself.
            if self.machine.fault().is_none() {
                let Duties { context, in_service, .. } = self.duties;
                line.change_rate(now, RateChange { rate: context.rate, pause: Duration::ZERO, in_service });
            }
            line.set_timer(Instant::NEVER);
            *error
        })
    }

    #[inline(always)]
    fn try_to_tell(
        &mut self,
        now: Instant,
        event: LinkEvent,
        line: &mut impl Line,
    ) -> Result<Option<Bytes>, Box<ConfigError>> {
        let is_acknowledgement = matches!(event, LinkEvent::Acknowledgement { .. });
        if matches!(event, LinkEvent::Timeout { .. }) {
            self.duties.at_once.count(now)?;
        }
        match &mut self.account {
            Some(account) if is_acknowledgement => account.acknowledgements += 1,
            Some(account) => account.settle(now, &self.machine),
            None => {}
        }
        let (duties, mut window) = (&mut self.duties, None);
        let told = self.machine.tell(now, event, &mut |action| match action {
            LinkAction::SetRate { rate, pause } => duties.change_rate(now, rate, pause, line),
            LinkAction::SetWindow(bytes) => {
                window = Some(bytes);
                Ok(duties.at_once.count(now)?)
            }
        });
        if let Some(fault) = self.machine.fault() {
            return Err(Box::new(fault.clone()));
        }
        line.set_timer(told?.unwrap_or(Instant::NEVER));
        match window {
            Some(window) if !is_acknowledgement => Err(Box::new(unasked(window))),
            window => Ok(window),
        }
    }

    /// Tells the controller of a coupled link if the other direction may stop. Performs the actions and sets the timer.
    ///
    /// # Errors
    /// If the link cannot perform an action.
    pub fn tell_of_other_direction(
        &mut self,
        now: Instant,
        is_ready: bool,
        line: &mut impl Line,
    ) -> Result<(), ConfigError> {
        self.machine.on_other_direction(now, is_ready);
        while let Some(action) = self.machine.poll_action() {
            if let Some((rate, pause)) = action.new_rate() {
                self.duties.change_rate(now, rate, pause, line).map_err(|error| *error)?;
            }
        }
        line.set_timer(self.next_timeout());
        Ok(())
    }

    /// Counts an acknowledgement with a reduced window.
    pub fn count_rewritten(&mut self) {
        if let Some(account) = &mut self.account {
            account.rewritten += 1;
        }
    }

    /// Starts the measured time of the mean estimates.
    pub fn restart(&mut self, now: Instant) {
        if let Some(account) = &mut self.account {
            account.restart(now);
        }
    }

    /// The estimates of a controller that reads segments.
    #[must_use]
    pub fn estimates(&self) -> Option<Estimates> {
        self.account.is_some().then(|| self.machine.estimates())
    }

    /// The summary of a controller that reads segments.
    #[must_use]
    pub fn summary(&self, now: Instant) -> Option<GatewaySummary> {
        Some(self.account.as_ref()?.summarise(now, &self.machine))
    }
}

#[cold]
fn unasked(window: Bytes) -> ConfigError {
    let expected = "a window only in answer to an acknowledgement";
    ConfigError::new("window", format!("{} B", window.as_u64()), expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlull_mechanism::Machine;
    use netlull_mechanism::gateway::{SegmentKind, SegmentView};
    use netlull_mechanism::rate::{Admission, QueueView};
    use std::collections::VecDeque;

    const RATE: BitRate = BitRate::from_mbps(10);

    /// A controller that answers every event with the same actions. With `again`, it always wants a timeout at once.
    #[derive(Debug, Default)]
    struct Scripted {
        answer: Vec<LinkAction>,
        again: bool,
        now: Instant,
        due: VecDeque<LinkAction>,
        fault: Option<ConfigError>,
        is_deaf: bool,
    }

    impl Machine for Scripted {
        type Event = LinkEvent;
        type Action = LinkAction;

        fn handle(&mut self, now: Instant, _: LinkEvent) {
            assert!(self.due.is_empty(), "an action was left");
            self.now = now;
            self.due.extend(self.answer.iter().copied());
        }

        fn poll_action(&mut self) -> Option<LinkAction> {
            self.due.pop_front()
        }

        fn next_timeout(&self) -> Option<Instant> {
            self.again.then_some(self.now)
        }
    }

    impl link::Controller for Scripted {
        fn rate(&self) -> BitRate {
            RATE
        }

        fn changes(&self) -> u64 {
            0
        }

        fn hears_busy(&self) -> bool {
            !self.is_deaf
        }

        fn fault(&self) -> Option<&ConfigError> {
            self.fault.as_ref()
        }
    }

    #[derive(Debug, Default)]
    struct Recorded {
        rates: Vec<BitRate>,
        timer: Option<Instant>,
    }

    impl Line for Recorded {
        fn change_rate(&mut self, _: Instant, change: RateChange) {
            self.rates.push(change.rate);
        }

        fn set_timer(&mut self, at: Instant) {
            self.timer = Some(at);
        }
    }

    const TIMEOUT: LinkEvent = LinkEvent::Timeout { queue: QueueView::EMPTY };

    fn driver(machine: Scripted) -> Driver<Scripted> {
        Driver::new(machine, link::Context::new(RATE, Bytes::new(1500)), InService::default())
    }

    fn set(mbps: u64) -> LinkAction {
        LinkAction::SetRate { rate: BitRate::from_mbps(mbps), pause: Duration::ZERO }
    }

    fn acknowledgement() -> LinkEvent {
        let kind = SegmentKind::Other;
        let segment = SegmentView { flow: 1, kind, end: 0, acknowledged: 9, data: false, fin: false, timestamps: None };
        LinkEvent::Acknowledgement { segment, window: Bytes::new(60_000) }
    }

    #[test]
    fn actions_are_performed_in_their_order_before_the_timer_is_set() {
        let mut line = Recorded::default();
        let window = |bytes| LinkAction::SetWindow(Bytes::new(bytes));
        let mut driver =
            driver(Scripted { answer: vec![set(2), window(3000), set(5), window(4000)], ..Scripted::default() });
        assert_eq!(driver.tell(Instant::ZERO, acknowledgement(), &mut line), Ok(Some(Bytes::new(4000))));
        assert_eq!(line.rates, [2, 5].map(BitRate::from_mbps));
        assert_eq!(line.timer, Some(Instant::NEVER));
    }

    /// Asserts that an event fails for a reason, once, and leaves the link at its own rate without a timer.
    fn fails(machine: Scripted, event: LinkEvent, reason: &str) {
        let (mut driver, mut line) = (driver(machine), Recorded::default());
        let error = driver.tell(Instant::ZERO, event, &mut line).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
        assert_eq!((line.rates.last(), line.timer), (Some(&RATE), Some(Instant::NEVER)));
        let changes = line.rates.len();
        assert_eq!(driver.tell(Instant::ZERO, event, &mut line), Ok(None));
        assert_eq!(line.rates.len(), changes);
    }

    #[test]
    fn what_a_link_cannot_do_is_an_error() {
        let answer = |action| Scripted { answer: vec![action], ..Scripted::default() };
        fails(answer(set(0)), TIMEOUT, "more than 0 b/s");
        fails(answer(set(11)), TIMEOUT, "at most the link's rate");
        let pause = LONGEST + Duration::from_nanos(1);
        fails(answer(LinkAction::SetRate { rate: RATE, pause }), TIMEOUT, "pause");
        fails(answer(LinkAction::SetWindow(Bytes::new(1500))), TIMEOUT, "in answer to an acknowledgement");
        let fault = Some(ConfigError::new("module", 1, "a module that works"));
        fails(Scripted { fault, ..answer(set(10)) }, TIMEOUT, "a module that works");
        fails(Scripted { answer: vec![set(5); 100_001], ..Scripted::default() }, TIMEOUT, "at one instant");
    }

    #[test]
    fn a_controller_may_hear_only_of_the_ends_of_busy_periods() {
        let queue =
            |waiting, in_service| QueueView { waiting: Bytes::new(waiting), in_service: Bytes::new(in_service) };
        let arrival =
            |queue| LinkEvent::Arrival { size: Bytes::new(9), admission: Admission::Accepted, queue, segment: None };
        let departure = |queue| LinkEvent::Departure { queue };
        // Each event, and if the link is busy before and after it.
        let events = [
            (arrival(queue(0, 9)), false),
            (arrival(queue(9, 9)), true),
            (departure(queue(0, 9)), true),
            (departure(queue(0, 0)), false),
            // A stopped link holds a packet.
            (arrival(queue(9, 0)), false),
            (LinkEvent::Timeout { queue: queue(9, 9) }, false),
        ];
        for (event, keeps_busy) in events {
            for is_deaf in [false, true] {
                let (mut driver, mut line) =
                    (driver(Scripted { answer: vec![set(5)], is_deaf, ..Scripted::default() }), Recorded::default());
                assert_eq!(driver.tell(Instant::ZERO, event, &mut line), Ok(None));
                assert_eq!(line.rates.is_empty(), is_deaf && keeps_busy, "{event:?}");
            }
        }
    }

    #[test]
    fn timeouts_at_one_instant_end() {
        let (mut driver, mut line) = (driver(Scripted { again: true, ..Scripted::default() }), Recorded::default());
        for _ in 0..100_000 {
            assert_eq!(driver.tell(Instant::ZERO, TIMEOUT, &mut line), Ok(None));
        }
        assert_eq!(line.timer, Some(Instant::ZERO));
        assert!(driver.tell(Instant::ZERO, TIMEOUT, &mut line).is_err());
        assert_eq!(line.timer, Some(Instant::NEVER));
    }

    #[test]
    fn a_later_instant_starts_the_count_again() {
        let mut at_once = AtOnce::default();
        let later = Instant::ZERO + Duration::from_nanos(1);
        for now in [Instant::ZERO, later] {
            assert!((0..100_000).all(|_| at_once.count(now).is_ok()));
        }
        assert!(at_once.count(later).is_err());
    }
}
