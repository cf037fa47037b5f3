//! The adapter of a station's plug-in, which is called at every event.

use crate::station::{self, StationAction, StationEvent};
use crate::{ConfigError, Machine};
use netlull_units::Instant;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt::Debug;

/// An answer to an event of a station.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StationAnswer {
    /// The actions, in their order.
    pub actions: Vec<StationAction>,
    /// The time of the next timeout; `None` without one. It replaces the previous time.
    pub timeout: Option<Instant>,
}

/// A plug-in that controls a station's radio.
pub trait StationSubscriber: Debug + Send + Sync {
    /// Answers an event.
    ///
    /// # Errors
    /// If the plug-in cannot go on. It is not called again.
    fn answer(&mut self, now: Instant, event: &StationEvent) -> Result<StationAnswer, ConfigError>;
}

/// A station's machine that lets a plug-in decide. If the plug-in fails, the radio wakes and stays awake.
#[derive(Debug)]
pub struct StationAdapter<S> {
    subscriber: S,
    actions: VecDeque<StationAction>,
    timeout: Option<Instant>,
    fault: Option<Box<ConfigError>>,
}

impl<S: StationSubscriber> StationAdapter<S> {
    /// A machine whose first timeout is due at `timeout`, if at all.
    #[must_use]
    pub fn new(subscriber: S, timeout: Option<Instant>) -> Self {
        Self { subscriber, actions: VecDeque::new(), timeout, fault: None }
    }
}

impl<S: StationSubscriber> Machine for StationAdapter<S> {
    type Event = StationEvent;
    type Action = StationAction;

    fn handle(&mut self, now: Instant, event: StationEvent) {
        // The driver may deliver any number of timeouts; the plug-in sees those that it has asked for.
        let is_early = event == StationEvent::Timeout && self.timeout.is_none_or(|due| due > now);
        if self.fault.is_some() || is_early {
            return;
        }
        match self.subscriber.answer(now, &event) {
            Ok(StationAnswer { actions, timeout }) => {
                self.actions.extend(actions);
                // A timeout in the past is due at once, and a plug-in that repeats it would stop time.
                self.timeout = timeout.filter(|&due| due > now);
            }
            Err(error) => {
                self.fault = Some(Box::new(error));
                self.timeout = None;
                self.actions.push_back(StationAction::Wake);
            }
        }
    }

    fn poll_action(&mut self) -> Option<StationAction> {
        self.actions.pop_front()
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.timeout
    }
}

impl<S: StationSubscriber> station::Policy for StationAdapter<S> {
    fn fault(&self) -> Option<&ConfigError> {
        self.fault.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::station::Policy as _;
    use netlull_units::Duration;

    /// Sleeps at every beacon for 10 ms, and fails at its third timeout.
    #[derive(Debug)]
    struct Napping(u32);

    impl StationSubscriber for Napping {
        fn answer(&mut self, now: Instant, event: &StationEvent) -> Result<StationAnswer, ConfigError> {
            if *event != StationEvent::Timeout {
                return Ok(StationAnswer {
                    actions: vec![StationAction::Sleep],
                    timeout: Some(now + Duration::from_millis(10)),
                });
            }
            self.0 += 1;
            if self.0 == 3 {
                return Err(ConfigError::new("event", "broken", "an answer"));
            }
            Ok(StationAnswer { actions: vec![StationAction::Wake], timeout: Some(now) })
        }
    }

    #[test]
    fn only_timeouts_that_were_asked_for_are_seen_and_a_failure_wakes_the_radio() {
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let mut adapter = StationAdapter::new(Napping(0), None);
        let beacon = StationEvent::Beacon { buffered: false };
        let mut found = Vec::new();
        for (millis, event) in [
            (1, StationEvent::Timeout),
            (2, beacon),
            (5, StationEvent::Timeout),
            (12, StationEvent::Timeout),
            (12, StationEvent::Timeout),
            (20, beacon),
            (30, StationEvent::Timeout),
            (40, beacon),
            (50, StationEvent::Timeout),
            (60, beacon),
        ] {
            adapter.handle(at(millis), event);
            found.extend(std::iter::from_fn(|| adapter.poll_action()).map(|action| (millis, action)));
        }
        let (sleep, wake) = (StationAction::Sleep, StationAction::Wake);
        assert_eq!(found, [(2, sleep), (12, wake), (20, sleep), (30, wake), (40, sleep), (50, wake)]);
        assert_eq!(adapter.fault().map(|error| error.field.as_str()), Some("event"));
        assert_eq!(adapter.next_timeout(), None);
    }
}
