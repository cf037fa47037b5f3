//! Checks of a link's counts, rates and energy.

use super::Findings;
use super::ledger::Ledger;
use crate::net::link::LinkCounters;
use crate::net::transmitter::{EffectiveRate, IdleTime, InService, RateLogEntry};
use netlull_mechanism::link::LowPowerTimes;
use netlull_mechanism::rate::Naps;
use netlull_network::loss::Policer;
use netlull_network::queue::Buffer;
use netlull_network::trace::{HEADER, OPPORTUNITY, Trace};
use netlull_power::{PowerModel, Residency, Traffic, TransitionPower};
use netlull_units::{BitRate, Duration, Instant};
use std::borrow::Cow;
use std::sync::Arc;

/// A link's ledger.
#[derive(Clone, Debug)]
pub struct LinkLedger<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// Sending node.
    pub from: usize,
    /// Receiving node.
    pub to: usize,
    /// Maximum rate.
    pub max_rate: BitRate,
    /// The bytes on the wire that each packet has in addition to its size.
    pub overhead: u32,
    /// Buffer.
    pub buffer: Buffer,
    /// The policer in front of the buffer.
    pub policer: Option<Policer>,
    /// The trace of delivery opportunities that it follows.
    pub trace: Option<Arc<Trace>>,
    /// Packets found on the link at the end, and their bytes.
    pub held: (u64, u64),
    /// The number of times it fell asleep.
    pub naps: u64,
    /// The longest lateness that its controller guarantees, if it guarantees one.
    pub lateness_bound: Option<Duration>,
    /// The ledger of its scheduled departures, if it schedules them.
    pub variable: Option<Box<VariableLedger<'a>>>,
    /// The ledger of low-power idle, for a link that has it. Such a link logs no changes.
    pub low_power: Option<Box<LowPowerLedger>>,
}

/// The ledger of an air that links share.
#[derive(Clone, Debug)]
pub struct SharedAirLedger {
    /// Name.
    pub name: String,
    /// The overhead of each packet.
    pub overhead: Duration,
    /// The indices of its links.
    pub links: Vec<usize>,
}

/// The ledger of a link that schedules its departures.
#[derive(Clone, Debug)]
pub struct VariableLedger<'a> {
    /// Changes as decided.
    pub log: Cow<'a, [RateLogEntry]>,
    /// Changes as carried out.
    pub effective: Cow<'a, [EffectiveRate]>,
    /// Bytes sent by the end.
    pub sent_bytes: u64,
    /// The largest packet.
    pub largest_packet: u32,
    /// The time at each rate, from the meter.
    pub residency: Residency,
    /// The power charged during a transition.
    pub transition_power: TransitionPower,
    /// The link's power under each model whose energy is reported.
    pub power: Vec<PowerModel>,
    /// The treatment of the packet in service when a controller changes the rate; `None` without a controller.
    pub in_service: Option<InService>,
    /// The idle time by the end.
    pub idle: IdleTime,
    /// A decided pause that has not begun.
    pub pause_due: Duration,
}

/// The ledger of a link with low-power idle.
#[derive(Clone, Debug)]
pub struct LowPowerLedger {
    /// The given times of sleep; `None` for a link that begins asleep and falls asleep by itself.
    pub naps: Option<Naps>,
    /// The idle time before it falls asleep by itself.
    pub hysteresis: Duration,
    /// True if the other direction may keep it awake.
    pub is_coupled: bool,
    /// The times in each state since the start.
    pub whole: LowPowerTimes,
    /// The same in the measured time.
    pub measured: LowPowerTimes,
    /// The times of the transitions: to the first mode, from fast wake to sleep, from sleep, from fast wake.
    pub transitions: [Duration; 4],
    /// The power asleep and in fast wake as shares of the power that low-power idle can save.
    pub shares: (f64, f64),
    /// The link's power under each model.
    pub power: Vec<PowerModel>,
    /// The reported energy in the measured time without traffic, in joules, for each power model.
    pub reported: Vec<f64>,
}

impl VariableLedger<'_> {
    /// An entry for the end of the run.
    fn last(&self, end: Instant) -> EffectiveRate {
        let (rate, pause) = (BitRate::default(), Duration::ZERO);
        EffectiveRate { at: end, rate, pause, sent_bytes: self.sent_bytes, idle: self.idle }
    }
}

/// Checks the sums of a link and the log of its rates.
pub(super) fn check(findings: &mut Findings, link: &LinkLedger<'_>, counters: &LinkCounters, ledger: &Ledger<'_>) {
    link_conserves(findings, link, counters);
    link_keeps_its_buffer(findings, link, counters);
    policer_keeps_its_rate(findings, link, counters, ledger.end);
    waits_fit_the_queue(findings, link, counters, ledger.end);
    no_packet_is_too_late(findings, link, counters);
    match (&link.variable, &link.low_power) {
        (variable, Some(low)) => {
            if let Some(variable) = variable {
                low_power_is_metered(findings, link, variable, low);
            }
            low_power_holds(findings, link, low, counters, ledger);
            low_power_energy_holds(findings, link, low);
        }
        (None, None) if let Some(trace) = &link.trace => trace_holds(findings, link, trace, counters, ledger.end),
        (None, None) => fixed_rate_holds(findings, link, counters, ledger.end),
        (Some(variable), None) => {
            varying_rate_holds(findings, link, variable, ledger.end);
            // The line counts no packets, whose overheads take time too.
            if variable.in_service.is_none() && link.overhead == 0 {
                capacity_is_used(findings, link, variable, ledger.end);
            }
            every_change_is_carried_out(findings, link, variable);
            energy_is_the_integral(findings, link, variable, ledger);
        }
    }
}

fn link_conserves(findings: &mut Findings, link: &LinkLedger<'_>, c: &LinkCounters) {
    let packets = c.delivered_packets + c.dropped_packets + c.lost_packets + c.asleep_packets + link.held.0;
    findings.check(c.offered_packets == packets, &link.name, || {
        format!(
            "{} packets were offered, but delivered + dropped + lost + asleep + held = {packets}",
            c.offered_packets
        )
    });
    let bytes = c.delivered_bytes + c.dropped_bytes + c.lost_bytes + c.asleep_bytes + link.held.1;
    findings.check(c.offered_bytes == bytes, &link.name, || {
        format!("{} bytes were offered, but delivered + dropped + lost + asleep + held = {bytes}", c.offered_bytes)
    });
    findings.check(link.naps > 0 || c.asleep_packets == 0, &link.name, || {
        format!("{} packets were lost because of its sleep, but it never slept", c.asleep_packets)
    });
    findings.check(c.managed_drops <= c.dropped_packets, &link.name, || {
        format!("{} packets were dropped, of them {} by the queue's management", c.dropped_packets, c.managed_drops)
    });
    // A marked packet continues, unless the link falls asleep with it.
    let goes_on = c.delivered_packets + c.stranded_packets + link.held.0;
    findings.check(c.marked_packets <= goes_on, &link.name, || {
        format!("{} packets were marked, but delivered + stranded + held = {goes_on}", c.marked_packets)
    });
}

fn link_keeps_its_buffer(findings: &mut Findings, link: &LinkLedger<'_>, counters: &LinkCounters) {
    let (most, limit) = match link.buffer {
        Buffer::Packets(limit) => (counters.most_waiting, limit),
        Buffer::Bytes(limit) => (counters.most_waiting_bytes, limit.as_u64()),
        Buffer::Unlimited => return,
    };
    findings.check(most <= limit, &link.name, || format!("{most} waited, but the buffer holds {}", link.buffer));
}

/// Checks that a policer of the whole run has passed at most a burst, and what its rate gives.
fn policer_keeps_its_rate(findings: &mut Findings, link: &LinkLedger<'_>, c: &LinkCounters, end: Instant) {
    let Some(Policer { rate, burst, start }) = link.policer.filter(|policer| policer.start.is_zero()) else { return };
    let passed = u128::from(c.offered_bytes.saturating_sub(c.lost_bytes + c.asleep_bytes)) * BIT_NANOS_PER_BYTE;
    let most = u128::from(burst.as_u64()) * BIT_NANOS_PER_BYTE + u128::from(rate.as_bps()) * u128::from(end.as_nanos());
    findings.check(passed <= most, &link.name, || {
        let passed = passed / BIT_NANOS_PER_BYTE;
        format!("its policer has passed {passed} bytes since {start}, more than {burst} and {rate}")
    });
}

/// Checks that ended waits are in the integral of the queue, which is at most the longest queue over the whole run.
fn waits_fit_the_queue(findings: &mut Findings, link: &LinkLedger<'_>, c: &LinkCounters, end: Instant) {
    let (ended, most) = (c.waited_ns + c.waited_in_vain_ns, u128::from(c.most_waiting) * u128::from(end.as_nanos()));
    findings.check(ended <= c.queued_ns && c.queued_ns <= most, &link.name, || {
        format!("its queue has {} packet ns; expected {ended} (ended waits) to {most} (longest queue)", c.queued_ns)
    });
}

/// Checks the controller's guarantee against the same packets on a link that is always at its highest rate.
fn no_packet_is_too_late(findings: &mut Findings, link: &LinkLedger<'_>, counters: &LinkCounters) {
    let Some(bound) = link.lateness_bound else { return };
    let largest = Duration::from_nanos(counters.largest_lateness_ns);
    findings.check(largest <= bound, &link.name, || {
        format!("a packet left {largest} later than at the highest rate; its controller guarantees {bound}")
    });
}

const BIT_NANOS_PER_BYTE: u128 = 8 * 1_000_000_000;

/// Checks bytes <= rate x time awake for a link of fixed rate. Departures are rounded down, so each wake period may
/// have an extra nanosecond.
fn fixed_rate_holds(findings: &mut Findings, link: &LinkLedger<'_>, counters: &LinkCounters, end: Instant) {
    let sent = u128::from(counters.delivered_bytes) * BIT_NANOS_PER_BYTE;
    let awake = Duration::from_nanos(end.as_nanos().saturating_sub(counters.asleep_ns));
    let most = u128::from(link.max_rate.as_bps()) * (u128::from(awake.as_nanos()) + u128::from(link.naps) + 1);
    findings.check(sent <= most, &link.name, || {
        format!("delivered {} bytes in {awake}, more than {} carries", counters.delivered_bytes, link.max_rate)
    });
}

/// Checks bytes <= opportunities up to the end, for a link that follows a trace.
fn trace_holds(findings: &mut Findings, link: &LinkLedger<'_>, trace: &Trace, c: &LinkCounters, end: Instant) {
    let taken = u128::from(c.delivered_bytes) + u128::from(c.delivered_packets) * u128::from(HEADER);
    let offered = trace.count(end.as_nanos());
    findings.check(taken <= u128::from(offered) * u128::from(OPPORTUNITY), &link.name, || {
        format!("delivered {taken} bytes with their headers, more than {offered} opportunities carry")
    });
}

/// Checks that the transmissions of all links of an air, with their overheads, fit into the run.
pub(super) fn air_carries_one_packet_at_a_time(findings: &mut Findings, air: &SharedAirLedger, ledger: &Ledger<'_>) {
    let busy = air.links.iter().map(|&link| {
        let (LinkLedger { max_rate, .. }, counters) = (&ledger.links[link], &ledger.counters[link]);
        u128::from(counters.delivered_bytes) * BIT_NANOS_PER_BYTE / u128::from(max_rate.as_bps())
            + u128::from(counters.delivered_packets) * u128::from(air.overhead.as_nanos())
    });
    let (busy, end) = (busy.sum::<u128>(), ledger.end);
    findings.check(busy <= u128::from(end.as_nanos()), &air.name, || {
        format!("its links sent for {busy} ns, but the run ends at {end}")
    });
}

/// Checks bytes <= rate x (time - pause) between any two changes, plus a packet if the packet in service is not
/// finished first.
fn varying_rate_holds(findings: &mut Findings, link: &LinkLedger<'_>, variable: &VariableLedger<'_>, end: Instant) {
    let last = variable.last(end);
    let ends = variable.effective.iter().skip(1).chain(std::iter::once(&last));
    for (index, (entry, next)) in variable.effective.iter().zip(ends).enumerate() {
        findings.check(entry.at <= next.at && entry.sent_bytes <= next.sent_bytes, &link.name, || {
            format!("its rate log goes back from {} to {}", entry.at, next.at)
        });
        let sent = next.sent_bytes.saturating_sub(entry.sent_bytes);
        let time = next.at.saturating_since(entry.at).saturating_sub(entry.pause);
        // An extra nanosecond, because departures are rounded down.
        let most = u128::from(entry.rate.as_bps()) * u128::from(time.as_nanos() + 1);
        let finished =
            index == 0 || (variable.in_service == Some(InService::FinishThenPause) && !entry.pause.is_zero());
        let unfinished = if finished { 0 } else { u128::from(variable.largest_packet) * BIT_NANOS_PER_BYTE };
        findings.check(u128::from(sent) * BIT_NANOS_PER_BYTE <= most + unfinished, &link.name, || {
            format!(
                "sent {sent} bytes from {} to {}, more than {} carries outside a pause of {}",
                entry.at, next.at, entry.rate, entry.pause
            )
        });
    }
}

/// Checks a link without a controller: while it is not idle it sends what its capacity carries, less at most a packet in
/// service. Each idle period begins up to a nanosecond early, because departures are rounded down.
fn capacity_is_used(findings: &mut Findings, link: &LinkLedger<'_>, variable: &VariableLedger<'_>, end: Instant) {
    let last = variable.last(end);
    // A link with CoDel and a fixed rate may fall asleep, and loses its packet in service each time.
    let packet = u128::from(variable.largest_packet) * BIT_NANOS_PER_BYTE * u128::from(link.naps + 1);
    let rounding = u128::from(link.max_rate.as_bps()) * u128::from(variable.idle.periods + 1);
    let mut carried = 0_u128;
    let ends = variable.effective.iter().skip(1).chain(std::iter::once(&last));
    for (entry, next) in variable.effective.iter().zip(ends) {
        let idle = next.idle.ns.saturating_sub(entry.idle.ns);
        let busy = next.at.saturating_since(entry.at).as_nanos().saturating_sub(idle);
        carried += u128::from(entry.rate.as_bps()) * u128::from(busy);
        let sent = u128::from(next.sent_bytes) * BIT_NANOS_PER_BYTE;
        findings.check(sent <= carried + rounding && carried <= sent + packet + rounding, &link.name, || {
            let carries = carried / BIT_NANOS_PER_BYTE;
            format!(
                "sent {} bytes up to {}, but carries {carries} bytes while it is not idle",
                next.sent_bytes, next.at
            )
        });
    }
}

/// Checks the decided changes against the actual ones: the same last rate, and the same total of pauses.
fn every_change_is_carried_out(findings: &mut Findings, link: &LinkLedger<'_>, variable: &VariableLedger<'_>) {
    let decided: Duration = variable.log.iter().map(|entry| entry.pause).sum();
    // A pause that begins within another one extends it.
    let (mut done, mut until) = (Duration::ZERO, Instant::ZERO);
    for entry in variable.effective.iter() {
        let ends = entry.at + entry.pause;
        done += ends.saturating_since(entry.at.max(until));
        until = until.max(ends);
    }
    findings.check(decided == done + variable.pause_due, &link.name, || {
        format!("its changes cost {decided} of pauses, but it paused for {done}")
    });
    let last = |rate: Option<BitRate>| rate.unwrap_or_default();
    let (wanted, has) = (last(variable.log.last().map(|e| e.rate)), last(variable.effective.last().map(|e| e.rate)));
    findings.check(wanted == has || !variable.pause_due.is_zero(), &link.name, || {
        format!("its last change was to {wanted}, but it runs at {has}")
    });
}

/// Checks the times of low-power idle that a controller reports against those that the line's meter has seen.
fn low_power_is_metered(
    findings: &mut Findings,
    link: &LinkLedger<'_>,
    variable: &VariableLedger<'_>,
    low: &LowPowerLedger,
) {
    let sum = |stopped: bool| {
        let parts = variable.residency.in_service().iter().filter(|part| part.rate.is_zero() == stopped);
        parts.map(|part| part.time.as_nanos()).sum::<u64>()
    };
    let pauses = |entering: bool| {
        let parts = variable.residency.in_transition().iter().filter(|part| part.new.is_zero() == entering);
        parts.map(|part| part.time.as_nanos()).sum::<u64>()
    };
    let (measured, metered) = (&low.measured, [sum(false), pauses(true), sum(true), pauses(false)]);
    let told = [measured.awake_ns, measured.entering_ns, measured.low_ns(), measured.waking_ns];
    findings.check(told == metered, &link.name, || {
        format!(
            "its low-power idle reports {told:?} ns awake, entering, low and waking; its line was so for {metered:?}"
        )
    });
}

/// Checks the times of low-power idle: they add up to the run, each transition has its own length, and the time awake is
/// that of the packets and of the hysteresis.
fn low_power_holds(
    findings: &mut Findings,
    link: &LinkLedger<'_>,
    low: &LowPowerLedger,
    counters: &LinkCounters,
    ledger: &Ledger<'_>,
) {
    let LowPowerLedger { whole, transitions: [sleep, deepen, wake, fast_wake], hysteresis, .. } = low;
    let end = ledger.end.as_nanos();
    findings.check(whole.total_ns() == end, &link.name, || {
        format!("its states of low-power idle last {} ns; the run lasts {end}", whole.total_ns())
    });
    // The last transition may be unfinished.
    let cost = |each: [(u64, &Duration); 2]| each.iter().map(|(count, time)| count * time.as_nanos()).sum::<u64>();
    let entering = cost([(whole.sleeps, sleep), (whole.deepenings, deepen)]);
    let waking = cost([(whole.wakes, wake), (whole.fast_wakes, fast_wake)]);
    for (cost, time, longest) in
        [(entering, whole.entering_ns, sleep.max(deepen)), (waking, whole.waking_ns, wake.max(fast_wake))]
    {
        findings.check(time <= cost && cost - time <= longest.as_nanos(), &link.name, || {
            format!("its transitions take {cost} ns, but it spent {time} ns in them")
        });
    }
    let woken = whole.wakes + whole.fast_wakes;
    let slept = whole.sleeps + u64::from(low.naps.is_none());
    findings.check(woken == slept || woken + 1 == slept, &link.name, || {
        format!("it woke {woken} times, but fell asleep {} times", whole.sleeps)
    });
    if let Some(naps) = &low.naps {
        let begun = naps.times.iter().filter(|(from, _)| *from <= ledger.end);
        let most = begun.clone().map(|&(from, to)| (to.min(ledger.end) - from).as_nanos()).sum::<u64>();
        let count = begun.count() as u64;
        findings.check(whole.sleeps <= count && whole.low_ns() <= most, &link.name, || {
            let (times, low) = (whole.sleeps, whole.low_ns());
            format!("slept {times} times for {low} ns; its schedule has {count} times of {most} ns")
        });
    }
    // Packets that it has sent for certain, and all that it has accepted.
    let time = |packets: u64, bytes: u64| {
        let bytes = u128::from(bytes) + u128::from(packets) * u128::from(link.overhead);
        bytes * BIT_NANOS_PER_BYTE / u128::from(link.max_rate.as_bps())
    };
    let accepted = counters.delivered_packets + link.held.0;
    let (sent, all) = (
        time(counters.delivered_packets, counters.delivered_bytes),
        time(accepted, counters.delivered_bytes + link.held.1),
    );
    // A nanosecond for each time awake, because departures are rounded down.
    let (awake, idle) = (u128::from(whole.awake_ns), u128::from(hysteresis.as_nanos()));
    let least = sent + u128::from(whole.sleeps) * idle;
    findings.check(least <= awake + u128::from(woken) + 1, &link.name, || {
        let (sleeps, delivered) = (whole.sleeps, counters.delivered_bytes);
        format!("was awake for {awake} ns; {delivered} bytes and {sleeps} times of {hysteresis} take {least} ns")
    });
    // It is idle for at most a hysteresis before each packet, and after each time of waking.
    if low.naps.is_none() && !low.is_coupled {
        let most = all + u128::from(accepted + woken) * (idle + 1);
        findings.check(awake <= most, &link.name, || {
            format!("was awake for {awake} ns; {accepted} packets keep it awake for at most {most} ns")
        });
    }
}

/// Checks the energy of low-power idle: full power awake, in transitions and in refreshes; a share of the power that the
/// link can save in low power.
#[allow(clippy::cast_precision_loss)]
fn low_power_energy_holds(findings: &mut Findings, link: &LinkLedger<'_>, low: &LowPowerLedger) {
    let LowPowerLedger { measured, shares: (asleep, fast), power, .. } = low;
    let full = measured.awake_ns + measured.entering_ns + measured.waking_ns + measured.refresh_ns;
    for (model, reported) in power.iter().zip(&low.reported) {
        let rate = link.max_rate;
        let (on, off) = (model.power(rate, rate).as_f64(), model.sleep_power(rate).as_f64());
        let in_mode = |share: f64, nanos: u64| (off + share * (on - off)) * nanos as f64;
        let joules = (on * full as f64 + in_mode(*asleep, measured.asleep_ns) + in_mode(*fast, measured.fast_ns)) / 1e9;
        findings.check((reported - joules).abs() <= 1e-9 * joules.abs().max(1e-12), &link.name, || {
            format!("energy is {reported} J, but its times in low-power idle give {joules} J")
        });
    }
}

/// An interval of constant power.
struct Stretch {
    rate: BitRate,
    charged: BitRate,
    span: Duration,
}

/// Divides the time from `from` to `end` into intervals of constant power, from the log alone. Intervals without length
/// are left out.
fn each_stretch(variable: &VariableLedger<'_>, from: Instant, end: Instant, mut visit: impl FnMut(Stretch)) {
    let clip = |at: Instant| at.max(from).min(end);
    for (index, entry) in variable.effective.iter().enumerate() {
        let until = variable.effective.get(index + 1).map_or(end, |next| next.at);
        let old = if index == 0 { entry.rate } else { variable.effective[index - 1].rate };
        let charged = match variable.transition_power {
            TransitionPower::Old => old,
            TransitionPower::New => entry.rate,
            TransitionPower::Higher => old.max(entry.rate),
        };
        let resumes = (entry.at + entry.pause).min(until);
        let pause = clip(resumes).saturating_since(clip(entry.at));
        let whole = clip(until).saturating_since(clip(entry.at));
        for (charged, span) in [(charged, pause), (entry.rate, whole.saturating_sub(pause))] {
            if !span.is_zero() {
                visit(Stretch { rate: entry.rate, charged, span });
            }
        }
    }
}

/// Compares the meter with the log: time and rate to the nanosecond, and energy under every model.
fn energy_is_the_integral(
    findings: &mut Findings,
    link: &LinkLedger<'_>,
    variable: &VariableLedger<'_>,
    ledger: &Ledger<'_>,
) {
    let with_transitions = |model: &PowerModel| model.with_transition_power(variable.transition_power);
    let mut integrals: Vec<(PowerModel, f64)> =
        variable.power.iter().map(|model| (with_transitions(model), 0.0)).collect();
    let mut area = 0_u128;
    each_stretch(variable, ledger.measured_from, ledger.end, |part| {
        area += u128::from(part.rate.as_bps()) * u128::from(part.span.as_nanos());
        for (model, integral) in &mut integrals {
            *integral += (model.power(part.charged, link.max_rate) * part.span).as_f64();
        }
    });
    let metered: u128 = variable
        .residency
        .in_service()
        .iter()
        .map(|part| (part.rate, part.time))
        .chain(variable.residency.in_transition().iter().map(|part| (part.new, part.time)))
        .map(|(rate, time)| u128::from(rate.as_bps()) * u128::from(time.as_nanos()))
        .sum();
    findings.check(area == metered, &link.name, || {
        format!("its meter holds {metered} bit ns of rate over time, but its log says {area}")
    });
    for (model, integral) in integrals {
        let reported = model.energy(&variable.residency, link.max_rate, Traffic::default()).total().as_f64();
        findings.check((reported - integral).abs() <= 1e-9 * integral.abs().max(1e-12), &link.name, || {
            format!("energy is {reported} J, but power integrates to {integral} J")
        });
    }
}
