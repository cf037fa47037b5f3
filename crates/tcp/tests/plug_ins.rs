//! The congestion control of `examples/own-controller` at the endpoints of a bottleneck.

use crate::bottleneck::{Path, config};
use netlull_tcp::{Algorithm, Config, Data, Endpoint, SeqNr, Template};
use netlull_units::Instant;
use std::sync::Arc;

/// The congestion control of the example.
#[path = "../../../examples/own-controller/src/window.rs"]
mod window;

fn fixed(segments: u64) -> Config {
    config(Algorithm::NewReno).with_congestion_control(Arc::new(window::FixedWindowFactory { segments }))
}

#[test]
fn a_plug_ins_window_sets_the_rate_of_the_path() {
    // The first packet of a window is acknowledged after 41.2 ms (1.2 ms of sending, 2 x 20 ms): 20 packets in 41.2 ms are
    // 4854 in 10 s. From 34.3 packets on the link is full: 8333, with 40 - 34.3 in the queue.
    for (segments, expected, queue) in [(20, 4850..=4860, 0), (40, 8332..=8334, 6)] {
        let mut path = Path::new(&fixed(segments), 100, u64::MAX);
        path.until(5000);
        let (delivered, _, most) = path.measure(10_000);
        assert!(expected.contains(&delivered), "{segments}: {delivered}");
        assert!(most <= queue.max(1), "{segments}: {most}");
        assert_eq!(path.drops, 0);
    }
}

#[test]
fn a_plug_in_has_a_name_and_keeps_the_recovery_of_its_configuration() {
    let config = fixed(10);
    assert_eq!(config.congestion_control.name(), "fixed_window");
    assert!(config.congestion_control.info().is_none());
    assert!(config.congestion_control.parameters().is_empty());
    let before = self::config(Algorithm::NewReno);
    assert_eq!(config.recovery.loss_recovery, before.recovery.loss_recovery);
    assert_eq!(config.clone().with_algorithm(config.congestion_control.clone()), config);
    assert_ne!(config, fixed(10), "another factory is another algorithm");
    assert_eq!(config.validate(), Ok(()));
    let refused = fixed(0).validate().map_err(|error| error.to_string());
    assert_eq!(refused, Err("segments is 0; expected at least 1 segment".to_owned()));
}

#[test]
fn endpoints_renewed_from_a_template_have_windows_of_plug_ins() {
    let config = fixed(7);
    let template = Template::client(&config);
    let new = |iss: u32| format!("{:?}", Endpoint::client(&config, SeqNr::new(iss)));
    let mut endpoint = template.make(SeqNr::new(1));
    assert_eq!(format!("{endpoint:?}"), new(1));
    endpoint.open(Instant::ZERO);
    endpoint.send(Data::Bytes(10_000));
    assert!(endpoint.poll_transmit(Instant::ZERO).is_some());
    template.renew(&mut endpoint, SeqNr::new(2));
    assert_eq!(format!("{endpoint:?}"), new(2));
    assert_eq!(endpoint.controlled_cwnd(), 7 * 1460);
}
