/* Writes the golden traces in linux.txt.xz (`xz -dc` prints them): what the congestion control of Linux 2.6.22, in the
 * files that ns-2.35's TCP/Linux is built from, makes of a scripted course of acknowledgements and losses. Nothing of
 * ns-2 is in this repository; with its source unpacked in $NS (ns-2.35):
 *
 *   cd $NS/tcp/linux
 *   gcc -w -fcommon -O1 -c -I. ns-linux-c.c ns-linux-param.c src/tcp_cong.c src/tcp_bic.c src/tcp_cubic.c \
 *       src/tcp_vegas.c src/tcp_compound.c <here>/linux_oracle.c
 *   g++ -w -c ns-linux-util.cc && g++ *.o -o linux_oracle
 *   for a in bic cubic vegas compound; do echo "== $a"; ./linux_oracle $a 3000 20000 12345; done |
 *       xz -T1 -e > <here>/linux.txt.xz
 *
 * The algorithm is called in the order in which LinuxTcpAgent::recv, tcp_fastretrans_alert and enter_loss do.
 * The network: a path of the given microseconds and 1 ms per segment; the round trip grows by the queue; a jitter of up to
 * 0.9 ms; every seventh acknowledgement is for two segments; a loss when the queue reaches a limit that varies, some by
 * chance, and timeouts by script.
 *
 * Lines, times in microseconds, windows and sequence numbers in segments, windows after the event:
 *   A now una nxt flight_before rtt state cwnd ssthresh    acknowledgement; state before it: O open, R recovery, L loss
 *   L now nxt cwnd ssthresh                                loss found by duplicate acknowledgements
 *   T now nxt cwnd ssthresh                                timeout
 */
#include <stdio.h>
#include <string.h>
#include "ns-linux-c.h"
#include "ns-linux-util.h"

#define MSS 1000UL
#define SERVICE 1000000ULL

static struct tcp_sock sk;
static int initialised;
static u64 now, una, nxt, recover;
static u64 path;
static u32 seed;

static u32 draw(u32 below)
{
	seed = (seed * 1103515245UL + 12345UL) & 0x7fffffffUL;
	return (seed >> 8) % below;
}

static void state(u8 s)
{
	if (sk.icsk_ca_ops->set_state)
		sk.icsk_ca_ops->set_state(&sk, s);
	sk.icsk_ca_state = s;
}

static void clock_tick(void)
{
	tcp_time_stamp = now / 1000000;
	ktime_get_real = now;
}

static void acknowledge(u32 count, u64 flight, u64 rtt)
{
	u64 after, before = una;
	char was = "ODCRL"[sk.icsk_ca_state];
	clock_tick();
	una += count;
	if (nxt < una)
		nxt = una;
	sk.snd_una = una * MSS;
	sk.snd_nxt = nxt * MSS;
	sk.bytes_acked += count * MSS;
	sk.rx_opt.saw_tstamp = 1;
	sk.rx_opt.rcv_tsecr = (now - rtt + 500000) / 1000000;
	if (sk.icsk_ca_ops->rtt_sample)
		sk.icsk_ca_ops->rtt_sample(&sk, (rtt + 500) / 1000);
	if (!initialised) {
		if (sk.icsk_ca_ops->init)
			sk.icsk_ca_ops->init(&sk);
		initialised = 1;
	}
	if (sk.icsk_ca_ops->pkts_acked)
		sk.icsk_ca_ops->pkts_acked(&sk, count, now - rtt);
	if (sk.icsk_ca_state != TCP_CA_Recovery)
		sk.icsk_ca_ops->cong_avoid(&sk, una * MSS, 0, flight, sk.icsk_ca_state == TCP_CA_Open);
	after = nxt - una;
	if (sk.icsk_ca_state != TCP_CA_Open && una >= recover) {
		if (sk.snd_cwnd < sk.snd_ssthresh) {
			sk.snd_cwnd = sk.snd_ssthresh;
			if (sk.snd_cwnd > after + 3)
				sk.snd_cwnd = after + 3;
		}
		state(TCP_CA_Open);
	}
	printf("A %llu %llu %llu %llu %llu %c %lu %lu\n", now / 1000, una, nxt, flight, rtt / 1000, was, sk.snd_cwnd,
	       sk.snd_ssthresh);
}

static void lose(int timeout)
{
	clock_tick();
	sk.snd_ssthresh = sk.icsk_ca_ops->ssthresh(&sk);
	sk.snd_cwnd_cnt = 0;
	sk.bytes_acked = 0;
	recover = nxt;
	if (timeout)
		sk.snd_cwnd = 1;
	else
		sk.snd_cwnd = sk.icsk_ca_ops->min_cwnd ? sk.icsk_ca_ops->min_cwnd(&sk) : sk.snd_ssthresh;
	state(timeout ? TCP_CA_Loss : TCP_CA_Recovery);
	printf("%c %llu %llu %lu %lu\n", timeout ? 'T' : 'L', now / 1000, nxt, sk.snd_cwnd, sk.snd_ssthresh);
}

int main(int argc, char **argv)
{
	struct tcp_congestion_ops *e;
	long step, steps, losses = 0, limit = 40, until_timeout = 1300, bdp;
	if (argc < 5)
		return 1;
	steps = atol(argv[2]);
	path = atol(argv[3]) * 1000;
	seed = atol(argv[4]);
	bdp = path / SERVICE;
	for (e = (void *)ns_tcp_cong_list.next; (void *)e != (void *)&ns_tcp_cong_list; e = (void *)e->list.next)
		if (strcmp(e->name, argv[1]) == 0)
			sk.icsk_ca_ops = e;
	if (!sk.icsk_ca_ops)
		return 1;
	sk.snd_cwnd = 2;
	sk.snd_ssthresh = sk.snd_cwnd_clamp = 2000;
	sk.mss_cache = MSS;
	nxt = 2;
	now = 100000000 + path;
	for (step = 0; step < steps; step++) {
		u64 flight = nxt - una, queue, rtt, gap;
		/* A pause of the application: what is in flight does not fill the window. */
		int full = step % 1100 < 1000;
		if (sk.icsk_ca_state == TCP_CA_Loss && flight > sk.snd_cwnd)
			flight = sk.snd_cwnd;
		queue = flight > (u64)bdp ? flight - bdp : 0;
		rtt = path + queue * SERVICE + draw(900) * 1000;
		gap = queue ? SERVICE : rtt / (flight + 1);
		now += gap / 1000 * 1000;
		if (sk.icsk_ca_state == TCP_CA_Open && (queue > (u64)limit || draw(300 + 10 * bdp) == 0)) {
			lose(0);
			losses++;
			limit = losses % 4 == 3 ? 5 : 10 + draw(2 * bdp + 30);
			continue;
		}
		if (--until_timeout == 0) {
			/* Some follow each other before anything is repaired. */
			until_timeout = draw(4) == 0 ? 3 : (700 + draw(900)) * (1 + bdp / 40);
			now += 1000000000;
			lose(1);
			continue;
		}
		acknowledge(step % 7 == 6 && flight > 1 ? 2 : 1, flight, rtt);
		if (full && una + sk.snd_cwnd > nxt)
			nxt = una + sk.snd_cwnd;
		if (nxt == una)
			nxt++;
	}
	return 0;
}
