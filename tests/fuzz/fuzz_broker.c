/* SPDX-License-Identifier: MIT */
/*
 * Whatever the other side sends, what passes for a request or a reply is one: numbers in their
 * bounds, texts that end.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/broker/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_request(const uint8_t *bytes, size_t n)
{
	struct broker_request r;

	if (!broker_request_check(bytes, n, &r))
		return;
	if (r.op == BROKER_HELLO || r.op >= NR_BROKER_OPS || r.pid < 0 || !r.seq)
		abort();
}

static void check_reply(const struct broker_request *asked, const uint8_t *bytes, size_t n)
{
	static struct broker_reply r;

	if (!broker_reply_check(bytes, n, asked, &r))
		return;
	if (r.seq != asked->seq || r.op != asked->op || r.result > 0 || r.n > BROKER_BATCH)
		abort();
	if (r.result)
		return;
	if (r.op == BROKER_IDENTIFY && (strlen(r.identity.exe) >= sizeof(r.identity.exe) ||
					strlen(r.identity.comm) >= sizeof(r.identity.comm)))
		abort();
	if (r.op == BROKER_GO_READ && (r.go.state >= NR_BROKER_GO_STATES || strchr(r.go.why, 27)))
		abort();
	for (u32 i = 0; i < r.n; i++) {
		if ((r.op == BROKER_FIND && r.pids[i] <= 0) ||
		    (r.op == BROKER_CALLS && !r.calls[i].tid))
			abort();
	}
}

/* The first byte is what was asked; the rest are the beginning and the end of a packet. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct broker_request asked = { .seq = 1 };
	static struct broker_reply reply;
	size_t head, tail;

	check_request(bytes, n);
	if (!n)
		return 0;
	asked.op = bytes[0] % NR_BROKER_OPS;
	check_reply(&asked, bytes + 1, n - 1);
	memset(&reply, bytes[0] >> 4, sizeof(reply)); /* texts that do not end */
	reply.seq = 1;
	reply.op = asked.op;
	head = n - 1 < 512 ? n - 1 : 512;
	tail = n - 1 - head < 512 ? n - 1 - head : 512;
	memcpy((char *)&reply + offsetof(struct broker_reply, result), bytes + 1, head);
	memcpy((char *)&reply + sizeof(reply) - tail, bytes + 1 + head, tail);
	check_reply(&asked, (const uint8_t *)&reply, sizeof(reply));
	return 0;
}
