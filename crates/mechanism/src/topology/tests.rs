//! Abilene as in greened-network-2012, and properties of every order.

use super::*;
use crate::ConfigError;

/// Abilene (greened-network-2012 fig. 1): routers numbered alphabetically, links as (lower, higher).
const ABILENE: [(usize, usize); 15] = [
    (0, 1),
    (1, 4),
    (1, 5),
    (1, 11),
    (2, 5),
    (2, 8),
    (3, 6),
    (3, 9),
    (3, 10),
    (4, 6),
    (4, 7),
    (5, 6),
    (7, 9),
    (8, 11),
    (9, 10),
];

fn abilene() -> Graph {
    Graph::new(12, ABILENE.to_vec()).unwrap()
}

fn estop(graph: &Graph, threshold: f64) -> Result<SleepPlan, ConfigError> {
    EstopConfig { threshold }.plan(graph, &Traffic::default())
}

fn esacon(graph: &Graph, threshold: f64) -> Result<SleepPlan, ConfigError> {
    EsaconConfig { threshold }.plan(graph, &Traffic::default())
}

fn off(plan: &SleepPlan) -> Vec<(usize, usize)> {
    plan.off.iter().map(|&link| ABILENE[link]).collect()
}

#[test]
fn estop_switches_off_what_table_v_says() {
    // Table V of the paper at 90, 70, 60 and 50 %. At 80 % the paper has two links, the rule three: its ratio is
    // 0.8405.
    let rows: [(f64, &[(usize, usize)]); 5] = [
        (0.9, &[(9, 10), (3, 9)]),
        (0.8, &[(9, 10), (3, 9), (2, 8)]),
        (0.7, &[(9, 10), (3, 9), (2, 8)]),
        (0.6, &[(9, 10), (3, 9), (2, 8)]),
        (0.5, &[(9, 10), (3, 9), (2, 8), (1, 5)]),
    ];
    for (threshold, expected) in rows {
        assert_eq!(off(&estop(&abilene(), threshold).unwrap()), expected, "at {threshold}");
    }
}

#[test]
fn abilene_has_the_connectivity_of_the_paper() {
    let plan = estop(&abilene(), 0.5).unwrap();
    assert!((plan.initial_connectivity - 0.30899).abs() < 5e-6);
    let ratio_after = |link: (usize, usize)| {
        let step = plan.steps.iter().find(|step| ABILENE[step.link] == link).unwrap();
        step.connectivity / plan.initial_connectivity
    };
    assert!((ratio_after((2, 8)) - 0.8405).abs() < 5e-5);
    assert!((ratio_after((1, 5)) - 0.5029).abs() < 5e-5);
}

#[test]
fn a_single_router_and_a_single_link_have_nothing_to_switch_off() {
    let alone = estop(&Graph::new(1, vec![]).unwrap(), 0.5).unwrap();
    assert_eq!((alone.initial_connectivity, alone.steps.len()), (0.0, 0));
    let pair = estop(&Graph::new(2, vec![(1, 0)]).unwrap(), 0.0).unwrap();
    assert_eq!(pair.steps[0].verdict, Verdict::Disconnects);
    assert!((pair.initial_connectivity - 2.0).abs() < 1e-15);
}

#[test]
fn values_that_differ_by_rounding_are_ties() {
    let graph = Graph::new(4, vec![(2, 3), (3, 1), (0, 1), (0, 2)]).unwrap();
    let order = |values: [f64; 4]| -> Vec<usize> {
        ascending(&graph, &values, |value| TIE * value).into_iter().map(|(link, _)| link).collect()
    };
    // By their ends: 0-1, 0-2, 1-3, 2-3.
    assert_eq!(order([1.0, 1.0 + 1e-12, 1.0 + 2e-12, 1.0 + 3e-12]), [2, 3, 1, 0]);
    assert_eq!(order([1.0, 1.0 + 1e-6, 1.0 + 2e-6, 1.0 + 3e-6]), [0, 1, 2, 3]);
}

#[test]
fn equal_ranks_go_by_the_ends_however_links_are_numbered() {
    // A ring of five: every link is on equally many paths. 0-1 sleeps first, although it is given last and in
    // reverse.
    let graph = Graph::new(5, vec![(3, 4), (2, 3), (4, 0), (1, 2), (1, 0)]).unwrap();
    assert_eq!(estop(&graph, 0.0).unwrap().off, [4]);
    assert_eq!(esacon(&graph, 0.0).unwrap().off, [4]);
}

#[test]
fn a_lower_threshold_may_switch_off_fewer_links() {
    // Greedy: after 0-1, 2-3 leaves 0.523 of lambda_2. At 0.5 it sleeps, and no other link can. At 0.6 it stays
    // on, and 3-4 and 0-3 have no effect on lambda_2.
    let links = vec![(0, 1), (0, 2), (0, 3), (1, 2), (2, 3), (2, 4), (3, 4)];
    let graph = Graph::new(5, links).unwrap();
    let count = |threshold| estop(&graph, threshold).unwrap().off.len();
    assert_eq!((count(0.5), count(0.6)), (2, 3));
}

#[test]
fn a_value_out_of_range_is_refused_by_name() {
    let pair = Graph::new(2, vec![(0, 1)]).unwrap();
    let load_aware =
        |bound, threshold| LoadAwareConfig { bound, failure_bound: None, threshold }.plan(&pair, &Traffic::default());
    for (threshold, value) in [(-0.1, "-0.1"), (1.5, "1.5"), (f64::NAN, "not finite")] {
        let expected = format!("threshold is {value}; expected 0 to 1");
        for refused in [estop(&pair, threshold), esacon(&pair, threshold), load_aware(0.5, threshold)] {
            assert_eq!(refused.unwrap_err().to_string(), expected);
        }
    }
    let refused = load_aware(0.0, 0.5).unwrap_err().to_string();
    assert_eq!(refused, "bound is 0; expected more than 0 and at most 1");
}
