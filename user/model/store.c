/* SPDX-License-Identifier: MIT */
/* Names of stores. */
#include "user/model/store.h"

#include <stdlib.h>
#include <string.h>

static bool parse_port(const char *text, u32 *ret_port)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long port;

	if (!digits || digits > 5 || text[digits])
		return false;
	port = strtoul(text, NULL, 10);
	*ret_port = (u32)port;
	return port > 0 && port <= 65535;
}

bool store_parse(const char *text, struct store *ret_store)
{
	static const struct {
		const char *name;
		u32 port;
	} servers[] = { { "postgres", 5432 }, { "redis", 6379 } };
	size_t n = strcspn(text, ":");

	*ret_store = (struct store){ .kind = STORE_MEMORY };
	if (!strcmp(text, "memory"))
		return true;
	if (!strncmp(text, "sqlite:/", 8)) {
		ret_store->kind = STORE_FILE;
		ret_store->path = text + 7;
		return true;
	}
	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
		if (strlen(servers[i].name) != n || strncmp(text, servers[i].name, n) != 0)
			continue;
		ret_store->kind = STORE_SERVER;
		ret_store->port = servers[i].port;
		return !text[n] || parse_port(text + n + 1, &ret_store->port);
	}
	return false;
}
