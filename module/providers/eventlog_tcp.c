// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_tcp.ko: a provider of events for the life cycle of TCP connections.
 *
 * The session is the socket's cookie.  The events come from tracepoints of the kernel,
 * which are hooked only while an event that needs them is enabled.  The values come from
 * the socket.  Some tracepoints fire without the socket's lock; values may then be
 * slightly out of date.
 *
 * To compute durations, the module stores the start time of each connection while events
 * with the keyword conn are enabled.  The start of older connections is unknown.  Each
 * set of the table has a raw spinlock; eventlog serialises enable().
 */
#define pr_fmt(format) "eventlog_tcp: " format

#include <linux/hash.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sock_diag.h>
#include <linux/spinlock.h>
#include <linux/tcp.h>
#include <net/inet_hashtables.h>
#include <net/inet_sock.h>
#include <net/ip6_route.h>
#include <net/net_namespace.h>
#include <net/route.h>
#include <net/tcp.h>
#include <trace/events/sock.h>
#include <trace/events/tcp.h>

#include "../compat.h"
#include "hook.h"

#define EVENTLOG_TCP_DEFINE
#include "tcp_eventlog.h"

static uint sample_ms = 100;
module_param(sample_ms, uint, 0644);
MODULE_PARM_DESC(sample_ms, "minimum time between two samples of a connection, in ms (100)");

static uint connections_max = 65536;
module_param(connections_max, uint, 0644);
MODULE_PARM_DESC(connections_max,
		 "connections to store the start time of, applied when a capture starts (65536)");

/* ---- a socket's properties ---- */

struct tcp_endpoints {
	struct in6_addr local;
	struct in6_addr remote;
	u16 local_port;
	u16 remote_port;
};

static struct tcp_endpoints tcp_endpoints(const struct sock *sk)
{
	const struct inet_sock *inet = inet_sk(sk);
	struct tcp_endpoints ends = {
		.local_port = ntohs(inet->inet_sport),
		.remote_port = ntohs(inet->inet_dport),
	};

#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		ends.local = sk->sk_v6_rcv_saddr;
		ends.remote = sk->sk_v6_daddr;
		return ends;
	}
#endif
	ipv6_addr_set_v4mapped(inet->inet_saddr, &ends.local);
	ipv6_addr_set_v4mapped(inet->inet_daddr, &ends.remote);
	return ends;
}

static u64 tcp_session(const struct sock *sk)
{
	u64 cookie = atomic64_read(&sk->sk_cookie);
	u32 words[2];

	if (likely(cookie))
		return cookie;
	/* This exported function creates the cookie if there is none. */
	sock_diag_save_cookie((struct sock *)sk, words);
	return atomic64_read(&sk->sk_cookie);
}

static u32 tcp_netns(const struct sock *sk)
{
	return sock_net(sk)->ns.inum;
}

static u32 tcp_rtt(const struct sock *sk)
{
	return READ_ONCE(tcp_sk(sk)->srtt_us) >> 3;
}

/* Returns the number of bytes received.  The kernel's counter includes the FIN. */
static u64 tcp_received(const struct sock *sk)
{
	const u64 received = tcp_sk(sk)->bytes_received;

	return received - (received && sock_flag(sk, SOCK_DONE));
}

/* ---- start times of connections ---- */

/*
 * A set-associative table, allocated while the tracepoint is hooked.  A connection is in
 * the set that its session hashes to.  If the set is full, it replaces the oldest
 * connection there, whose age is then unknown.  A fixed table needs no allocation where
 * a tracepoint fires, which would not be possible on PREEMPT_RT, and lookups stay short.
 */
#define TCP_SET_PLACES 8

struct tcp_connection {
	u64 session;
	u64 began;
	bool opening;		/* since connect() */
};

struct tcp_set {
	raw_spinlock_t lock;
	struct tcp_connection places[TCP_SET_PLACES];
};

static struct tcp_set *tcp_sets;
static unsigned int tcp_set_bits;

/* Allocates the table.  Returns whether that succeeded. */
static bool tcp_sets_new(void)
{
	unsigned long count, i;

	tcp_set_bits = order_base_2(DIV_ROUND_UP(clamp(connections_max, 1U, 1U << 24),
						 TCP_SET_PLACES));
	count = 1UL << tcp_set_bits;
	tcp_sets = kvcalloc(count, sizeof(*tcp_sets), GFP_KERNEL);
	for (i = 0; tcp_sets && i < count; i++)
		raw_spin_lock_init(&tcp_sets[i].lock);
	return tcp_sets;
}

static void tcp_sets_free(void)
{
	kvfree(tcp_sets);
	tcp_sets = NULL;
}

static struct tcp_set *tcp_set_of(u64 session)
{
	return &tcp_sets[tcp_set_bits ? hash_64(session, tcp_set_bits) : 0];
}

/* Finds a connection in a set, or returns NULL.  The caller holds the set's lock. */
static struct tcp_connection *tcp_place_of(struct tcp_set *set, u64 session)
{
	unsigned int i;

	for (i = 0; i < TCP_SET_PLACES; i++)
		if (set->places[i].session == session)
			return &set->places[i];
	return NULL;
}

/*
 * Stores the current time as the start of a connection, or of its next phase.  Returns
 * the time since its previous start in ns, 0 if there was none.
 */
static u64 tcp_connection_begin(u64 session, bool opening)
{
	struct tcp_set *set = tcp_set_of(session);
	u64 now = ktime_get_mono_fast_ns(), age = 0;
	struct tcp_connection *place;
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&set->lock, flags);
	place = tcp_place_of(set, session);
	if (place) {
		age = now - place->began;
	} else {
		place = &set->places[0];
		for (i = 1; i < TCP_SET_PLACES; i++)
			if (set->places[i].began < place->began)
				place = &set->places[i];
	}
	place->session = session;
	place->began = now;
	place->opening = opening;
	raw_spin_unlock_irqrestore(&set->lock, flags);
	return age;
}

/* Tests whether connect() started the connection and it is not yet established. */
static bool tcp_connection_is_opening(u64 session)
{
	struct tcp_set *set = tcp_set_of(session);
	struct tcp_connection *place;
	unsigned long flags;
	bool opening;

	raw_spin_lock_irqsave(&set->lock, flags);
	place = tcp_place_of(set, session);
	opening = place && place->opening;
	raw_spin_unlock_irqrestore(&set->lock, flags);
	return opening;
}

/* Removes a connection.  Returns the time since its start in ns, 0 if unknown. */
static u64 tcp_connection_end(u64 session)
{
	struct tcp_set *set = tcp_set_of(session);
	struct tcp_connection *place;
	unsigned long flags;
	u64 age = 0;

	raw_spin_lock_irqsave(&set->lock, flags);
	place = tcp_place_of(set, session);
	if (place) {
		age = ktime_get_mono_fast_ns() - place->began;
		place->session = 0;
		place->began = 0;
	}
	raw_spin_unlock_irqrestore(&set->lock, flags);
	return age;
}

/* ---- life cycle of connections ---- */

static void tcp_on_closed(const struct sock *sk, u64 session, const struct tcp_endpoints *ends,
			  int from)
{
	bool lived = from != TCP_SYN_SENT && from != TCP_SYN_RECV;
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 age;

	/*
	 * A listener's child that was never established.  It may be a duplicate, and then
	 * has the session of the established one, which must keep its start time.
	 */
	if (from == TCP_SYN_RECV && !tcp_connection_is_opening(session))
		return;
	age = tcp_connection_end(session);
	eventlog_tcp_closed(session, &ends->local, ends->local_port, &ends->remote,
			    ends->remote_port, tcp_netns(sk), from, READ_ONCE(sk->sk_err),
			    lived ? age : 0, tp->bytes_sent, tcp_received(sk),
			    tp->total_retrans, tcp_rtt(sk));
}

/* A connection with a start time was opened by connect(); others come from a listener. */
static void tcp_on_established(const struct sock *sk, u64 session,
			       const struct tcp_endpoints *ends, int from)
{
	u64 took = tcp_connection_begin(session, false);

	if (took || from == TCP_SYN_SENT)
		eventlog_tcp_opened(session, &ends->local, ends->local_port, &ends->remote,
				    ends->remote_port, tcp_netns(sk), took, tcp_rtt(sk));
	else
		eventlog_tcp_accepted(session, &ends->local, ends->local_port, &ends->remote,
				      ends->remote_port, tcp_netns(sk), tcp_rtt(sk));
}

static void tcp_on_set_state(void *unused, const struct sock *sk, const int from, const int to)
{
	struct tcp_endpoints ends;
	u64 session;

	if (sk->sk_protocol != IPPROTO_TCP)
		return;
	/* A child of a listener that is still being set up has neither ports nor cookie. */
	if (from == TCP_LISTEN && to == TCP_SYN_RECV)
		return;
	session = tcp_session(sk);
	ends = tcp_endpoints(sk);
	eventlog_tcp_state_change(session, &ends.local, ends.local_port, &ends.remote,
				  ends.remote_port, from, to);
	if (from == TCP_LISTEN || to == TCP_LISTEN)
		return;
	if (to == TCP_SYN_SENT) {
		tcp_connection_end(session);
		tcp_connection_begin(session, true);
		eventlog_tcp_opening(session, &ends.local, ends.local_port, &ends.remote,
				     ends.remote_port, tcp_netns(sk));
	} else if (to == TCP_ESTABLISHED) {
		tcp_on_established(sk, session, &ends, from);
	} else if (to == TCP_CLOSE && from != TCP_CLOSE) {
		tcp_on_closed(sk, session, &ends, from);
	}
}

/* ---- loss ---- */

static void __maybe_unused tcp_on_retransmit(void *unused, const struct sock *sk,
					     const struct sk_buff *skb)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct tcp_endpoints ends = tcp_endpoints(sk);

	eventlog_tcp_retransmit(tcp_session(sk), &ends.local, ends.local_port, &ends.remote,
				ends.remote_port, sk->sk_state, TCP_SKB_CB(skb)->seq,
				tp->snd_nxt - tp->snd_una, tp->total_retrans, tcp_rtt(sk));
}

/* Newer kernels also report retransmissions that failed. */
static void __maybe_unused tcp_on_retransmit_tried(void *unused, const struct sock *sk,
						   const struct sk_buff *skb, int error)
{
	if (!error)
		tcp_on_retransmit(unused, sk, skb);
}

/* A SYN|ACK: the request has the cookie and the addresses of the future socket. */
static void tcp_on_retransmit_synack(void *unused, const struct sock *sk,
				     const struct request_sock *request)
{
	const struct inet_request_sock *ireq = inet_rsk(request);
	struct tcp_endpoints ends = {
		.local_port = ireq->ir_num,
		.remote_port = ntohs(ireq->ir_rmt_port),
	};

#if IS_ENABLED(CONFIG_IPV6)
	if (ireq->ireq_family == AF_INET6) {
		ends.local = ireq->ir_v6_loc_addr;
		ends.remote = ireq->ir_v6_rmt_addr;
	}
#endif
	if (ireq->ireq_family == AF_INET) {
		ipv6_addr_set_v4mapped(ireq->ir_loc_addr, &ends.local);
		ipv6_addr_set_v4mapped(ireq->ir_rmt_addr, &ends.remote);
	}
	eventlog_tcp_retransmit(tcp_session(req_to_sk((struct request_sock *)request)),
				&ends.local, ends.local_port, &ends.remote, ends.remote_port,
				TCP_NEW_SYN_RECV, tcp_rsk(request)->snt_isn, 1,
				request->num_retrans + 1, 0);
}

/* Returns the endpoints of a received segment, whose header offsets are set. */
static struct tcp_endpoints tcp_segment_endpoints(const struct sk_buff *skb)
{
	const struct tcphdr *header = tcp_hdr(skb);
	struct tcp_endpoints ends = {
		.local_port = ntohs(header->dest),
		.remote_port = ntohs(header->source),
	};

	if (skb->protocol == htons(ETH_P_IPV6)) {
		ends.local = ipv6_hdr(skb)->daddr;
		ends.remote = ipv6_hdr(skb)->saddr;
	} else {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, &ends.local);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, &ends.remote);
	}
	return ends;
}

/*
 * Depending on kernel version and case, the socket or the segment may be missing.  If
 * the socket is a listener, it only answers; the segment was not for that connection.
 */
static void tcp_on_send_reset(void *unused, const struct sock *sk,
			      const struct sk_buff *skb EVENTLOG_TCP_RESET_REASON)
{
	struct tcp_endpoints ends = {};
	u64 session = 0;
	u8 state = TCP_CLOSE;

	if (sk && sk_fullsock(sk) && sk->sk_state != TCP_LISTEN) {
		ends = tcp_endpoints(sk);
		session = tcp_session(sk);
		state = sk->sk_state;
	} else if (skb) {
		ends = tcp_segment_endpoints(skb);
	}
	eventlog_tcp_reset_sent(session, &ends.local, ends.local_port, &ends.remote,
				ends.remote_port, state);
}

#if EVENTLOG_TCP_RESET_KPROBE
static bool tcp_segment_is_for_host(const struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (skb->protocol == htons(ETH_P_IPV6))
		return ipv6_unicast_destination(skb);
#endif
	return skb_rtable(skb)->rt_type == RTN_LOCAL;
}

/* At the start of the kernel's function: emits the event if the tracepoint will not. */
static int tcp_on_reset_function(struct kprobe *probe, struct pt_regs *regs)
{
	const struct sock *sk = (const struct sock *)regs_get_kernel_argument(regs, 0);
	const struct sk_buff *skb = (const struct sk_buff *)regs_get_kernel_argument(regs, 1);

	if (sk && sk_fullsock(sk))
		return 0;
	/* The function sends nothing in these cases. */
	if (tcp_hdr(skb)->rst || (!sk && !tcp_segment_is_for_host(skb)))
		return 0;
	tcp_on_send_reset(NULL, NULL, skb);
	return 0;
}

static struct kprobe tcp_reset_probes[] = {
	{ .symbol_name = "tcp_v4_send_reset", .pre_handler = tcp_on_reset_function },
#if IS_ENABLED(CONFIG_IPV6)
	{ .symbol_name = "tcp_v6_send_reset", .pre_handler = tcp_on_reset_function },
#endif
};

static bool tcp_reset_probed[ARRAY_SIZE(tcp_reset_probes)];

static void tcp_reset_probes_set(bool wanted)
{
	struct kprobe *probe;
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(tcp_reset_probes); i++) {
		probe = &tcp_reset_probes[i];
		if (tcp_reset_probed[i] == wanted)
			continue;
		if (!wanted) {
			unregister_kprobe(probe);
			/* A kprobe with an address cannot be registered by name again. */
			probe->addr = NULL;
			probe->flags = 0;
			tcp_reset_probed[i] = false;
			continue;
		}
		ret = register_kprobe(probe);
		tcp_reset_probed[i] = !ret;
		if (ret)
			pr_warn("failed to probe %s (%d): no reset_sent without a socket\n",
				probe->symbol_name, ret);
	}
}
#else
static void tcp_reset_probes_set(bool wanted)
{
}
#endif

static void tcp_on_receive_reset(void *unused, struct sock *sk)
{
	struct tcp_endpoints ends = tcp_endpoints(sk);

	eventlog_tcp_reset_received(tcp_session(sk), &ends.local, ends.local_port, &ends.remote,
				    ends.remote_port, sk->sk_state);
}

/* ---- samples ---- */

/*
 * Time of the last sample in jiffies, indexed by a hash of the session.  Connections with
 * the same hash share one rate limit.
 */
#define TCP_SAMPLE_BITS 12
static unsigned long tcp_sampled[1 << TCP_SAMPLE_BITS];

static void __maybe_unused tcp_on_probe(void *unused, struct sock *sk, struct sk_buff *skb)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 session = tcp_session(sk);
	unsigned long *last = &tcp_sampled[hash_64(session, TCP_SAMPLE_BITS)];
	unsigned long before = READ_ONCE(*last), now = jiffies | 1;

	/* 0: not sampled yet. */
	if (before && now - before < msecs_to_jiffies(READ_ONCE(sample_ms)))
		return;
	/* If another CPU was faster, it has just taken a sample. */
	if (cmpxchg(last, before, now) != before)
		return;
	eventlog_tcp_sample(session, tcp_rtt(sk), tp->mdev_us >> 2, tp->snd_cwnd,
			    tcp_current_ssthresh(sk), tcp_packets_in_flight(tp), tp->snd_wnd,
			    tp->bytes_sent, tcp_received(sk));
}

static void __maybe_unused tcp_on_probe_const(void *unused, struct sock *sk,
					      const struct sk_buff *skb)
{
	tcp_on_probe(unused, sk, NULL);
}

/* ---- state dump ---- */

static void tcp_rundown_table(struct inet_hashinfo *table)
{
	struct hlist_nulls_node *node;
	struct sock *sk;
	unsigned int i;

	for (i = 0; i <= table->ehash_mask; i++) {
		struct inet_ehash_bucket *bucket = &table->ehash[i];
		spinlock_t *lock = inet_ehash_lockp(table, i);

		cond_resched();
		if (hlist_nulls_empty(&bucket->chain))
			continue;
		spin_lock_bh(lock);
		sk_nulls_for_each(sk, node, &bucket->chain) {
			const struct tcp_sock *tp;
			struct tcp_endpoints ends;

			if (!sk_fullsock(sk) || sk->sk_protocol != IPPROTO_TCP)
				continue;
			tp = tcp_sk(sk);
			ends = tcp_endpoints(sk);
			eventlog_tcp_existing(tcp_session(sk), &ends.local, ends.local_port,
					      &ends.remote, ends.remote_port, tcp_netns(sk),
					      READ_ONCE(sk->sk_state), tp->bytes_sent,
					      tcp_received(sk), tp->total_retrans, tcp_rtt(sk));
		}
		spin_unlock_bh(lock);
	}
}

static void tcp_rundown(struct eventlog_provider *provider)
{
	struct inet_hashinfo *common = eventlog_tcp_table(&init_net), *table;
	struct net *net;

	tcp_rundown_table(common);
	/* A namespace may have its own table, which stays valid while it is in the list. */
	down_read(&net_rwsem);
	for_each_net(net) {
		table = eventlog_tcp_table(net);
		if (table != common)
			tcp_rundown_table(table);
	}
	up_read(&net_rwsem);
}

/* ---- hooking ---- */

enum {
	HOOK_STATE,
	HOOK_RETRANSMIT,
	HOOK_RETRANSMIT_SYNACK,
	HOOK_SEND_RESET,
	HOOK_RECEIVE_RESET,
	HOOK_PROBE,
};

static struct eventlog_hook tcp_hooks[] = {
	[HOOK_STATE] = EVENTLOG_HOOK(inet_sock_set_state, tcp_on_set_state),
	[HOOK_RETRANSMIT] = EVENTLOG_HOOK_EITHER(tcp_retransmit_skb, tcp_on_retransmit,
						 tcp_on_retransmit_tried),
	[HOOK_RETRANSMIT_SYNACK] = EVENTLOG_HOOK(tcp_retransmit_synack, tcp_on_retransmit_synack),
	[HOOK_SEND_RESET] = EVENTLOG_HOOK(tcp_send_reset, tcp_on_send_reset),
	[HOOK_RECEIVE_RESET] = EVENTLOG_HOOK(tcp_receive_reset, tcp_on_receive_reset),
	[HOOK_PROBE] = EVENTLOG_HOOK_EITHER(tcp_probe, tcp_on_probe, tcp_on_probe_const),
	{},
};

/* The table of start times must exist as long as the hook that uses it. */
static void tcp_hook_state(bool wanted)
{
	struct eventlog_hook *hook = &tcp_hooks[HOOK_STATE];

	if (wanted && !tcp_sets && !tcp_sets_new()) {
		pr_warn("cannot allocate the table of connections; no events with keyword conn\n");
		return;
	}
	eventlog_hook_set(hook, wanted);
	if (hook->hooked || !tcp_sets)
		return;
	tracepoint_synchronize_unregister();
	tcp_sets_free();
}

static void tcp_enable(struct eventlog_provider *provider, u64 keywords, u32 level)
{
	tcp_hook_state(keywords & EVENTLOG_TCP_KEYWORD_CONN);
	eventlog_hook_set(&tcp_hooks[HOOK_RETRANSMIT], eventlog_tcp_retransmit_enabled());
	eventlog_hook_set(&tcp_hooks[HOOK_RETRANSMIT_SYNACK], eventlog_tcp_retransmit_enabled());
	eventlog_hook_set(&tcp_hooks[HOOK_SEND_RESET], eventlog_tcp_reset_sent_enabled());
	tcp_reset_probes_set(eventlog_tcp_reset_sent_enabled());
	eventlog_hook_set(&tcp_hooks[HOOK_RECEIVE_RESET], eventlog_tcp_reset_received_enabled());
	eventlog_hook_set(&tcp_hooks[HOOK_PROBE], eventlog_tcp_sample_enabled());
}

static int __init eventlog_tcp_init(void)
{
	eventlog_hooks_find(tcp_hooks);
	eventlog_tcp.rundown_keywords = EVENTLOG_TCP_KEYWORD_RUNDOWN;
	eventlog_tcp.enable = tcp_enable;
	eventlog_tcp.rundown = tcp_rundown;
	return eventlog_provider_register(&eventlog_tcp);
}

static void __exit eventlog_tcp_exit(void)
{
	/* This calls tcp_enable(), which removes all hooks. */
	eventlog_provider_unregister(&eventlog_tcp);
	tracepoint_synchronize_unregister();
}

module_init(eventlog_tcp_init);
module_exit(eventlog_tcp_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The eventlog developers");
MODULE_DESCRIPTION("eventlog provider: life cycle of TCP connections");
MODULE_VERSION(EVENTLOG_RELEASE);
