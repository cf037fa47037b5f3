use super::super::Demand;
use super::*;

const MBPS: fn(u64) -> BitRate = BitRate::from_mbps;

/// 0-1-2-3-0, links of 10 Mb/s and weight 1.
fn ring(demands: &[(usize, usize, u64)], bound: f64) -> (Graph, Traffic, LoadAwareConfig) {
    let graph = Graph::new(4, vec![(0, 1), (1, 2), (2, 3), (3, 0)]).unwrap();
    let demands = demands.iter().map(|&(from, to, mbps)| Demand { from, to, rate: MBPS(mbps) }).collect();
    let traffic = Traffic { capacities: vec![MBPS(10); 4], weights: vec![1; 4], demands };
    (graph, traffic, LoadAwareConfig { bound, failure_bound: None, threshold: 0.0 })
}

fn verdicts(plan: &SleepPlan) -> Vec<(usize, f64, Verdict)> {
    plan.steps.iter().map(|step| (step.link, step.rank, step.verdict)).collect()
}

#[test]
fn the_least_loaded_link_sleeps_and_its_traffic_goes_round() {
    // 0 -> 1: 4 Mb/s, 1 -> 2: 2, 0 -> 2: 1 through node 1 (link 0 is lower than link 3). Loads 5, 3, 0, 0.
    let (graph, traffic, config) = ring(&[(0, 1, 4), (1, 2, 2), (0, 2, 1)], 0.7);
    let plan = config.plan(&graph, &traffic).unwrap();
    // Equal loads are ordered by their ends: 3-0 is (0, 3), before 2-3. The remaining links are a path.
    let expected = [
        (3, 0.0, Verdict::Off),
        (2, 0.0, Verdict::Disconnects),
        (1, 3e6, Verdict::Disconnects),
        (0, 5e6, Verdict::Disconnects),
    ];
    assert_eq!(verdicts(&plan), expected);
}

#[test]
fn a_link_stays_on_if_another_would_become_too_busy() {
    // 0 -> 1: 4, 1 -> 2: 3, 2 -> 3: 2, 3 -> 0: 1 Mb/s. Without 3-0 its 1 Mb/s goes 3 -> 2 -> 1 -> 0, the other
    // direction of each link: the loads of the busier directions are 4, 3, 2.
    let demands = [(0, 1, 4), (1, 2, 3), (2, 3, 2), (3, 0, 1)];
    let (graph, traffic, config) = ring(&demands, 0.4);
    assert_eq!(config.plan(&graph, &traffic).unwrap().off, [3]);
    // The reverse case: 0 -> 3: 1 Mb/s goes over 0 -> 1, whose load is then 5.
    let demands = [(0, 1, 4), (1, 2, 3), (2, 3, 2), (0, 3, 1)];
    let (graph, traffic, config) = ring(&demands, 0.4);
    let plan = config.plan(&graph, &traffic).unwrap();
    // 2-3 is next: its 2 Mb/s go 2 -> 1 -> 0 -> 3, in reverse, 2 in addition to the 1 on 0-3. It sleeps, and no
    // other link can.
    let expected = [(3, 1e6, Verdict::TooLoaded), (2, 2e6, Verdict::Off), (3, 3e6, Verdict::Disconnects)];
    assert_eq!(verdicts(&plan)[..2], expected[..2]);
    assert_eq!(plan.off, [2]);
    // A load exactly at the bound is within it: 5 = 0.5 x 10.
    let (graph, traffic, config) = ring(&demands, 0.5);
    assert_eq!(config.plan(&graph, &traffic).unwrap().off, [3]);
}

#[test]
fn the_threshold_of_connectivity_holds_too() {
    // Ring of four: 2. Path of four: 2 - sqrt(2) = 0.586, a share of 0.293.
    for (threshold, off) in [(0.29, 1), (0.30, 0)] {
        let (graph, traffic, config) = ring(&[(0, 1, 1)], 1.0);
        let plan = LoadAwareConfig { threshold, ..config }.plan(&graph, &traffic).unwrap();
        assert_eq!(plan.off.len(), off);
    }
}

#[test]
fn weights_choose_the_way() {
    // 0 -> 1 costs 5 directly and 3 around the ring. Its 4 Mb/s load the links 3, 2 and 1, and link 0 sleeps
    // first.
    let (graph, traffic, config) = ring(&[(0, 1, 4)], 0.5);
    let plan = config.plan(&graph, &Traffic { weights: vec![5, 1, 1, 1], ..traffic }).unwrap();
    assert_eq!(verdicts(&plan)[0], (0, 0.0, Verdict::Off));
    assert!(plan.steps[1..].iter().all(|step| step.rank == 4e6));
}

#[test]
fn what_cannot_be_used_is_refused_by_name() {
    let (graph, traffic, good) = ring(&[(0, 1, 4)], 0.5);
    let graph = graph.with_names(["A", "B", "C", "D"].map(String::from).to_vec());
    let refused = |config: LoadAwareConfig| config.plan(&graph, &traffic).unwrap_err().to_string();
    for (bound, value) in [(0.0, "0"), (1.01, "1.01"), (f64::NAN, "not finite")] {
        let message = refused(LoadAwareConfig { bound, ..good.clone() });
        assert_eq!(message, format!("bound is {value}; expected more than 0 and at most 1"));
    }
    let message = refused(LoadAwareConfig { threshold: 2.0, ..good.clone() });
    assert!(message.starts_with("threshold is 2; expected 0 to 1"), "{message}");
    let demand = |from, to, mbps| vec![Demand { from, to, rate: MBPS(mbps) }];
    let mut capacities = traffic.capacities.clone();
    capacities[2] = BitRate::from_bps(0);
    let cases = [
        (Traffic { capacities, ..traffic.clone() }, "capacities is 0 b/s for link C-D; expected a rate above zero"),
        (
            Traffic { capacities: vec![MBPS(1)], ..traffic.clone() },
            "capacities is a list of 1; expected one for each of the 4 links",
        ),
        (Traffic { weights: vec![1, 0, 1, 1], ..traffic.clone() }, "weights is 0 for link B-C; expected 1 or more"),
        (
            Traffic { demands: demand(0, 4, 1), ..traffic.clone() },
            "demands is node 4 in demand 0; expected a node from 0 to 3",
        ),
        (Traffic { demands: demand(1, 1, 1), ..traffic.clone() }, "demands is node B to itself in demand 0"),
        (
            Traffic { demands: demand(0, 1, 6), ..traffic.clone() },
            "bound is 0.5, and link A-B carries 6 Mb/s before anything sleeps; expected at most 5 Mb/s, bound x capacity",
        ),
    ];
    for (traffic, start) in cases {
        let message = good.plan(&graph, &traffic).unwrap_err().to_string();
        assert!(message.starts_with(start), "{message}");
    }
}

#[test]
fn one_failure_is_survived() {
    // The ring with the chord 0-2 and the stub 3-4, a bridge. Any ring survives a failure, a path does not.
    let links = vec![(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (3, 4)];
    let graph = Graph::new(5, links).unwrap().with_names(["A", "B", "C", "D", "E"].map(String::from).to_vec());
    let demand = |from, to, mbps| Demand { from, to, rate: MBPS(mbps) };
    let demands = vec![demand(0, 2, 1), demand(0, 1, 4), demand(1, 2, 4), demand(3, 4, 4)];
    let traffic = Traffic { capacities: vec![MBPS(10); 6], weights: vec![1; 6], demands };
    let plan = |failure_bound| LoadAwareConfig { bound: 0.5, failure_bound, threshold: 0.0 }.plan(&graph, &traffic);
    assert_eq!(plan(None).unwrap().off, [3, 4], "a tree");
    // Without 0-2, its 1 Mb/s goes 0 -> 1 -> 2: 5 Mb/s on both. After a failure of 0-1 all 5 Mb/s go 0 -> 3 -> 2, of
    // which 4 Mb/s go on to 1.
    let verdicts = verdicts(&plan(Some(0.5)).unwrap());
    let expected = [
        (3, 0.0, Verdict::Fragile),
        (2, 0.0, Verdict::Fragile),
        (4, 1e6, Verdict::Off),
        (5, 4e6, Verdict::Disconnects),
        (0, 5e6, Verdict::Fragile),
        (1, 5e6, Verdict::Fragile),
    ];
    assert_eq!(verdicts, expected);
    // A failure of 0-1 puts the 5 Mb/s of node 0 on 0-2, and on 0-3 and 3-2 if 0-2 sleeps.
    let worst =
        |off: &[usize]| worst_failure(&graph, &traffic, off).map(|worst| (worst.failure, worst.link, worst.load));
    assert_eq!(worst(&[4]), Some((0, 2, 5_000_000)));
    assert_eq!(worst(&[]), Some((0, 4, 5_000_000)));
    assert_eq!(worst(&[3, 4]), None, "a tree");
    // Whole network: after a failure of 0-1, its 4 Mb/s go 0 -> 2 -> 1 with the 1 Mb/s of 0-2: 5 Mb/s.
    let message = plan(Some(0.4)).unwrap_err().to_string();
    let start = "failure_bound is 0.4, and link A-C carries 5 Mb/s after a failure of A-B before anything sleeps; \
                 expected at most 4 Mb/s, failure_bound x capacity";
    assert!(message.starts_with(start), "{message}");
}
