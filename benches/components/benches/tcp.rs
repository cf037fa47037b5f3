//! The cost of TCP: an acknowledgement at the sender, with the segments sent in response, and data at the
//! receiver. The path drops packets occasionally, so recovery is included.
#![allow(missing_docs)]

use gungraun::{library_benchmark, library_benchmark_group, main};
use netlull_components::OPERATIONS;
use netlull_components::tcp::{End, Recorded};
use netlull_tcp::Algorithm;

fn sender(algorithm: Algorithm) -> Recorded {
    Recorded::new(algorithm, End::Sender, OPERATIONS)
}

fn receiver(algorithm: Algorithm) -> Recorded {
    Recorded::new(algorithm, End::Receiver, OPERATIONS)
}

#[library_benchmark(setup = sender)]
#[bench::new_reno(Algorithm::NewReno)]
#[bench::tahoe(Algorithm::Tahoe)]
#[bench::reno(Algorithm::Reno)]
#[bench::sack(Algorithm::Sack)]
#[bench::bic(Algorithm::Bic)]
#[bench::cubic(Algorithm::Cubic)]
#[bench::cubic_2_6_22(Algorithm::Cubic2622)]
#[bench::reno_2_6_22(Algorithm::Reno2622)]
#[bench::compound(Algorithm::Compound)]
#[bench::vegas(Algorithm::Vegas)]
#[bench::dctcp(Algorithm::Dctcp)]
#[bench::bbr(Algorithm::Bbr)]
fn acknowledgement(mut recorded: Recorded) -> Recorded {
    recorded.replay();
    recorded
}

#[library_benchmark(setup = receiver)]
#[bench::new_reno(Algorithm::NewReno)]
#[bench::sack(Algorithm::Sack)]
fn data(mut recorded: Recorded) -> Recorded {
    recorded.replay();
    recorded
}

library_benchmark_group!(name = tcp; benchmarks = acknowledgement, data);
main!(library_benchmark_groups = tcp);
