//! Endpoints renewed in place.

use super::*;
use crate::{Algorithm, Template};

/// A whole connection over a path of 20 ms that loses every seventh data segment once, until both ends are silent.
fn use_up(client: &mut Endpoint, server: &mut Endpoint) {
    client.open(Instant::ZERO);
    client.send(Data::Bytes(200_000));
    client.close();
    let (mut sent, mut to_client) = (0, Vec::new());
    for ms in (0..20_000).step_by(20) {
        let now = at_ms(ms);
        for segment in std::mem::take(&mut to_client) {
            client.handle_segment(now, &segment);
        }
        client.handle_timeout(now);
        while let Some(segment) = client.poll_transmit(now) {
            sent += 1;
            if sent % 7 != 0 || segment.len == 0 {
                server.handle_segment(now, &segment);
            }
            if server.state() == State::CloseWait {
                server.close();
            }
            to_client.extend(std::iter::from_fn(|| server.poll_transmit(now)));
        }
        server.handle_timeout(now);
        to_client.extend(std::iter::from_fn(|| server.poll_transmit(now)));
    }
    assert_eq!(server.bytes_delivered(), 200_000);
    assert_eq!((client.state(), server.state()), (State::TimeWait, State::Closed));
}

#[test]
fn a_renewed_endpoint_is_a_new_one_in_every_field() {
    for info in Algorithm::catalogue() {
        let configs = [
            Config::default().with_algorithm(info.algorithm.clone()),
            Config::ns2().with_ns2_agent(info.algorithm.clone()),
        ];
        for config in configs {
            let (clients, servers) = (Template::client(&config), Template::server(&config));
            let (mut client, mut server) = (clients.make(ISS), servers.make(IRS));
            assert_eq!(format!("{client:?}"), format!("{:?}", Endpoint::client(&config, ISS)), "{}", info.name);
            use_up(&mut client, &mut server);
            assert_ne!(format!("{client:?}"), format!("{:?}", Endpoint::client(&config, ISS)), "{}", info.name);
            let (iss, irs) = (SeqNr::new(5), SeqNr::new(u32::MAX));
            clients.renew(&mut client, iss);
            servers.renew(&mut server, irs);
            assert_eq!(format!("{client:?}"), format!("{:?}", Endpoint::client(&config, iss)), "{}", info.name);
            assert_eq!(format!("{server:?}"), format!("{:?}", Endpoint::server(&config, irs)), "{}", info.name);
            // And it works as one.
            use_up(&mut client, &mut server);
        }
    }
}
