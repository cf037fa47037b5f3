//! Links made of line cards, each on or off whatever its load.

use crate::{ConfigError, TransitionPower};
use netlull_units::{BitRate, Watts};

/// An end of a link with `cards` cards of equal rate. The service rate determines the number of cards that are
/// on.
///
/// The paper that counts cards (greened-network-2012 section III) gives a link of 40 Gb/s 16 cards. Each has
/// 2.5 Gb/s and 140 W, and they are at one end of the link only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineCards {
    cards: u32,
    card_power: Watts,
    transition_power: TransitionPower,
}

impl LineCards {
    /// Cisco ONS 15600: 140 W for each card of 2.5 Gb/s, 16 cards for 40 Gb/s (greened-network-2012 section III).
    pub(crate) const ONS_15600: Self =
        Self { cards: 16, card_power: Watts::new(140.0), transition_power: TransitionPower::Higher };

    /// Creates a model of `cards` cards with `card_power` each.
    ///
    /// # Errors
    /// If there is no card, or its power is not a finite number above zero.
    pub fn new(cards: u32, card_power: Watts) -> Result<Self, ConfigError> {
        if cards == 0 {
            return Err(ConfigError::new("cards", cards, "at least 1"));
        }
        if !(card_power.as_f64() > 0.0 && card_power.as_f64().is_finite()) {
            return Err(ConfigError::new("card_power", card_power, "a finite power above 0 W"));
        }
        Ok(Self { cards, card_power, transition_power: TransitionPower::Higher })
    }

    /// The same model with another assumption about the power in transitions.
    #[must_use]
    pub const fn with_transition_power(self, transition_power: TransitionPower) -> Self {
        Self { transition_power, ..self }
    }

    /// The assumption about the power in transitions.
    #[must_use]
    pub const fn transition_power(&self) -> TransitionPower {
        self.transition_power
    }

    /// The number of cards.
    #[must_use]
    pub const fn cards(&self) -> u32 {
        self.cards
    }

    /// The power of each card, in watts.
    #[must_use]
    pub const fn card_power(&self) -> Watts {
        self.card_power
    }

    /// The smallest number of cards that carries a service rate of `rate` on a link of `max_rate`.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)]
    pub fn cards_on(&self, rate: BitRate, max_rate: BitRate) -> u32 {
        // The condition cards_on / cards >= rate / max_rate without a division; at most `cards`.
        let wanted = u128::from(rate.as_bps()) * u128::from(self.cards);
        wanted.div_ceil(u128::from(max_rate.as_bps().max(1))).min(u128::from(self.cards)) as u32
    }

    /// The power of the cards that are on, in watts.
    pub(crate) fn rate_power(&self, rate: BitRate, max_rate: BitRate) -> Watts {
        Watts::new(f64::from(self.cards_on(rate, max_rate)) * self.card_power.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PowerModel, Residency, Traffic};
    use netlull_units::Duration;

    #[test]
    fn as_many_cards_are_on_as_the_rate_needs() {
        // 40 Mb/s represent 16 cards of 2.5 Mb/s each: 2.5 need 1, a bit more 2, 20 need 8, 40 all 16.
        let on = |bps| LineCards::ONS_15600.cards_on(BitRate::from_bps(bps), BitRate::from_mbps(40));
        assert_eq!([2_500_000, 2_500_001, 20_000_000, 40_000_000].map(on), [1, 2, 8, 16]);
    }

    #[test]
    fn the_energy_of_a_link_by_hand() {
        // 16 x 140 W = 2240 W. Awake for 30 of 60 s: 67,200 J; asleep the cards are off.
        let cards = PowerModel::LineCards(LineCards::ONS_15600);
        let rate = BitRate::from_mbps(40);
        let slept = Residency::constant(rate, Duration::from_secs(60)).with_sleep(Duration::from_secs(30));
        let energy = cards.energy(&slept, rate, Traffic { bits: 1_000_000, packets: 100 });
        assert!((energy.total().as_f64() - 67_200.0).abs() < 1e-9);
        assert!(energy.asleep.as_f64().abs() < 1e-12);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let why = |cards, watts| LineCards::new(cards, Watts::new(watts)).unwrap_err().to_string();
        assert_eq!(why(0, 1.0), "cards is 0; expected at least 1");
        assert!(why(1, 0.0).starts_with("card_power is 0 W"));
    }
}
