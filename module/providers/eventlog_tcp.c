// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_tcp.ko: the life of every TCP connection, as events.
 *
 * The session is the socket's cookie.  Everything comes from the kernel's own
 * tracepoints, which are hooked while an event that needs them is wanted, and
 * from the fields of the socket, read without its lock where the tracepoint
 * fires without it: a number may then be a moment old.
 *
 * To tell how long things took, the time of each connection's beginning is kept
 * in a table by cookie while the connections' lives are wanted; what began
 * before is not known.
 */
#define pr_fmt(format) "eventlog_tcp: " format

#include <linux/hash.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/rhashtable.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <net/inet_hashtables.h>
#include <net/inet_sock.h>
#include <net/net_namespace.h>
#include <net/tcp.h>

#include "../compat.h"
#include "hook.h"

#define EVENTLOG_TCP_DEFINE
#include "tcp_eventlog.h"

static uint sample_ms = 100;
module_param(sample_ms, uint, 0644);
MODULE_PARM_DESC(sample_ms, "least milliseconds between two samples of a connection (100)");

static uint connections_max = 65536;
module_param(connections_max, uint, 0644);
MODULE_PARM_DESC(connections_max, "connections whose beginning is remembered (65536)");

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
	/* The exported way of having one made. */
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

/* ---- when connections began ---- */

/**
 * struct tcp_connection - a connection whose beginning was seen
 * @node: in the table
 * @session: its key
 * @began: opening or accepted, later opened; CLOCK_MONOTONIC, ns
 * @rcu: frees it
 */
struct tcp_connection {
	struct rhash_head node;
	u64 session;
	u64 began;
	struct rcu_head rcu;
};

static const struct rhashtable_params tcp_connection_params = {
	.head_offset = offsetof(struct tcp_connection, node),
	.key_offset = offsetof(struct tcp_connection, session),
	.key_len = sizeof(u64),
	.automatic_shrinking = true,
};

static struct rhashtable tcp_connections;

/* Notes that the connection begins now; not being able to is no tragedy. */
static void tcp_connection_begin(u64 session)
{
	struct tcp_connection *connection;

	if (atomic_read(&tcp_connections.nelems) >= READ_ONCE(connections_max))
		return;
	connection = kzalloc(sizeof(*connection), GFP_ATOMIC | __GFP_NOWARN);
	if (!connection)
		return;
	connection->session = session;
	connection->began = ktime_get_mono_fast_ns();
	if (rhashtable_insert_fast(&tcp_connections, &connection->node, tcp_connection_params))
		kfree(connection);
}

/* Nanoseconds since the connection began, 0: not known; from now on if @anew. */
static u64 tcp_connection_age(u64 session, bool anew)
{
	struct tcp_connection *connection;
	u64 now = ktime_get_mono_fast_ns(), age = 0;

	rcu_read_lock();
	connection = rhashtable_lookup_fast(&tcp_connections, &session, tcp_connection_params);
	if (connection) {
		age = now - connection->began;
		if (anew)
			connection->began = now;
	}
	rcu_read_unlock();
	return age;
}

static void tcp_connection_end(u64 session)
{
	struct tcp_connection *connection;

	rcu_read_lock();
	connection = rhashtable_lookup_fast(&tcp_connections, &session, tcp_connection_params);
	if (connection && !rhashtable_remove_fast(&tcp_connections, &connection->node,
						  tcp_connection_params))
		kfree_rcu(connection, rcu);
	rcu_read_unlock();
}

/* Forgets all of them. */
static void tcp_connections_clear(void)
{
	struct tcp_connection *connection;
	struct rhashtable_iter walk;

	rhashtable_walk_enter(&tcp_connections, &walk);
	rhashtable_walk_start(&walk);
	while ((connection = rhashtable_walk_next(&walk))) {
		/* The table has just been resized; the walk goes on in the new one. */
		if (IS_ERR(connection))
			continue;
		if (!rhashtable_remove_fast(&tcp_connections, &connection->node,
					    tcp_connection_params))
			kfree_rcu(connection, rcu);
	}
	rhashtable_walk_stop(&walk);
	rhashtable_walk_exit(&walk);
}

static void tcp_connection_free(void *connection, void *unused)
{
	kfree(connection);
}

/* ---- connections' lives ---- */

static void tcp_on_closed(const struct sock *sk, u64 session, const struct tcp_endpoints *ends,
			  int old)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	bool lived = old != TCP_SYN_SENT && old != TCP_SYN_RECV;

	eventlog_tcp_closed(session, &ends->local, ends->local_port, &ends->remote,
			    ends->remote_port, tcp_netns(sk), old, READ_ONCE(sk->sk_err),
			    lived ? tcp_connection_age(session, false) : 0, tp->bytes_sent,
			    tp->bytes_received, tp->total_retrans, tcp_rtt(sk));
	tcp_connection_end(session);
}

static void tcp_on_set_state(void *unused, const struct sock *sk, const int old, const int new)
{
	struct tcp_endpoints ends;
	u64 session;

	if (sk->sk_protocol != IPPROTO_TCP)
		return;
	/* A listener's child that is still being made has neither ports nor cookie. */
	if (old == TCP_LISTEN && new == TCP_SYN_RECV)
		return;
	session = tcp_session(sk);
	ends = tcp_endpoints(sk);
	eventlog_tcp_state_change(session, &ends.local, ends.local_port, &ends.remote,
				  ends.remote_port, old, new);
	if (old == TCP_LISTEN || new == TCP_LISTEN)
		return;
	if (new == TCP_SYN_SENT) {
		tcp_connection_begin(session);
		eventlog_tcp_opening(session, &ends.local, ends.local_port, &ends.remote,
				     ends.remote_port, tcp_netns(sk));
	} else if (new == TCP_ESTABLISHED && old == TCP_SYN_SENT) {
		eventlog_tcp_opened(session, &ends.local, ends.local_port, &ends.remote,
				    ends.remote_port, tcp_netns(sk),
				    tcp_connection_age(session, true), tcp_rtt(sk));
	} else if (new == TCP_ESTABLISHED) {
		tcp_connection_begin(session);
		eventlog_tcp_accepted(session, &ends.local, ends.local_port, &ends.remote,
				      ends.remote_port, tcp_netns(sk), tcp_rtt(sk));
	} else if (new == TCP_CLOSE && old != TCP_CLOSE) {
		tcp_on_closed(sk, session, &ends, old);
	}
}

/* ---- loss ---- */

static void tcp_on_retransmit(void *unused, const struct sock *sk, const struct sk_buff *skb)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct tcp_endpoints ends = tcp_endpoints(sk);

	eventlog_tcp_retransmit(tcp_session(sk), &ends.local, ends.local_port, &ends.remote,
				ends.remote_port, sk->sk_state, TCP_SKB_CB(skb)->seq,
				tp->snd_nxt - tp->snd_una, tp->total_retrans, tcp_rtt(sk));
}

/* A SYN|ACK: the request has the cookie, and the addresses, of the socket to come. */
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

/* The ends as a segment that has come in names them, headers in place. */
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

/* Segment or socket may be missing: kernels differ in when they have which. */
static void tcp_on_send_reset(void *unused, const struct sock *sk, const struct sk_buff *skb)
{
	struct tcp_endpoints ends = {};
	u64 session = 0;
	u8 state = TCP_CLOSE;

	if (sk && sk_fullsock(sk)) {
		ends = tcp_endpoints(sk);
		session = tcp_session(sk);
		state = sk->sk_state;
	} else if (skb) {
		ends = tcp_segment_endpoints(skb);
	}
	eventlog_tcp_reset_sent(session, &ends.local, ends.local_port, &ends.remote,
				ends.remote_port, state);
}

static void tcp_on_receive_reset(void *unused, struct sock *sk)
{
	struct tcp_endpoints ends = tcp_endpoints(sk);

	eventlog_tcp_reset_received(tcp_session(sk), &ends.local, ends.local_port, &ends.remote,
				    ends.remote_port, sk->sk_state);
}

/* ---- samples ---- */

/*
 * When connections were sampled last, in jiffies, by a hash of their sessions:
 * two that share a place share its rate.
 */
#define TCP_SAMPLE_BITS 12
static unsigned long tcp_sampled[1 << TCP_SAMPLE_BITS];

static void tcp_on_probe(void *unused, struct sock *sk, struct sk_buff *skb)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 session = tcp_session(sk);
	unsigned long *last = &tcp_sampled[hash_64(session, TCP_SAMPLE_BITS)];
	unsigned long before = READ_ONCE(*last), now = jiffies | 1;

	/* 0: never. */
	if (before && time_before(now, before + msecs_to_jiffies(READ_ONCE(sample_ms))))
		return;
	/* Who comes second has just been sampled. */
	if (cmpxchg(last, before, now) != before)
		return;
	eventlog_tcp_sample(session, tcp_rtt(sk), tp->mdev_us >> 2, tp->snd_cwnd,
			    tcp_current_ssthresh(sk), tcp_packets_in_flight(tp), tp->snd_wnd,
			    tp->bytes_acked, tp->bytes_received);
}

/* ---- what exists ---- */

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
					      tp->bytes_received, tp->total_retrans, tcp_rtt(sk));
		}
		spin_unlock_bh(lock);
	}
}

static void tcp_rundown(struct eventlog_provider *provider)
{
	struct inet_hashinfo *common = eventlog_tcp_table(&init_net), *table;
	struct net *net;

	tcp_rundown_table(common);
	/* A namespace may have one of its own, and keeps it while it is listed. */
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
	[HOOK_STATE] = { "inet_sock_set_state", tcp_on_set_state },
	[HOOK_RETRANSMIT] = { "tcp_retransmit_skb", tcp_on_retransmit },
	[HOOK_RETRANSMIT_SYNACK] = { "tcp_retransmit_synack", tcp_on_retransmit_synack },
	[HOOK_SEND_RESET] = { "tcp_send_reset", tcp_on_send_reset },
	[HOOK_RECEIVE_RESET] = { "tcp_receive_reset", tcp_on_receive_reset },
	[HOOK_PROBE] = { "tcp_probe", tcp_on_probe },
	{},
};

static void tcp_enable(struct eventlog_provider *provider, u64 keywords, u32 level)
{
	bool had_state = tcp_hooks[HOOK_STATE].hooked;

	eventlog_hook_set(&tcp_hooks[HOOK_STATE], keywords & EVENTLOG_TCP_KEYWORD_CONN);
	eventlog_hook_set(&tcp_hooks[HOOK_RETRANSMIT], eventlog_tcp_retransmit_enabled());
	eventlog_hook_set(&tcp_hooks[HOOK_RETRANSMIT_SYNACK], eventlog_tcp_retransmit_enabled());
	eventlog_hook_set(&tcp_hooks[HOOK_SEND_RESET], eventlog_tcp_reset_sent_enabled());
	eventlog_hook_set(&tcp_hooks[HOOK_RECEIVE_RESET], eventlog_tcp_reset_received_enabled());
	eventlog_hook_set(&tcp_hooks[HOOK_PROBE], eventlog_tcp_sample_enabled());
	if (had_state && !tcp_hooks[HOOK_STATE].hooked) {
		/* Ends are not seen from now on: what began is forgotten. */
		tracepoint_synchronize_unregister();
		tcp_connections_clear();
	}
}

static int __init eventlog_tcp_init(void)
{
	int ret = rhashtable_init(&tcp_connections, &tcp_connection_params);

	if (ret)
		return ret;
	eventlog_hooks_find(tcp_hooks);
	eventlog_tcp.rundown_keywords = EVENTLOG_TCP_KEYWORD_RUNDOWN;
	eventlog_tcp.enable = tcp_enable;
	eventlog_tcp.rundown = tcp_rundown;
	ret = eventlog_provider_register(&eventlog_tcp);
	if (ret)
		rhashtable_destroy(&tcp_connections);
	return ret;
}

static void __exit eventlog_tcp_exit(void)
{
	/* Has everything unhooked. */
	eventlog_provider_unregister(&eventlog_tcp);
	tracepoint_synchronize_unregister();
	/* What is being freed needs none of our code: kfree_rcu(). */
	rhashtable_free_and_destroy(&tcp_connections, tcp_connection_free, NULL);
}

module_init(eventlog_tcp_init);
module_exit(eventlog_tcp_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The eventlog developers");
MODULE_DESCRIPTION("The life of every TCP connection, as eventlog events");
MODULE_VERSION(EVENTLOG_RELEASE);
