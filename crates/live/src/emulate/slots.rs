//! What can be due in the emulated network, and in which order what is due at one instant happens.

use super::agenda::Slot;

/// Slots in the order in which they are handled at one instant, as the simulator does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    pub(super) links: u32,
    pub(super) controllers: u32,
    pub(super) stations: u32,
    pub(super) flows: u32,
}

/// What is due in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Departure(usize),
    Delivery(usize),
    Controller(usize),
    Capacity(usize),
    Routing,
    Station(usize),
    Datagram(usize),
    Bin,
    Mark,
}

impl Slots {
    pub(super) fn count(self) -> usize {
        (3 * self.links + self.controllers + self.stations + self.flows + 3) as usize
    }

    #[allow(clippy::cast_possible_truncation)]
    pub(super) fn of(self, due: Due) -> Slot {
        let capacities = 2 * self.links + self.controllers;
        let routing = capacities + self.links;
        let stations = routing + 1;
        let datagrams = stations + self.stations;
        match due {
            Due::Departure(link) => link as Slot,
            Due::Delivery(link) => self.links + link as Slot,
            Due::Controller(index) => 2 * self.links + index as Slot,
            Due::Capacity(link) => capacities + link as Slot,
            Due::Routing => routing,
            Due::Station(index) => stations + index as Slot,
            Due::Datagram(flow) => datagrams + flow as Slot,
            Due::Bin => datagrams + self.flows,
            Due::Mark => datagrams + self.flows + 1,
        }
    }

    pub(super) fn due(self, slot: Slot) -> Due {
        type Make = fn(usize) -> Due;
        let parts: [(u32, Make); 7] = [
            (self.links, Due::Departure),
            (self.links, Due::Delivery),
            (self.controllers, Due::Controller),
            (self.links, Due::Capacity),
            (1, |_| Due::Routing),
            (self.stations, Due::Station),
            (self.flows, Due::Datagram),
        ];
        let mut rest = slot;
        for (size, make) in parts {
            if rest < size {
                return make(rest as usize);
            }
            rest -= size;
        }
        if rest == 0 { Due::Bin } else { Due::Mark }
    }
}
