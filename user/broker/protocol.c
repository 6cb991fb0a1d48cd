/* SPDX-License-Identifier: MIT */
/* What is taken for a request or a reply. Knows no socket. */
#include "user/broker/protocol.h"

#include <string.h>

/* PID_MAX_LIMIT of include/linux/threads.h. */
#define MAX_PID (4 << 20)

/* Longer than any deadline: it is cut on the other side. */
#define MAX_PATIENCE_MS 60000

bool broker_request_check(const void *bytes, size_t n, struct broker_request *ret_request)
{
	struct broker_request r;

	if (n != sizeof(r))
		return false;
	memcpy(&r, bytes, n);
	if (!r.seq || r.zero || r.op <= BROKER_HELLO || r.op >= NR_BROKER_OPS ||
	    r.patience_ms > MAX_PATIENCE_MS)
		return false;
	if (r.op == BROKER_FIND || r.op == BROKER_FILES ? r.pid != 0
							: r.pid <= 0 || r.pid > MAX_PID)
		return false;
	*ret_request = r;
	return true;
}

static bool text_ends(const char *text, size_t n)
{
	return memchr(text, '\0', n) != NULL;
}

static bool check_calls(const struct broker_reply *r)
{
	for (u32 i = 0; i < r->n; i++) {
		if (!r->calls[i].tid || r->calls[i].tid > MAX_PID || r->calls[i].call.nr < 0)
			return false;
	}
	return true;
}

static bool check_pids(const struct broker_reply *r)
{
	for (u32 i = 0; i < r->n; i++) {
		if (r->pids[i] <= 0 || r->pids[i] > MAX_PID)
			return false;
	}
	return true;
}

/* Whether a text ends; then it shows no control bytes. */
static bool clean_text(char *text, size_t n)
{
	if (!text_ends(text, n))
		return false;
	for (char *c = text; *c; c++) {
		if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
			*c = '?';
	}
	return true;
}

static bool check_go(struct broker_go *go)
{
	struct program_facts *p = &go->program;

	return go->state < NR_BROKER_GO_STATES && go->counted <= 1 && p->known <= 1 &&
	       p->stripped <= 1 && clean_text(go->why, sizeof(go->why)) &&
	       clean_text(p->runtime, sizeof(p->runtime)) &&
	       clean_text(p->runtime_version, sizeof(p->runtime_version)) &&
	       clean_text(p->build_id, sizeof(p->build_id));
}

/* Members of Go's structures are within their first pages. */
#define MAX_OWNER_OFFSET 65536

static bool check_owner(struct broker_owner *owner)
{
	const struct owner_how *how = &owner->how;

	return how->mode <= OWNER_GO && how->g_m < MAX_OWNER_OFFSET &&
	       how->m_g0 < MAX_OWNER_OFFSET && how->m_curg < MAX_OWNER_OFFSET &&
	       how->g_goid < MAX_OWNER_OFFSET && how->g_status < MAX_OWNER_OFFSET &&
	       clean_text(owner->why, sizeof(owner->why));
}

static bool check_body(struct broker_reply *r)
{
	switch (r->op) {
	case BROKER_HELLO:
		return r->hello.calls_limited <= 1;
	case BROKER_IDENTIFY:
		return text_ends(r->identity.comm, sizeof(r->identity.comm)) &&
		       text_ends(r->identity.exe, sizeof(r->identity.exe));
	case BROKER_CALLS:
		return check_calls(r);
	case BROKER_SOCKETS:
		return socket_ends_check(&r->sockets);
	case BROKER_FIND:
		return check_pids(r);
	case BROKER_FILES:
		return r->n <= MAX_WANTED;
	case BROKER_GO_READ:
		return check_go(&r->go);
	case BROKER_OWNER:
		return check_owner(&r->owner);
	default:
		return true;
	}
}

bool broker_reply_check(const void *bytes, size_t n, const struct broker_request *asked,
			struct broker_reply *ret_reply)
{
	struct broker_reply r;

	if (n != sizeof(r))
		return false;
	memcpy(&r, bytes, n);
	if (r.seq != asked->seq || r.op != asked->op || r.result > 0 || r.result < -4095 ||
	    r.more > 1 || r.n > BROKER_BATCH)
		return false;
	if (r.more && r.op != BROKER_CALLS && r.op != BROKER_FIND)
		return false;
	if (r.result ? r.more != 0 : !check_body(&r))
		return false;
	*ret_reply = r;
	return true;
}
