
@CONSTANTS@

const words = memory.data(MAILBOX_WORDS * 8, 8);

export function netlull_mailbox(): usize {
  return words;
}

// The word at a place.
export function get(place: u32): u64 {
  return load<u64>(words + (place << 3));
}
export function put(place: u32, word: u64): void {
  store<u64>(words + (place << 3), word);
}
export function get_number(place: u32): f64 {
  return load<f64>(words + (place << 3));
}
export function put_number(place: u32, number: f64): void {
  store<f64>(words + (place << 3), number);
}

// Hands a text to the host: the description, or the reason of an error. `text` is ASCII.
const text_bytes = memory.data(4096);
export function say(text: string): void {
  const length = min(text.length, 4096);
  for (let index = 0; index < length; index++) store<u8>(text_bytes + index, text.charCodeAt(index));
  put(TEXT, text_bytes);
  put(TEXT + 1, length);
}

// Begins an answer without actions. The timeout stays.
export function answer(): void {
  put(ANSWER_ACTIONS, 0);
}

// Sets the next timeout, or none.
export function timeout_at(instant: u64): void {
  put(ANSWER_TIMEOUT_GIVEN, 1);
  put(ANSWER_TIMEOUT, instant);
}
export function no_timeout(): void {
  put(ANSWER_TIMEOUT_GIVEN, 0);
}

// Adds an action: its tag and its words.
export function act(size: u32, tag: u64, first: u64, second: u64): void {
  const count = get(ANSWER_ACTIONS);
  const at = ACTIONS + <u32>count * size;
  put(at, tag);
  put(at + 1, first);
  if (size > 2) put(at + 2, second);
  put(ANSWER_ACTIONS, count + 1);
}
export function set_rate(rate: u64, pause: u64): void {
  act(LINK_ACTION_WORDS, LINK_ACTION_SET_RATE, rate, pause);
}
export function station_act(tag: u64, word: u64): void {
  act(STATION_ACTION_WORDS, tag, word, 0);
}
// The decision of an observer.
export function decide_rate(rate: u64): void {
  put(DECISION, DECISION_RATE);
  put(DECISION_RATE_RATE, rate);
  put(ANSWER_ACTIONS, 1);
}
