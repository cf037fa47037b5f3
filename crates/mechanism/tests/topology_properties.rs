//! Properties of sleep plans on random graphs, checked by slow and simple computations of their own.

use netlull_mechanism::topology::{
    Demand, EsaconConfig, EstopConfig, Graph, LoadAwareConfig, SleepPlan, SleepPlanConfig, Traffic, Trial, Verdict,
    algebraic_connectivity, connectivity_without_each, edge_betweenness, loads, worst_failure,
};
use netlull_units::BitRate;
use proptest::prelude::*;

type Links = Vec<(usize, usize)>;

/// A random tree with random chords: connected, 2 to 14 nodes, ends in any order.
fn connected() -> impl Strategy<Value = (usize, Links)> {
    (2_usize..15).prop_flat_map(|nodes| {
        let tree = (1..nodes).map(|node| 0..node).collect::<Vec<_>>();
        let chords = prop::collection::vec((0..nodes, 0..nodes), 0..2 * nodes);
        (Just(nodes), tree, chords, any::<u64>()).prop_map(|(nodes, tree, chords, turns)| {
            let mut links: Links = tree.into_iter().enumerate().map(|(i, above)| (above, i + 1)).collect();
            for (a, b) in chords {
                if a != b && !links.contains(&(a, b)) && !links.contains(&(b, a)) {
                    links.push((a, b));
                }
            }
            let turned = links.into_iter().enumerate();
            (nodes, turned.map(|(i, (a, b))| if turns >> (i % 64) & 1 == 1 { (b, a) } else { (a, b) }).collect())
        })
    })
}

/// lambda_2 by Jacobi rotations of the Laplacian.
fn plain_connectivity(nodes: usize, links: &[(usize, usize)]) -> f64 {
    let mut a = vec![vec![0.0_f64; nodes]; nodes];
    for &(u, v) in links {
        a[u][u] += 1.0;
        a[v][v] += 1.0;
        a[u][v] -= 1.0;
        a[v][u] -= 1.0;
    }
    for _ in 0..30 {
        for p in 0..nodes {
            for q in p + 1..nodes {
                if a[p][q].abs() < 1e-300 {
                    continue;
                }
                let ratio = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = ratio.signum() / (ratio.abs() + (ratio * ratio + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                let (upper, lower) = a.split_at_mut(q);
                for (x, y) in upper[p].iter_mut().zip(&mut lower[0]) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
            }
        }
    }
    let mut eigenvalues: Vec<f64> = (0..nodes).map(|i| a[i][i]).collect();
    eigenvalues.sort_by(f64::total_cmp);
    eigenvalues[1]
}

fn without(links: &[(usize, usize)], off: &[usize]) -> Links {
    links.iter().enumerate().filter(|(link, _)| !off.contains(link)).map(|(_, &ends)| ends).collect()
}

fn is_connected(nodes: usize, links: &[(usize, usize)]) -> bool {
    Graph::new(nodes, links.to_vec()).unwrap().unreached(0, |_| true).is_none()
}

/// Replays a plan. Every verdict except `TooLoaded` and `Fragile` must match a simple computation on the graph of that step.
fn check_steps(nodes: usize, links: &[(usize, usize)], threshold: f64, plan: &SleepPlan) {
    let initial = plain_connectivity(nodes, links);
    assert!((plan.initial_connectivity - initial).abs() < 1e-10, "{} {initial}", plan.initial_connectivity);
    let mut tried: Vec<usize> = plan.steps.iter().map(|step| step.link).collect();
    tried.sort_unstable();
    assert_eq!(tried, (0..links.len()).collect::<Vec<_>>(), "every link once");
    let mut off = Vec::new();
    for &Trial { link, verdict, connectivity, .. } in &plan.steps {
        off.push(link);
        let rest = without(links, &off);
        let kept = plain_connectivity(nodes, &rest);
        let near = (kept - threshold * initial).abs() < 1e-8 * initial;
        match verdict {
            Verdict::Disconnects => assert!(!is_connected(nodes, &rest)),
            Verdict::TooWeak => assert!(is_connected(nodes, &rest) && (near || kept < threshold * initial)),
            Verdict::TooLoaded | Verdict::Fragile => {
                assert!(is_connected(nodes, &rest) && (near || kept >= threshold * initial));
            }
            Verdict::Off => {
                assert!(is_connected(nodes, &rest) && (near || kept >= threshold * initial));
                assert!((connectivity - kept).abs() < 1e-9, "{connectivity} {kept}");
                continue;
            }
        }
        off.pop();
    }
    assert_eq!(plan.off, off);
}

/// The load of every link's busier direction, by Bellman and Ford and the rule for ties, demand by demand.
fn plain_loads(nodes: usize, links: &[(usize, usize)], on: &[bool], traffic: &Traffic) -> Vec<u64> {
    let mut loads = vec![0_u64; 2 * links.len()];
    let directions: Vec<(usize, usize, usize)> = links
        .iter()
        .enumerate()
        .flat_map(|(i, &(a, b))| [(2 * i, a, b), (2 * i + 1, b, a)])
        .filter(|&(d, ..)| on[d / 2])
        .collect();
    for demand in &traffic.demands {
        let mut distance = vec![u64::MAX / 2; nodes];
        distance[demand.to] = 0;
        for _ in 0..nodes {
            for &(d, from, to) in &directions {
                distance[from] = distance[from].min(distance[to] + u64::from(traffic.weights[d / 2]));
            }
        }
        let mut node = demand.from;
        while node != demand.to {
            let on_the_way = |&&(d, from, to): &&(usize, usize, usize)| {
                from == node && distance[to] + u64::from(traffic.weights[d / 2]) == distance[from]
            };
            let &(d, _, to) = directions.iter().find(on_the_way).unwrap();
            loads[d] += demand.rate.as_bps();
            node = to;
        }
    }
    loads.chunks(2).map(|both| both[0].max(both[1])).collect()
}

/// True if no load exceeds a share of the capacities.
fn allowed(loads: &[u64], traffic: &Traffic, bound: f64) -> bool {
    loads.iter().zip(&traffic.capacities).all(|(&load, capacity)| load as f64 <= bound * capacity.as_f64())
}

/// True if after each single failure all nodes stay connected and no load exceeds the bound. Links without which the
/// whole network is not connected do not fail.
fn survives(nodes: usize, links: &[(usize, usize)], on: &[bool], traffic: &Traffic, bound: Option<f64>) -> bool {
    let connected = |on: &[bool]| Graph::new(nodes, links.to_vec()).unwrap().unreached(0, |link| on[link]).is_none();
    let without = |on: &[bool], link: usize| {
        let mut rest = on.to_vec();
        rest[link] = false;
        rest
    };
    let all = vec![true; links.len()];
    let failures = (0..links.len()).filter(|&link| on[link] && connected(&without(&all, link)));
    bound.is_none_or(|bound| {
        failures
            .map(|link| without(on, link))
            .all(|rest| connected(&rest) && allowed(&plain_loads(nodes, links, &rest, traffic), traffic, bound))
    })
}

/// Replays the loads of a load-aware plan: checks its order and the verdicts `TooLoaded` and `Fragile`.
fn check_loads(nodes: usize, links: &[(usize, usize)], traffic: &Traffic, config: &LoadAwareConfig, plan: &SleepPlan) {
    let mut on = vec![true; links.len()];
    let mut untried: Vec<usize> = (0..links.len()).collect();
    for step in &plan.steps {
        let before = plain_loads(nodes, links, &on, traffic);
        let ends = |link: usize| (links[link].0.min(links[link].1), links[link].0.max(links[link].1));
        let least = untried.iter().copied().min_by_key(|&link| (before[link], ends(link))).unwrap();
        assert_eq!((step.link, step.rank), (least, before[least] as f64));
        untried.retain(|&link| link != least);
        on[least] = false;
        let within = || allowed(&plain_loads(nodes, links, &on, traffic), traffic, config.bound);
        let survives = || survives(nodes, links, &on, traffic, config.failure_bound);
        match step.verdict {
            Verdict::Off => {
                assert!(within() && survives());
                continue;
            }
            Verdict::TooLoaded => assert!(!within()),
            Verdict::Fragile => assert!(within() && !survives()),
            Verdict::TooWeak | Verdict::Disconnects => {}
        }
        on[least] = true;
    }
    let graph = Graph::new(nodes, links.to_vec()).unwrap();
    let both: Vec<u64> = loads(&graph, traffic, &plan.off).chunks(2).map(|both| both[0].max(both[1])).collect();
    assert_eq!(both, plain_loads(nodes, links, &on, traffic));
    // The worst failure has the largest share of all failures that leave the graph connected.
    let shares = (0..links.len()).filter(|&failure| on[failure]).filter_map(|failure| {
        let mut rest = on.clone();
        rest[failure] = false;
        graph.unreached(0, |link| rest[link]).is_none().then(|| {
            let loads = plain_loads(nodes, links, &rest, traffic);
            let share = |(&load, capacity): (&u64, &BitRate)| load as f64 / capacity.as_f64();
            loads.iter().zip(&traffic.capacities).map(share).fold(0.0, f64::max)
        })
    });
    let worst = worst_failure(&graph, traffic, &plan.off);
    let share = worst.map(|worst| worst.load as f64 / traffic.capacities[worst.link].as_f64());
    assert_eq!(share, shares.reduce(f64::max));
}

/// Demands of 1 to 8 Mb/s, weights of 1 to 3 and capacities of 8, 16 or 32 Mb/s, exact because of powers of two.
fn loaded() -> impl Strategy<Value = (usize, Links, Traffic, LoadAwareConfig)> {
    connected().prop_flat_map(|(nodes, links)| {
        let demand = (0..nodes, 1..nodes, 1_u64..9).prop_map(move |(from, step, mbps)| Demand {
            from,
            to: (from + step) % nodes,
            rate: BitRate::from_mbps(mbps),
        });
        let count = links.len();
        let parts = (
            prop::collection::vec(prop::sample::select(vec![8_u64, 16, 32]).prop_map(BitRate::from_mbps), count),
            prop::collection::vec(1_u32..4, count),
            prop::collection::vec(demand, 0..12),
            prop::sample::select(vec![0.5, 0.75, 1.0]),
            prop::sample::select(vec![None, Some(0.5), Some(1.0)]),
            prop::sample::select(vec![0.0, 0.3]),
        );
        (Just(nodes), Just(links), parts).prop_map(
            |(nodes, links, (capacities, weights, demands, bound, failure_bound, threshold))| {
                let config = LoadAwareConfig { bound, failure_bound, threshold };
                (nodes, links, Traffic { capacities, weights, demands }, config)
            },
        )
    })
}

proptest! {
    #[test]
    fn estop_and_esacon_do_what_their_rule_says((nodes, links) in connected(), threshold in 0.0_f64..=1.0) {
        let graph = Graph::new(nodes, links.clone()).unwrap();
        let by_betweenness = EstopConfig { threshold }.plan(&graph, &Traffic::default()).unwrap();
        check_steps(nodes, &links, threshold, &by_betweenness);
        prop_assert!(by_betweenness.steps.windows(2).all(|pair| pair[0].rank <= pair[1].rank * (1.0 + 2e-9)));
        let by_connectivity = EsaconConfig { threshold }.plan(&graph, &Traffic::default()).unwrap();
        check_steps(nodes, &links, threshold, &by_connectivity);
        let slack = 2e-9 * by_connectivity.initial_connectivity;
        prop_assert!(by_connectivity.steps.windows(2).all(|pair| pair[0].rank >= pair[1].rank - slack));
        for (link, kept) in connectivity_without_each(&graph).into_iter().enumerate() {
            prop_assert!((kept - plain_connectivity(nodes, &without(&links, &[link]))).abs() < 1e-9);
        }
    }

    #[test]
    fn the_ends_of_the_range_of_thresholds((nodes, links) in connected()) {
        let graph = Graph::new(nodes, links.clone()).unwrap();
        // At 0 a spanning tree remains; at 1 lambda_2 must not decrease.
        let all = EstopConfig { threshold: 0.0 }.plan(&graph, &Traffic::default()).unwrap();
        prop_assert_eq!(links.len() - all.off.len(), nodes - 1);
        check_steps(nodes, &links, 0.0, &all);
        check_steps(nodes, &links, 1.0, &EstopConfig { threshold: 1.0 }.plan(&graph, &Traffic::default()).unwrap());
    }

    #[test]
    fn the_load_aware_plan_does_what_its_rule_says((nodes, links, traffic, config) in loaded()) {
        let graph = Graph::new(nodes, links.clone()).unwrap();
        let all = vec![true; links.len()];
        let within = allowed(&plain_loads(nodes, &links, &all, &traffic), &traffic, config.bound);
        let survives = survives(nodes, &links, &all, &traffic, config.failure_bound);
        match config.plan(&graph, &traffic) {
            Ok(plan) => {
                prop_assert!(within && survives);
                check_steps(nodes, &links, config.threshold, &plan);
                check_loads(nodes, &links, &traffic, &config, &plan);
            }
            Err(error) => {
                let expected = if within { "failure_bound" } else { "bound" };
                prop_assert!(!(within && survives) && error.field == expected, "{}", error);
            }
        }
    }

    #[test]
    fn other_numbers_for_nodes_and_links_change_no_value((nodes, links) in connected(), by in 1_usize..14, turn in 0_usize..40) {
        let renamed: Links = {
            let mut list: Links = links.iter().map(|&(a, b)| ((b + by) % nodes, (a + by) % nodes)).collect();
            let places = turn % list.len();
            list.rotate_left(places);
            list
        };
        let (graph, other) = (Graph::new(nodes, links.clone()).unwrap(), Graph::new(nodes, renamed).unwrap());
        let (one, mut two) = (edge_betweenness(&graph), edge_betweenness(&other));
        two.rotate_right(turn % links.len());
        prop_assert!(one.iter().zip(&two).all(|(a, b)| (a - b).abs() < 1e-9 * a), "{:?} {:?}", one, two);
        prop_assert!((algebraic_connectivity(&graph) - algebraic_connectivity(&other)).abs() < 1e-12 * nodes as f64);
    }

    #[test]
    fn betweenness_adds_up_to_all_distances((nodes, links) in connected()) {
        // Each pair of nodes crosses as many links as its distance.
        let mut hops = vec![vec![nodes; nodes]; nodes];
        (0..nodes).for_each(|i| hops[i][i] = 0);
        links.iter().for_each(|&(a, b)| (hops[a][b], hops[b][a]) = (1, 1));
        for k in 0..nodes {
            for i in 0..nodes {
                for j in 0..nodes {
                    hops[i][j] = hops[i][j].min(hops[i][k] + hops[k][j]);
                }
            }
        }
        let apart: usize = hops.iter().flatten().sum::<usize>() / 2;
        let sum: f64 = edge_betweenness(&Graph::new(nodes, links).unwrap()).iter().sum();
        prop_assert!((sum - apart as f64).abs() < 1e-9 * sum);
    }
}
