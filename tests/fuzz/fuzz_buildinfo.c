/* SPDX-License-Identifier: MIT */
/* Build information of any file, and its lines. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/runtime/go_buildinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void ask(const struct go_buildinfo *info)
{
	struct go_version version;
	struct span key, value;
	size_t cursor = 0;
	char text[64];

	span_copy_text(&info->version, text, sizeof(text));
	(void)go_version_parse(text, &version);
	(void)go_buildinfo_line(info, "path", 0, &value);
	(void)go_buildinfo_line(info, "mod", 1, &value);
	while (go_buildinfo_next_setting(info, &cursor, &key, &value)) {
		if (cursor > info->modinfo.n || key.n + value.n > info->modinfo.n)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	u8 *copy = malloc(n ? n : 1);
	struct go_buildinfo info;
	struct elf_file f;

	if (!copy)
		return 0;
	memcpy(copy, bytes, n);
	if (!elf_file_parse(copy, n, &f, NULL) && !go_buildinfo_read(&f, &info, NULL))
		ask(&info);
	elf_file_done(&f);
	/* The lines alone, which the fuzzer reaches sooner. */
	info = (struct go_buildinfo){ .version = { bytes, n }, .modinfo = { bytes, n } };
	ask(&info);
	return 0;
}
