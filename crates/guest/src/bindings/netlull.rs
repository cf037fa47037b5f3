
#![allow(dead_code)]

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

@CONSTANTS@

static WORDS: [AtomicU64; MAILBOX_WORDS] = [const { AtomicU64::new(0) }; MAILBOX_WORDS];

#[unsafe(no_mangle)]
extern "C" fn netlull_mailbox() -> usize {
    WORDS.as_ptr() as usize
}

/// The word at a place.
pub fn get(place: usize) -> u64 {
    WORDS[place].load(Relaxed)
}

pub fn put(place: usize, word: u64) {
    WORDS[place].store(word, Relaxed);
}

pub fn get_number(place: usize) -> f64 {
    f64::from_bits(get(place))
}

pub fn put_number(place: usize, number: f64) {
    put(place, number.to_bits());
}

/// Hands a text to the host: the description, or the reason of an error.
pub fn say(text: &'static str) {
    put(TEXT, text.as_ptr() as u64);
    put(TEXT + 1, text.len() as u64);
}

/// The last place takes variables above the limit, which netlull refuses.
static LISTED: [AtomicU64; (MOST_VARIABLES + 1) * VARIABLE_WORDS] =
    [const { AtomicU64::new(0) }; (MOST_VARIABLES + 1) * VARIABLE_WORDS];

/// Begins a report of variables, in `netlull_variables`.
pub fn begin_report() {
    put(TEXT, LISTED.as_ptr() as u64);
    put(TEXT + 1, 0);
}

fn report(name: &'static str, state: &'static str, number: f64) {
    let count = get(TEXT + 1) as usize;
    let variable = &LISTED[count.min(MOST_VARIABLES) * VARIABLE_WORDS..];
    let state_at = if state.is_empty() { 0 } else { state.as_ptr() as u64 };
    for (place, word) in [
        (VARIABLE_NAME, name.as_ptr() as u64),
        (VARIABLE_NAME_LENGTH, name.len() as u64),
        (VARIABLE_STATE, state_at),
        (VARIABLE_STATE_LENGTH, state.len() as u64),
        (VARIABLE_NUMBER, number.to_bits()),
    ] {
        variable[place].store(word, Relaxed);
    }
    put(TEXT + 1, count as u64 + 1);
}

/// Reports a variable that is a number.
pub fn report_number(name: &'static str, number: f64) {
    report(name, "", number);
}

/// Reports a variable that is the name of a state.
pub fn report_state(name: &'static str, state: &'static str) {
    report(name, state, 0.0);
}

/// Begins an answer without actions. The timeout stays.
pub fn answer() {
    put(ANSWER_ACTIONS, 0);
}

/// Sets the next timeout, or none.
pub fn timeout_at(instant: Option<u64>) {
    put(ANSWER_TIMEOUT_GIVEN, instant.is_some().into());
    put(ANSWER_TIMEOUT, instant.unwrap_or(0));
}

/// Adds an action: its tag and its words.
pub fn act(words: usize, tag: usize, first: u64, second: u64) {
    let count = get(ANSWER_ACTIONS);
    let at = ACTIONS + count as usize * words;
    put(at, tag as u64);
    put(at + 1, first);
    if words > 2 {
        put(at + 2, second);
    }
    put(ANSWER_ACTIONS, count + 1);
}

pub fn set_rate(rate: u64, pause: u64) {
    act(LINK_ACTION_WORDS, LINK_ACTION_SET_RATE, rate, pause);
}

pub fn station_act(tag: usize, word: u64) {
    act(STATION_ACTION_WORDS, tag, word, 0);
}

/// The decision of a rate controller.
pub fn decide_rate(rate: u64) {
    put(DECISION, DECISION_RATE as u64);
    put(DECISION_RATE_RATE, rate);
    put(ANSWER_ACTIONS, 1);
}
