#![allow(warnings)]
mod download;
use download::*;
use netlull_units::*;
use netlull_mechanism::radio::*;
#[test]
fn explore() {
    for delay in [10, 30, 60] { for jitter in [0u64, 3, 10] { for loss in [0.0, 0.002, 0.01, 0.05] {
        for tick in [1u64, 10] {
        let mut line = format!("rtt {} jit {jitter} loss {loss} tick {tick}: ", 2*delay);
        for bits in [0u8, 1, 2, 3] { 
        let (mut t, mut a, mut m, mut n, mut r, mut std) = (0.0, 0.0, 0, 0, 0, String::new());
        for seed in 0..5 {
            let mut s = Setting { delay: Duration::from_millis(delay), jitter: Duration::from_millis(jitter), data_loss: loss, ack_loss: loss, seed, tick: Duration::from_millis(tick), ..Setting::clean(2_000_000) };
            let (f, rep, _) = readings(bits); s.config.rtt_from = f; s.config.repair = rep;
            s.config.saturation = 10.0;
            let o = Download::run(&s);
            t += o.completed.unwrap().as_secs_f64(); a += o.asleep.as_secs_f64(); m += o.missed; n += o.bursts.len(); r += o.resent_opens;
            let l = &o.states[o.states.len()-2];
            std += match l { ShaperState::Standard(Fallback::BadBursts) => "B", ShaperState::Standard(_) => "s", ShaperState::Saving=>"S", ShaperState::Recovery=>"R", _=>"?"};
        }
        line += &format!("| t {:.2} sleep {:.0}% miss {} n {} re {} {std} ", t/5.0, 100.0*a/t, m, n, r);
        }
        println!("{line}");
    }}}}
}
