//! Packets waiting to leave the host, its own and those on its behalf, in a single order.

use crate::station::{Output, Sent};
use netlull_units::Instant;
use std::collections::VecDeque;

/// The packets that wait for the radio, or for earlier packets.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// The host's packets: the departure time, the number in the queue and the bytes.
    held: VecDeque<(Instant, u32, Vec<u8>)>,
    /// The station's packets.
    pub(super) outputs: VecDeque<Output>,
}

/// A departing packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    /// A packet of the host: its number and its final bytes.
    Held(u32, Vec<u8>),
    /// A packet of the station.
    Own(Sent),
}

impl Outgoing {
    /// The departure of a host packet that could leave now but must follow earlier ones.
    pub(super) fn behind(&self, now: Instant) -> Option<Instant> {
        self.held.back().map(|(last, ..)| now.max(*last))
    }

    /// Adds a packet of the host.
    pub(super) fn hold(&mut self, at: Instant, id: u32, bytes: Vec<u8>) {
        self.held.push_back((at, id, bytes));
    }

    /// The instant of the next departure.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let held = self.held.front().map(|(at, ..)| *at);
        [held, self.outputs.front().map(|output| output.at)].into_iter().flatten().min()
    }

    /// Takes the next packet that departs by `now`, ordered by departure.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Leaving> {
        let at = self.next_timeout().filter(|at| *at <= now)?;
        let due = self.held.front().is_some_and(|(due, ..)| *due == at);
        let held = due.then(|| self.held.pop_front()).flatten();
        held.map(|(_, id, bytes)| Leaving::Held(id, bytes))
            .or_else(|| self.outputs.pop_front().map(|output| Leaving::Own(output.what)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlull_units::Duration;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn own(millis: u64) -> Output {
        Output { at: at(millis), what: Sent::Packet(vec![9]) }
    }

    #[test]
    fn a_packet_sent_at_once_goes_behind_those_that_wait() {
        let mut outgoing = Outgoing::default();
        assert_eq!(outgoing.behind(at(1)), None);
        outgoing.hold(at(3), 1, vec![1]);
        // The radio is awake, but the packet has not left yet.
        assert_eq!((outgoing.behind(at(2)), outgoing.behind(at(4))), (Some(at(3)), Some(at(4))));
        outgoing.hold(at(4), 2, vec![2]);
        let left: Vec<_> = std::iter::from_fn(|| outgoing.poll(at(4))).collect();
        assert_eq!(left, [Leaving::Held(1, vec![1]), Leaving::Held(2, vec![2])]);
        assert_eq!(outgoing.behind(at(5)), None);
    }

    #[test]
    fn acknowledgements_in_the_hosts_name_keep_their_place_among_its_own() {
        let mut outgoing = Outgoing::default();
        outgoing.outputs.extend([own(2), own(5)]);
        outgoing.hold(at(2), 1, vec![1]);
        outgoing.hold(at(4), 2, vec![2]);
        assert_eq!((outgoing.next_timeout(), outgoing.poll(at(1))), (Some(at(2)), None));
        let ours = Leaving::Own(own(0).what);
        let left: Vec<_> = std::iter::from_fn(|| outgoing.poll(at(4))).collect();
        assert_eq!(left, [Leaving::Held(1, vec![1]), ours.clone(), Leaving::Held(2, vec![2])]);
        assert_eq!((outgoing.next_timeout(), outgoing.poll(at(5))), (Some(at(5)), Some(ours)));
    }
}
