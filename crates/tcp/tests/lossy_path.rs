//! Two endpoints over a path that loses, repeats, delays and so reorders segments, against a model of what TCP owes
//! its users: every byte once and in order, no stall, no window overrun, no acknowledgement taken back, both ends
//! closed in the end.

mod support;

use netlull_tcp::{
    Algorithm, Config, DelayedAck, DuplicateAck, Ecn, FastRetransmitTimer, FullAck, Growth, Increase, LossRecovery,
    PartialAckTimer, Reading, RttSampling, SackDetection, SsthreshFrom, WindowReduction,
};
use netlull_units::{Bytes, Duration};
use proptest::collection::vec;
use proptest::prelude::*;
use support::{Closing, Fate, Reader, Scene, World};

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        12 => Just(Fate::Deliver),
        3 => Just(Fate::Drop),
        1 => Just(Fate::Duplicate),
        1 => Just(Fate::Mark),
        2 => (1_u64..200).prop_map(Fate::Delay),
    ]
}

/// Runs of losses, for timeouts and lost handshakes.
fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let burst = prop_oneof![4 => vec(fate(), 1..40), 1 => (1_usize..12).prop_map(|n| vec![Fate::Drop; n])];
    vec(burst, 0..12).prop_map(|bursts| bursts.concat())
}

prop_compose! {
    fn receiving()(
        buffer_segments in 1_u64..80,
        odd_bytes in 0_u64..100,
        mss in 48_u16..2000,
        on_demand in any::<bool>(),
        delayed in any::<bool>(),
        delay_ms in 1_u64..500,
        nagle in any::<bool>(),
        timestamps in any::<bool>(),
        tick_ms in 1_u64..20,
        window_scaling in any::<bool>(),
    ) -> Config {
        let timeout = Duration::from_millis(delay_ms);
        Config {
            mss,
            receive_buffer: Bytes::new(buffer_segments * u64::from(mss) + odd_bytes),
            reading: if on_demand { Reading::OnDemand } else { Reading::Immediate },
            delayed_ack: if delayed { DelayedAck::EverySecond { timeout } } else { DelayedAck::Off },
            nagle,
            timestamps,
            timestamp_granularity: Duration::from_millis(tick_ms),
            window_scaling,
            // Longer than a path that loses hundreds of segments in a row can keep the last FIN from arriving.
            time_wait: Duration::from_secs(100_000),
            ..Config::default()
        }
    }
}

fn recovery() -> impl Strategy<Value = (LossRecovery, SackDetection, WindowReduction)> {
    let recovery = prop_oneof![Just(LossRecovery::NewReno), Just(LossRecovery::Sack), Just(LossRecovery::Rack)];
    let detection = prop_oneof![Just(SackDetection::Rfc6675), Just(SackDetection::Forward)];
    let reduction = prop_oneof![
        Just(WindowReduction::Immediate),
        Just(WindowReduction::Proportional),
        Just(WindowReduction::RateHalving)
    ];
    (recovery, detection, reduction)
}

fn congestion() -> impl Strategy<Value = (Algorithm, Ecn, bool)> {
    let algorithm = prop_oneof![Just(Algorithm::NewReno), Just(Algorithm::Cubic), Just(Algorithm::Dctcp)];
    (algorithm, prop_oneof![Just(Ecn::Off), Just(Ecn::Classic), Just(Ecn::Dctcp)], any::<bool>())
}

prop_compose! {
    fn config()(
        receiving in receiving(),
        ns2 in any::<bool>(),
        full_ack in prop_oneof![Just(FullAck::FlightLimited), Just(FullAck::Ssthresh), Just(FullAck::Deflated)],
        steady in any::<bool>(),
        restart in any::<bool>(),
        any_window in any::<bool>(),
        limited_transmit in any::<bool>(),
        counting in any::<bool>(),
        when_limited in any::<bool>(),
        every_ack in any::<bool>(),
        from_window in any::<bool>(),
        min_rto_ms in 50_u64..1000,
        (recovery, detection, reduction) in recovery(),
        (congestion_control, ecn, hystart) in congestion(),
    ) -> Config {
        let base = if ns2 { Config::ns2() } else { Config::default() };
        let Config { mss, receive_buffer, reading, delayed_ack, nagle, .. } = receiving;
        let Config { timestamps, timestamp_granularity, window_scaling, time_wait, .. } = receiving;
        Config {
            mss, receive_buffer, reading, delayed_ack, nagle,
            timestamps, timestamp_granularity, window_scaling, time_wait,
            full_ack,
            partial_ack_timer: if steady { PartialAckTimer::SlowButSteady } else { PartialAckTimer::Impatient },
            fast_retransmit_timer: if restart { FastRetransmitTimer::Restart } else { FastRetransmitTimer::Keep },
            duplicate_ack: if any_window { DuplicateAck::AnyWindow } else { DuplicateAck::SameWindow },
            limited_transmit,
            increase: if counting { Increase::ByteCounting { limit: 2 } } else { Increase::PerAck },
            growth: if when_limited { Growth::WhenLimited } else { Growth::Always },
            rtt_sampling: if every_ack { RttSampling::EveryAck } else { RttSampling::OncePerWindow },
            ssthresh_from: if from_window { SsthreshFrom::Window } else { SsthreshFrom::Flight },
            min_rto: Duration::from_millis(min_rto_ms),
            loss_recovery: recovery,
            sack_detection: detection,
            window_reduction: reduction,
            congestion_control,
            ecn,
            hystart,
            ..base
        }
    }
}

/// Any congestion control with any recovery.
fn algorithm() -> impl Strategy<Value = Algorithm> {
    (0..Algorithm::catalogue().len()).prop_map(|index| Algorithm::catalogue()[index].algorithm)
}

prop_compose! {
    fn scene()(
        configs in [config(), config()],
        algorithms in [algorithm(), algorithm()],
        initial_numbers in [any::<u32>(), any::<u32>()],
        near_wrap in any::<bool>(),
        upload in 0_u64..150_000,
        download in prop_oneof![Just(0_u64), 0_u64..50_000],
        fates in [fates(), fates()],
        delay_ms in 1_u64..120,
        readers in [(1_u64..20_000, 1_u64..400), (1_u64..20_000, 1_u64..400)],
        both_at_once in any::<bool>(),
    ) -> Scene {
        let [client, server] = configs;
        let configs = [(client, algorithms[0]), (server, algorithms[1])]
            .map(|(config, congestion_control)| Config { congestion_control, ..config });
        let initial_numbers = if near_wrap { initial_numbers.map(|n| u32::MAX - n % 50_000) } else { initial_numbers };
        Scene {
            configs,
            initial_numbers,
            bytes: [upload, download],
            fates,
            delay: Duration::from_millis(delay_ms),
            readers: readers.map(|(bytes, every_ms)| Reader { bytes, every: Duration::from_millis(every_ms) }),
            closing: if both_at_once { Closing::BothAtOnce } else { Closing::ServerFollows },
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_and_in_order_and_both_ends_close(scene in scene()) {
        for config in &scene.configs {
            prop_assert_eq!(config.validate(), Ok(()));
        }
        let mut world = World::new(&scene);
        if let Err(why) = world.run() {
            prop_assert!(false, "{}", why);
        }
    }
}
