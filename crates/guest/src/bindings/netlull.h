#pragma once
#include <stdint.h>

@CONSTANTS@

static uint64_t netlull_words[MAILBOX_WORDS] __attribute__((aligned(8)));

#define NETLULL_EXPORT(name) __attribute__((export_name(#name)))
// The words in the parentheses as a text. Quotes need no escape.
#define NETLULL_TEXT(...) #__VA_ARGS__

NETLULL_EXPORT(netlull_mailbox) uint64_t *netlull_mailbox(void) { return netlull_words; }

// The word at a place.
static inline uint64_t get(int place) { return netlull_words[place]; }
static inline void put(int place, uint64_t word) { netlull_words[place] = word; }
static inline double get_number(int place) {
    double number;
    __builtin_memcpy(&number, &netlull_words[place], 8);
    return number;
}
static inline void put_number(int place, double number) { __builtin_memcpy(&netlull_words[place], &number, 8); }

// Hands a text to the host: the description, or the reason of an error.
static inline void say(const char *text) {
    uint64_t length = 0;
    while (text[length]) length++;
    put(TEXT, (uintptr_t)text);
    put(TEXT + 1, length);
}

// The reported variables. The last place takes those above the limit, which netlull refuses.
static uint64_t netlull_listed[(MOST_VARIABLES + 1) * VARIABLE_WORDS];
static inline uint64_t *netlull_report(const char *name) {
    uint64_t count = get(TEXT + 1), length = 0;
    uint64_t *variable = &netlull_listed[(count < MOST_VARIABLES ? count : MOST_VARIABLES) * VARIABLE_WORDS];
    while (name[length]) length++;
    variable[VARIABLE_NAME] = (uintptr_t)name;
    variable[VARIABLE_NAME_LENGTH] = length;
    variable[VARIABLE_STATE] = 0;
    put(TEXT + 1, count + 1);
    return variable;
}

// Begins a report of variables, in netlull_variables.
static inline void begin_report(void) {
    put(TEXT, (uintptr_t)netlull_listed);
    put(TEXT + 1, 0);
}

// Reports a number, or the name of a state. Names must be constants.
static inline void report_number(const char *name, double number) {
    __builtin_memcpy(&netlull_report(name)[VARIABLE_NUMBER], &number, 8);
}
static inline void report_state(const char *name, const char *state) {
    uint64_t *variable = netlull_report(name), length = 0;
    while (state[length]) length++;
    variable[VARIABLE_STATE] = (uintptr_t)state;
    variable[VARIABLE_STATE_LENGTH] = length;
}

// Begins an answer without actions. The timeout stays.
static inline void answer(void) { put(ANSWER_ACTIONS, 0); }

// Sets the next timeout, or none.
static inline void timeout_at(uint64_t instant) {
    put(ANSWER_TIMEOUT_GIVEN, 1);
    put(ANSWER_TIMEOUT, instant);
}
static inline void no_timeout(void) { put(ANSWER_TIMEOUT_GIVEN, 0); }

// Adds an action: its tag and its words.
static inline void act(int words, uint64_t tag, uint64_t first, uint64_t second) {
    uint64_t count = get(ANSWER_ACTIONS);
    int at = ACTIONS + (int)count * words;
    put(at, tag);
    put(at + 1, first);
    if (words > 2) put(at + 2, second);
    put(ANSWER_ACTIONS, count + 1);
}
static inline void set_rate(uint64_t rate, uint64_t pause) { act(LINK_ACTION_WORDS, LINK_ACTION_SET_RATE, rate, pause); }
static inline void station_act(uint64_t tag, uint64_t word) { act(STATION_ACTION_WORDS, tag, word, 0); }
// The decision of a rate controller.
static inline void decide_rate(uint64_t rate) {
    put(DECISION, DECISION_RATE);
    put(DECISION_RATE_RATE, rate);
    put(ANSWER_ACTIONS, 1);
}
