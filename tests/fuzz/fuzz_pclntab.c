/* SPDX-License-Identifier: MIT */
/* A function table may be anything; a function that is found contains the address that was asked
 * for. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/runtime/go_pclntab.h"

#define MAX_QUESTIONS 64
#define MAX_FRAMES    8

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void ask(const struct go_pclntab *tab)
{
	struct go_frame frames[MAX_FRAMES];
	struct go_function f;
	u32 found;

	for (u32 i = 0; i < tab->nr_functions && i < MAX_QUESTIONS; i++) {
		u64 pc;

		if (!go_pclntab_function(tab, i, &f))
			continue;
		pc = f.vaddr + f.n_bytes / 2;
		if (!go_pclntab_find_pc(tab, pc, &f) && (pc < f.vaddr || pc - f.vaddr >= f.n_bytes))
			abort();
		if (go_pclntab_frames(tab, pc, frames, MAX_FRAMES, &found))
			continue;
		if (found > MAX_FRAMES)
			abort();
		for (u32 k = 0; k < found; k++) {
			if (strlen(frames[k].function) + strlen(frames[k].file) > 2 * tab->table.n)
				abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	u8 *copy = malloc(n ? n : 1); /* of exactly this size: a byte too far is seen */
	struct go_pclntab tab;

	if (!copy)
		return 0;
	memcpy(copy, bytes, n);
	if (!go_pclntab_parse((struct span){ copy, n }, &tab, NULL)) {
		tab.gofunc = tab.table;
		ask(&tab);
	}
	free(copy);
	return 0;
}
