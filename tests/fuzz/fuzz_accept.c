/* SPDX-License-Identifier: MIT */
/* What a client or a user may write: Accept, Accept-Encoding, Host, and addresses to listen on. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/http/accept.h"
#include "user/http/host.h"
#include "user/http/listen.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const char *const names[] = { "node1.example" };
	char *text = malloc(n + 1); /* of exactly this size: a byte too far is seen */
	struct listen_address a;
	struct err err = { { 0 } };

	if (!text)
		return 0;
	memcpy(text, bytes, n);
	text[n] = '\0';
	if (accept_format(text) >= NR_ACCEPT_FORMATS)
		abort();
	if (accept_gzip(text, false) && !strpbrk(text, "*Gg"))
		abort();
	if (host_is_ours(text, names, 1) && strlen(text) > 300)
		abort();
	if (!listen_parse(text, &a, &err) && (a.port > 65535 || strlen(a.host) >= sizeof(a.host)))
		abort();
	free(text);
	return 0;
}
