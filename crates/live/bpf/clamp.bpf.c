// SPDX-License-Identifier: MIT OR Apache-2.0
// The gateway's two programs: `forward` reads packets on their way to the link's queue, `backward` those in the reverse
// direction. Both learn window scales from handshakes, and report some segments to the daemon. `backward` lowers
// windows. "near" is the senders' side of the link, "far" the receivers' side.

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

// Passes the packet to other programs, then to the stack (TCX_NEXT).
enum { PASS = TC_ACT_UNSPEC };

// The bytes before the IP header at each program: 14, or none on a device without link layer.
volatile const __u32 forward_link_header = ETH_HLEN;
volatile const __u32 backward_link_header = ETH_HLEN;

// The orders of the daemon; each word is written and read as a whole.
struct control {
	__u64 deadline;      // CLOCK_MONOTONIC in ns: afterwards the daemon counts as hung, and windows pass unchanged
	__u64 window;        // the largest window to pass, in bytes; 0: none is lowered
	__u64 mask;          // a flow is reported completely if its key has none of these bits
	__u64 mark_interval; // the interval of reported data segments of any other flow, in ns
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct control);
} CONTROL SEC(".maps");

// A connection by its addresses and ports; IPv4 addresses as ::ffff:a.b.c.d.
struct connection {
	__u32 near[4];
	__u32 far[4];
	__u16 near_port;
	__u16 far_port;
};

enum {
	NEAR_SYN = 1,   // the near end's SYN or SYN-ACK has been seen
	FAR_SYN = 2,
	NEAR_SCALES = 4, // it had the window scale option
	FAR_SCALES = 8,
};

struct flow {
	__u64 told; // the time of the last reported segment
	__u8 seen;
	__u8 far_scale;
	__u8 unused[6];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct connection);
	__type(value, struct flow);
} FLOWS SEC(".maps");

struct counters {
	__u64 forward_packets;
	__u64 backward_packets;
	__u64 acknowledgements; // with ACK and neither SYN nor RST
	__u64 rewritten;
	__u64 unknown_scale;
	__u64 malformed;
	__u64 fragments;
	__u64 told;
	__u64 untold; // the ring was full
};

// With CAP_BPF alone, the verifier computes every address on one path: additions must not be merged across branches.
#define ADD_ONE(counter)                                                                                                 \
	do {                                                                                                             \
		asm volatile("" ::: "memory");                                                                           \
		*(volatile __u64 *)&(counter) += 1;                                                                      \
		asm volatile("" ::: "memory");                                                                           \
	} while (0)

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counters);
} COUNTERS SEC(".maps");

enum {
	TOLD_BACKWARD = 1,
	TOLD_DATA = 2,
	TOLD_SYN = 4,
	TOLD_ACK = 8,
	TOLD_TIMESTAMPS = 16,
	TOLD_WINDOW = 32, // the window is known in bytes
	TOLD_WHOLE = 64,  // every segment of this flow is reported
};

// A reported segment; crates/live/src/router/segment.rs has the same layout.
struct told {
	__u64 at; // CLOCK_MONOTONIC in ns
	__u64 flow;
	__u32 end;
	__u32 acknowledged;
	__u32 value;
	__u32 echo;
	__u32 window;
	__u32 what;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 19);
} TOLD SEC(".maps");

struct tcp_header {
	__be16 source;
	__be16 destination;
	__be32 sequence;
	__be32 acknowledged;
	__u8 data_offset;
	__u8 flags;
	__be16 window;
	__be16 check;
	__be16 urgent;
};

enum { FIN = 1, SYN = 2, RST = 4, ACK = 16 };

struct ipv4_header {
	__u8 version_and_length;
	__u8 service;
	__be16 total;
	__be16 identification;
	__be16 fragment;
	__u8 hops;
	__u8 protocol;
	__be16 check;
	__u32 source;
	__u32 destination;
};

struct ipv6_header {
	__be32 version_and_flow;
	__be16 payload;
	__u8 next;
	__u8 hops;
	__u32 source[4];
	__u32 destination[4];
};

enum result { OTHER, MALFORMED, FRAGMENT, SEGMENT };

enum direction { FORWARD, BACKWARD };

struct segment {
	struct connection connection;
	struct tcp_header tcp;
	__u32 tcp_at; // the offset of the TCP header
	__u32 payload;
	__u32 value;
	__u32 echo;
	__u8 scale;
	__u8 scales;
	__u8 timestamps;
	__u8 is_signed; // a digest that only its ends can compute covers its header
};

#define LOAD(skb, at, to) bpf_skb_load_bytes(skb, at, to, sizeof(*(to)))

static __always_inline void orient(struct connection *c, enum direction direction, const __u32 *source,
				   const __u32 *destination)
{
	__builtin_memcpy(direction == FORWARD ? c->near : c->far, source, 16);
	__builtin_memcpy(direction == FORWARD ? c->far : c->near, destination, 16);
}

// RFC 9293 section 3.1, RFC 7323 sections 2.2 and 3.2, RFC 2385 section 3.0 (MD5), RFC 5925 section 2.2 (TCP-AO).
static __always_inline enum result read_options(struct __sk_buff *skb, struct segment *s, __u32 at, __u32 end)
{
	for (int n = 0; n < 40 && at < end; n++) {
		__u8 kind, length;
		if (LOAD(skb, at, &kind))
			return MALFORMED;
		if (kind == 0)
			return SEGMENT;
		if (kind == 1) {
			at++;
			continue;
		}
		if (at + 1 >= end || LOAD(skb, at + 1, &length) || length < 2 || at + length > end)
			return MALFORMED;
		if (kind == 3) {
			if (length != 3 || LOAD(skb, at + 2, &s->scale))
				return MALFORMED;
			s->scales = 1;
		} else if (kind == 8) {
			__be32 stamps[2];
			if (length != 10 || LOAD(skb, at + 2, &stamps))
				return MALFORMED;
			s->value = bpf_ntohl(stamps[0]);
			s->echo = bpf_ntohl(stamps[1]);
			s->timestamps = 1;
		} else if (kind == 19 || kind == 29) {
			s->is_signed = 1;
		}
		at += length;
	}
	return SEGMENT;
}

static __always_inline enum result read_tcp(struct __sk_buff *skb, struct segment *s, enum direction direction,
					    __u32 at, __u32 end)
{
	if (LOAD(skb, at, &s->tcp))
		return MALFORMED;
	__u32 header = (s->tcp.data_offset >> 4) * 4;
	if (header < 20 || at + header > end)
		return MALFORMED;
	s->tcp_at = at;
	s->payload = end - at - header;
	s->connection.near_port = direction == FORWARD ? s->tcp.source : s->tcp.destination;
	s->connection.far_port = direction == FORWARD ? s->tcp.destination : s->tcp.source;
	return read_options(skb, s, at + 20, at + header);
}

static __always_inline enum result read_ipv4(struct __sk_buff *skb, struct segment *s, enum direction direction,
					     __u32 at)
{
	struct ipv4_header ip;
	if (LOAD(skb, at, &ip))
		return MALFORMED;
	__u32 header = (ip.version_and_length & 15) * 4;
	// The length of a packet before its segmentation may exceed its field.
	__u32 total = ip.total ? bpf_ntohs(ip.total) : skb->len - at;
	if (ip.version_and_length >> 4 != 4 || header < 20 || total < header || at + total > skb->len)
		return MALFORMED;
	if (ip.protocol != IPPROTO_TCP)
		return OTHER;
	if (ip.fragment & bpf_htons(0x3fff))
		return FRAGMENT;
	__u32 source[4] = {0, 0, bpf_htonl(0xffff), ip.source};
	__u32 destination[4] = {0, 0, bpf_htonl(0xffff), ip.destination};
	orient(&s->connection, direction, source, destination);
	return read_tcp(skb, s, direction, at + header, at + total);
}

// Extension headers are skipped (RFC 8200 section 4). Content after an authentication header (RFC 4302) must not be
// changed, so it does not count as a segment here.
static __always_inline enum result read_ipv6(struct __sk_buff *skb, struct segment *s, enum direction direction,
					     __u32 at)
{
	struct ipv6_header ip;
	if (LOAD(skb, at, &ip))
		return MALFORMED;
	__u32 end = ip.payload ? at + 40 + bpf_ntohs(ip.payload) : skb->len;
	if (bpf_ntohl(ip.version_and_flow) >> 28 != 6 || end > skb->len)
		return MALFORMED;
	orient(&s->connection, direction, ip.source, ip.destination);
	__u8 next = ip.next;
	at += 40;
	for (int n = 0; n < 8; n++) {
		__u8 extension[2];
		if (next == IPPROTO_TCP)
			return read_tcp(skb, s, direction, at, end);
		if (next == IPPROTO_FRAGMENT)
			return FRAGMENT;
		if (next != IPPROTO_HOPOPTS && next != IPPROTO_ROUTING && next != IPPROTO_DSTOPTS)
			return OTHER;
		if (LOAD(skb, at, &extension))
			return MALFORMED;
		at += (extension[1] + 1) * 8;
		if (at > end)
			return MALFORMED;
		next = extension[0];
	}
	return OTHER;
}

static __always_inline enum result read_segment(struct __sk_buff *skb, struct segment *s, enum direction direction,
						__u32 at)
{
	if (skb->protocol == bpf_htons(ETH_P_IP))
		return read_ipv4(skb, s, direction, at);
	if (skb->protocol == bpf_htons(ETH_P_IPV6))
		return read_ipv6(skb, s, direction, at);
	return OTHER;
}

// The same key in both directions, for a connection in the orientation of this program.
static __always_inline __u64 key_of(const struct connection *c)
{
	const __u32 words[9] = {c->near[0], c->near[1], c->near[2], c->near[3], c->far[0], c->far[1], c->far[2], c->far[3],
				(__u32)c->near_port << 16 | c->far_port};
	__u64 hash = 0xcbf29ce484222325;
#pragma unroll
	for (int n = 0; n < 9; n++) {
		hash = (hash ^ words[n]) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 29;
	}
	return hash;
}

// Learns the window scales of a handshake. A SYN opens the connection anew. Of SYN-ACKs the first counts, so a later
// forged one changes no scale.
static __always_inline void learn(const struct segment *s, enum direction direction)
{
	__u8 end = direction == FORWARD ? NEAR_SYN : FAR_SYN, seen = end;
	if (s->scales)
		seen |= direction == FORWARD ? NEAR_SCALES : FAR_SCALES;
	struct flow fresh = {.seen = seen};
	struct flow *known = bpf_map_lookup_elem(&FLOWS, &s->connection);
	if (known && s->tcp.flags & ACK) {
		if (known->seen & end)
			return;
		known->seen |= seen;
		if (direction == BACKWARD)
			known->far_scale = s->scale;
		return;
	}
	if (direction == BACKWARD)
		fresh.far_scale = s->scale;
	bpf_map_update_elem(&FLOWS, &s->connection, &fresh, BPF_ANY);
}

enum { UNKNOWN = 255 };

// The scale of the far end's windows (RFC 7323 section 2.2), at most 14; it counts only if both ends sent the option.
static __always_inline __u8 scale_of(const struct flow *flow)
{
	if (!flow || (flow->seen & (NEAR_SYN | FAR_SYN)) != (NEAR_SYN | FAR_SYN))
		return UNKNOWN;
	if ((flow->seen & (NEAR_SCALES | FAR_SCALES)) != (NEAR_SCALES | FAR_SCALES))
		return 0;
	return flow->far_scale > 14 ? 14 : flow->far_scale;
}

static __always_inline void tell(struct counters *count, const struct segment *s, __u64 now, __u64 key, __u32 what,
				 __u32 window)
{
	struct told *told = bpf_ringbuf_reserve(&TOLD, sizeof(*told), 0);
	if (!told) {
		ADD_ONE(count->untold);
		return;
	}
	__u8 flags = s->tcp.flags;
	told->at = now;
	told->flow = key;
	told->end = bpf_ntohl(s->tcp.sequence) + s->payload + !!(flags & SYN) + !!(flags & FIN);
	told->acknowledged = flags & ACK ? bpf_ntohl(s->tcp.acknowledged) : 0;
	told->value = s->value;
	told->echo = s->echo;
	told->window = window;
	told->what = what | (s->payload ? TOLD_DATA : 0) | (flags & SYN ? TOLD_SYN : 0) | (flags & ACK ? TOLD_ACK : 0) |
		     (s->timestamps ? TOLD_TIMESTAMPS : 0);
	// The daemon reads the ring at the end of its period and needs no wake-up.
	bpf_ringbuf_submit(told, BPF_RB_NO_WAKEUP);
	ADD_ONE(count->told);
}

static __always_inline struct control *control(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&CONTROL, &zero);
}

static __always_inline struct counters *counters(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&COUNTERS, &zero);
}

static __always_inline int is_segment(struct counters *count, enum result result)
{
	if (result == MALFORMED)
		ADD_ONE(count->malformed);
	else if (result == FRAGMENT)
		ADD_ONE(count->fragments);
	return result == SEGMENT;
}

SEC("classifier")
int forward(struct __sk_buff *skb)
{
	struct counters *count = counters();
	struct control *say = control();
	if (!count || !say)
		return PASS;
	ADD_ONE(count->forward_packets);
	struct segment s = {};
	if (!is_segment(count, read_segment(skb, &s, FORWARD, forward_link_header)))
		return PASS;
	if (s.tcp.flags & SYN)
		learn(&s, FORWARD);
	__u64 now = bpf_ktime_get_ns();
	if (now >= say->deadline)
		return PASS;
	__u64 key = key_of(&s.connection);
	if (!(key & say->mask)) {
		tell(count, &s, now, key, TOLD_WHOLE, 0);
		return PASS;
	}
	if (!s.payload)
		return PASS;
	struct flow *flow = bpf_map_lookup_elem(&FLOWS, &s.connection);
	if (!flow) {
		struct flow fresh = {.told = now};
		bpf_map_update_elem(&FLOWS, &s.connection, &fresh, BPF_NOEXIST);
		tell(count, &s, now, key, 0, 0);
	} else if (now - flow->told >= say->mark_interval) {
		flow->told = now;
		tell(count, &s, now, key, 0, 0);
	}
	return PASS;
}

SEC("classifier")
int backward(struct __sk_buff *skb)
{
	struct counters *count = counters();
	struct control *say = control();
	if (!count || !say)
		return PASS;
	ADD_ONE(count->backward_packets);
	struct segment s = {};
	if (!is_segment(count, read_segment(skb, &s, BACKWARD, backward_link_header)))
		return PASS;
	__u8 flags = s.tcp.flags;
	if (flags & SYN)
		learn(&s, BACKWARD);
	__u64 now = bpf_ktime_get_ns();
	if (now >= say->deadline)
		return PASS;
	__u64 key = key_of(&s.connection);
	__u32 whole = key & say->mask ? 0 : TOLD_WHOLE;
	// The window of a SYN is not scaled (RFC 7323 section 2.2), and that of a reset has no meaning.
	if (!(flags & ACK) || flags & (SYN | RST)) {
		if (whole)
			tell(count, &s, now, key, TOLD_BACKWARD | whole, 0);
		return PASS;
	}
	ADD_ONE(count->acknowledgements);
	struct flow *flow = bpf_map_lookup_elem(&FLOWS, &s.connection);
	__u8 scale = scale_of(flow);
	if (scale == UNKNOWN) {
		ADD_ONE(count->unknown_scale);
		if (whole)
			tell(count, &s, now, key, TOLD_BACKWARD | whole, 0);
		return PASS;
	}
	__u32 advertised = bpf_ntohs(s.tcp.window);
	if (whole)
		tell(count, &s, now, key, TOLD_BACKWARD | TOLD_WINDOW | whole, advertised << scale);
	__u64 window = say->window;
	if (!window || s.is_signed)
		return PASS;
	// Rounded up, so the lower limit of one MTU holds.
	__u64 allowed = (window + (1ULL << scale) - 1) >> scale;
	if (advertised <= allowed)
		return PASS;
	__be16 before = s.tcp.window, after = bpf_htons((__u16)allowed);
	// RFC 1624; the checksum first: if either write is refused, the packet is not left half-changed.
	if (bpf_l4_csum_replace(skb, s.tcp_at + 16, before, after, sizeof(after)))
		return PASS;
	if (bpf_skb_store_bytes(skb, s.tcp_at + 14, &after, sizeof(after), 0)) {
		bpf_l4_csum_replace(skb, s.tcp_at + 16, after, before, sizeof(after));
		return PASS;
	}
	ADD_ONE(count->rewritten);
	return PASS;
}

// Helpers that rewrite checksums and read the clock require a licence compatible with the GPL.
char LICENSE[] SEC("license") = "Dual MIT/GPL";
