#![allow(warnings)]
mod download;
use download::*;
use netlull_units::*;
use netlull_mechanism::radio::*;
#[test]
fn explore() {
    let mut s = Setting { data_loss: 0.002, ack_loss: 0.002, seed: 1, ..Setting::clean(2_000_000) };
    s.config.saturation = 10.0;
    let o = Download::run(&s);
    println!("{:?} {} {:?}", o.states, o.missed, o.completed);
    for b in &o.bursts { println!("{} {} {} {} P {} W {} ia {} id {} th {} {} {:?}", b.opened, b.first, b.last, b.ended, b.packets, b.expected, b.interarrival, b.deviation, b.threshold, b.intact, b.state); }
    for (now, e, a) in &o.log { 
      let d = match e { StationEvent::Received{packet,..} => { let s = packet.segment.unwrap(); format!("R {} {} echo {}", s.seq.wrapping_sub(s2(&s)), s.len, s.timestamps.unwrap().echo) }
       StationEvent::Sending{packet} => { let s = packet.segment.unwrap(); format!("S {} val {}", s.acknowledged.unwrap(), s.timestamps.unwrap().value) }
       StationEvent::Acknowledged{packet} => { let s = packet.segment.unwrap(); format!("A {} val {}", s.acknowledged.unwrap(), s.timestamps.unwrap().value) } x => format!("{x:?}") };
      println!("{now} {d} {a:?}"); }
}
fn s2(_: &TcpView) -> u32 { 0 }
