//! Packet loss of a link, before its queue.

use crate::random::Stream;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use serde::{Deserialize, Serialize};

/// The loss model of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossModel {
    /// Loss of each packet with this probability, independently.
    Bernoulli(f64),
    /// Loss in two states, see [`GilbertElliott`].
    GilbertElliott(GilbertElliott),
    /// Loss of packets with given numbers.
    Scripted(Vec<ScriptedDrops>),
    /// Loss of packets beyond a rate and a burst, see [`Policer`].
    Policer(Policer),
}

/// A token bucket without a buffer: the single rate three color marker of RFC 2697 with an excess burst size of zero,
/// which drops red packets. Packets before the start pass, and the bucket is full at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policer {
    /// CIR: the rate of the tokens.
    pub rate: BitRate,
    /// CBS: the size of the bucket.
    pub burst: Bytes,
    /// The time from which it polices.
    pub start: Duration,
}

/// A chain of two states, good and bad, that takes one step per packet (Gilbert 1960, Elliott 1963).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GilbertElliott {
    /// p: probability of a step from good to bad.
    pub to_bad: f64,
    /// r: probability of a step from bad to good.
    pub to_good: f64,
    /// 1 - h: probability of loss in the bad state.
    pub loss_bad: f64,
    /// 1 - k: probability of loss in the good state.
    pub loss_good: f64,
}

/// The packets of one flow to drop, numbered from 1 in the order of their arrival at the link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptedDrops {
    /// The index of the flow, TCP flows first.
    pub flow: u32,
    /// The numbers of the packets to drop, in ascending order.
    pub packets: Vec<u64>,
}

/// A loss model with its state.
#[derive(Debug)]
pub struct Loss(State);

#[derive(Debug)]
enum State {
    Bernoulli { probability: f64, stream: Stream },
    GilbertElliott { chain: GilbertElliott, bad: bool, stream: Stream },
    Scripted(Vec<Script>),
    Policer(Bucket),
}

/// A policer's bucket. Tokens are exact: one is the bit of a nanosecond at 1 b/s, 10^-9 bits.
#[derive(Debug)]
struct Bucket {
    policer: Policer,
    tokens: u128,
    /// The time of the tokens.
    filled: Instant,
}

/// The tokens of a byte.
const TOKENS_PER_BYTE: u128 = 8 * 1_000_000_000;

/// A script and its progress.
#[derive(Debug)]
struct Script {
    flow: u32,
    offered: u64,
    /// The remaining numbers, the next one last.
    to_come: Vec<u64>,
}

impl Loss {
    /// Creates the model before its first packet; `stream` belongs to the link alone.
    #[must_use]
    pub fn new(model: &LossModel, stream: Stream) -> Self {
        Self(match model {
            LossModel::Bernoulli(probability) => State::Bernoulli { probability: *probability, stream },
            LossModel::GilbertElliott(chain) => State::GilbertElliott { chain: *chain, bad: false, stream },
            LossModel::Scripted(drops) => State::Scripted(drops.iter().map(Script::new).collect()),
            LossModel::Policer(policer) => State::Policer(Bucket::new(*policer)),
        })
    }

    /// Returns true if the next offered packet, of `size` bytes, is lost. It belongs to `flow` in either direction.
    pub fn takes(&mut self, now: Instant, flow: u32, size: u32) -> bool {
        match &mut self.0 {
            State::Bernoulli { probability, stream } => stream.unit() < *probability,
            State::GilbertElliott { chain, bad, stream } => chain.step(bad, stream),
            State::Scripted(scripts) => {
                let script = scripts.iter_mut().find(|script| script.flow == flow);
                script.is_some_and(Script::takes_next)
            }
            State::Policer(bucket) => bucket.takes(now, size),
        }
    }
}

impl GilbertElliott {
    /// Loses a packet with the probability of the present state, then moves to the state of the next packet.
    /// Always two draws.
    fn step(&self, bad: &mut bool, stream: &mut Stream) -> bool {
        let (loss, change) = if *bad { (self.loss_bad, self.to_good) } else { (self.loss_good, self.to_bad) };
        let lost = stream.unit() < loss;
        if stream.unit() < change {
            *bad = !*bad;
        }
        lost
    }
}

impl Bucket {
    fn new(policer: Policer) -> Self {
        Self { policer, tokens: Self::most(&policer), filled: Instant::ZERO + policer.start }
    }

    fn most(policer: &Policer) -> u128 {
        u128::from(policer.burst.as_u64()) * TOKENS_PER_BYTE
    }

    /// Takes the tokens of a packet; a packet without enough tokens is lost and takes none (RFC 2697 section 3).
    fn takes(&mut self, now: Instant, size: u32) -> bool {
        if now < self.filled {
            return false;
        }
        let gained = u128::from(self.policer.rate.as_bps()) * u128::from((now - self.filled).as_nanos());
        self.tokens = (self.tokens + gained).min(Self::most(&self.policer));
        self.filled = now;
        let needed = u128::from(size) * TOKENS_PER_BYTE;
        let lost = needed > self.tokens;
        if !lost {
            self.tokens -= needed;
        }
        lost
    }
}

impl Script {
    fn new(drops: &ScriptedDrops) -> Self {
        let to_come = drops.packets.iter().rev().copied().collect();
        Self { flow: drops.flow, offered: 0, to_come }
    }

    fn takes_next(&mut self) -> bool {
        self.offered += 1;
        let takes = self.to_come.last() == Some(&self.offered);
        if takes {
            self.to_come.pop();
        }
        takes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fates(model: &LossModel, packets: usize) -> Vec<bool> {
        let mut loss = Loss::new(model, Stream::new(1, "loss.test"));
        (0..packets).map(|_| loss.takes(Instant::ZERO, 1, 1500)).collect()
    }

    /// The lengths of the runs of lost packets.
    fn bursts(fates: &[bool]) -> Vec<usize> {
        fates.split(|lost| !lost).map(<[bool]>::len).filter(|&length| length > 0).collect()
    }

    fn mean(lengths: &[usize]) -> f64 {
        lengths.iter().sum::<usize>() as f64 / lengths.len() as f64
    }

    #[test]
    fn a_script_counts_the_packets_of_its_flow_alone() {
        let drops = |flow, packets: &[u64]| ScriptedDrops { flow, packets: packets.to_vec() };
        let model = LossModel::Scripted(vec![drops(0, &[1, 3]), drops(2, &[2])]);
        let mut loss = Loss::new(&model, Stream::new(1, "unused"));
        let offered = [0, 0, 1, 2, 2, 0, 1, 0, 2];
        let lost: Vec<bool> = offered.iter().map(|&flow| loss.takes(Instant::ZERO, flow, 1500)).collect();
        // Flow 0 is offered 1st, 2nd, 6th and 8th: its numbers 1 and 3 are the 1st and 6th. Number 2 of flow 2 is
        // the 5th.
        assert_eq!(lost, [true, false, false, false, true, true, false, false, false]);
    }

    #[test]
    fn gilbert_elliott_has_its_mean_loss_and_its_bursts() {
        // Gilbert's chain with loss of every packet in the bad state: pi_B = p / (p + r) = 0.02 / 0.27 = 0.07407,
        // and a burst lasts 1 / r = 4 packets.
        let chain = GilbertElliott { to_bad: 0.02, to_good: 0.25, loss_bad: 1.0, loss_good: 0.0 };
        let fates = fates(&LossModel::GilbertElliott(chain), 400_000);
        let lost = fates.iter().filter(|&&lost| lost).count() as f64 / 4e5;
        // About 400,000 x 0.0741 x 0.25 = 7,400 bursts: the standard error of their mean is sqrt(1 - r) / r /
        // sqrt(7400) = 0.040.
        assert!((mean(&bursts(&fates)) - 4.0).abs() < 0.16, "{}", mean(&bursts(&fates)));
        // Correlation increases the variance by (1 + rho) / (1 - rho) = 6.4 with rho = 1 - p - r = 0.73: the
        // standard error is sqrt(0.0741 x 0.926 x 6.4 / 400,000) = 0.00105.
        assert!((lost - 0.074_07).abs() < 0.0042, "{lost}");
    }

    #[test]
    fn elliotts_chain_loses_in_both_states() {
        // Mean loss (p (1 - h) + r (1 - k)) / (p + r) = (0.1 x 0.5 + 0.3 x 0.01) / 0.4 = 0.1325.
        let chain = GilbertElliott { to_bad: 0.1, to_good: 0.3, loss_bad: 0.5, loss_good: 0.01 };
        let fates = fates(&LossModel::GilbertElliott(chain), 400_000);
        let lost = fates.iter().filter(|&&lost| lost).count() as f64 / 4e5;
        // The state's share varies with (1 + 0.6) / (1 - 0.6) = 4 times 0.1875 x 0.49^2, the losses in it with
        // 0.07 more: the standard error is below sqrt(0.26 / 400,000) = 0.0008.
        assert!((lost - 0.1325).abs() < 0.0032, "{lost}");
    }

    #[test]
    fn a_run_of_losses_without_loss_in_good_ends_by_a_step_or_by_luck() {
        // The next packet is lost with (1 - r)(1 - h) = 0.8 x 0.5 = 0.4, so a run lasts 1 / (1 - 0.4) = 5/3
        // packets.
        let chain = GilbertElliott { to_bad: 0.05, to_good: 0.2, loss_bad: 0.5, loss_good: 0.0 };
        let lengths = bursts(&fates(&LossModel::GilbertElliott(chain), 400_000));
        // 400,000 x 0.2 x 0.5 x 0.6 = 24,000 runs with a standard deviation of sqrt(0.4) / 0.6 = 1.05: standard
        // error 0.0068.
        assert!((mean(&lengths) - 5.0 / 3.0).abs() < 0.03, "{}", mean(&lengths));
    }

    #[test]
    fn one_state_with_equal_losses_is_bernoulli() {
        let chain = GilbertElliott { to_bad: 0.4, to_good: 0.4, loss_bad: 0.1, loss_good: 0.1 };
        for model in [LossModel::GilbertElliott(chain), LossModel::Bernoulli(0.1)] {
            let fates = fates(&model, 200_000);
            let lost = fates.iter().filter(|&&lost| lost).count() as f64 / 2e5;
            // Standard errors: sqrt(0.09 / 200,000) = 0.00067; sqrt(0.1) / 0.9 / sqrt(18,000) = 0.0026 for a
            // run's mean 1 / 0.9.
            assert!((lost - 0.1).abs() < 0.0027, "{lost}");
            assert!((mean(&bursts(&fates)) - 1.0 / 0.9).abs() < 0.0105, "{}", mean(&bursts(&fates)));
        }
    }

    #[test]
    fn a_policer_passes_a_burst_and_then_its_rate() {
        // 12 Mb/s fill 1500 B in 1 ms; the bucket holds 3000 B. From 10 ms on, packets of 1500 B.
        let start = Duration::from_millis(10);
        let policer = Policer { rate: BitRate::from_mbps(12), burst: Bytes::new(3000), start };
        let mut loss = Loss::new(&LossModel::Policer(policer), Stream::new(1, "unused"));
        let mut passes = |micros: u64, size: u32| !loss.takes(Instant::ZERO + Duration::from_micros(micros), 0, size);
        // Before the start everything passes.
        assert!((0..10).all(|_| passes(9_999, 1500)));
        // Two packets empty the bucket. At 10.999 ms it holds 1498.5 B, at 11 ms 1500 B.
        assert_eq!(
            [10_000, 10_000, 10_000, 10_999, 11_000].map(|at| passes(at, 1500)),
            [true, true, false, false, true]
        );
        // A lost packet takes nothing: at 11.5 ms a packet of 750 B passes, but not one of 751 B.
        assert_eq!([751, 750, 1].map(|size| passes(11_500, size)), [false, true, false]);
        // The bucket holds at most 3000 B, after any pause.
        assert_eq!([3001, 3000, 1].map(|size| passes(99_000, size)), [false, true, false]);
    }

    proptest! {
        /// In any interval a policer passes at most a burst and what its rate gives, and a lost packet would have
        /// exceeded that in some interval that ends with it.
        #[test]
        fn a_policer_loses_what_does_not_conform_and_nothing_else(
            packets in proptest::collection::vec((0_u64..3_000_000, 1_u32..3000), 1..60),
            rate in 1_u64..30_000_000,
            burst in 1_u64..6000,
        ) {
            let policer = Policer { rate: BitRate::from_bps(rate), burst: Bytes::new(burst), start: Duration::ZERO };
            let mut loss = Loss::new(&LossModel::Policer(policer), Stream::new(1, "unused"));
            let (mut now, mut passed) = (0_u64, Vec::new());
            for (gap, size) in packets {
                now += gap;
                let fits = |passed: &[(u64, u32)]| (0..passed.len()).all(|first| {
                    let bytes: u128 = passed[first..].iter().map(|&(_, size)| u128::from(size)).sum();
                    let time = u128::from(now - passed[first].0);
                    bytes * TOKENS_PER_BYTE <= u128::from(burst) * TOKENS_PER_BYTE + u128::from(rate) * time
                });
                passed.push((now, size));
                let lost = loss.takes(Instant::from_nanos(now), 0, size);
                prop_assert_eq!(lost, !fits(&passed));
                if lost {
                    passed.pop();
                }
            }
        }
    }
}
