//! Greedy TCP flows from sender to receiver.

use super::net::Network;
use nix::sys::socket::{setsockopt, sockopt::TcpCongestion};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Downloads of greedy flows, until they are stopped.
pub struct Flows {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Flows {
    pub fn start(network: &Network, control: &str, count: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let at: SocketAddr = (IpAddr::from([10, 77, 2, 1]), 5001).into();
        let listener = Network::inside(&network.receiver, move || TcpListener::bind(at).unwrap()).join().unwrap();
        let mut threads = Vec::new();
        for n in 0..count {
            let (stopped, control) = (stop.clone(), control.to_owned());
            threads.push(Network::inside(&network.sender, move || {
                sleep(ms(50 * n as u64));
                let mut stream = TcpStream::connect(at).unwrap();
                setsockopt(&stream, TcpCongestion, &control.into()).unwrap();
                stream.set_write_timeout(Some(ms(500))).unwrap();
                while !stopped.load(Ordering::Relaxed) {
                    let _ = stream.write(&[0; 32_768]);
                }
            }));
            let (mut stream, _) = listener.accept().unwrap();
            threads.push(std::thread::spawn(move || {
                let mut buffer = vec![0; 65_536];
                while stream.read(&mut buffer).is_ok_and(|length| length > 0) {}
            }));
        }
        Self { stop, threads }
    }

    pub fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().unwrap();
        }
    }
}
