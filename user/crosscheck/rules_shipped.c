/* SPDX-License-Identifier: MIT */
/* The files of rules that are inside of this program. */
#include <string.h>

#include "user/crosscheck/rules.h"

/* The Makefile makes this object again when one of them changes. */
#define SHIPPED(name)                                                                 \
	__asm__(".pushsection .rodata\n"                                              \
		".globl rules_" #name "_begin, rules_" #name "_end\n"                 \
		"rules_" #name "_begin: .incbin \"user/crosscheck/" #name ".conf\"\n" \
		"rules_" #name "_end:\n"                                              \
		".popsection\n");                                                     \
	extern const u8 rules_##name##_begin[], rules_##name##_end[]
SHIPPED(go);
SHIPPED(sky);

static const struct {
	const char *name;
	const u8 *begin, *end;
} shipped[] = {
	{ "go", rules_go_begin, rules_go_end },
	{ "sky", rules_sky_begin, rules_sky_end },
};

bool rules_shipped(const char *name, struct span *ret_text)
{
	for (size_t i = 0; i < sizeof(shipped) / sizeof(shipped[0]); i++) {
		if (strcmp(shipped[i].name, name))
			continue;
		*ret_text = (struct span){ shipped[i].begin,
					   (size_t)(shipped[i].end - shipped[i].begin) };
		return true;
	}
	return false;
}
