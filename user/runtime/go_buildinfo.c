/* SPDX-License-Identifier: MIT */
/* Reading Go's build information. Knows nothing of processes. */
#include "user/runtime/go_buildinfo.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

/*
 * The record, at a multiple of 16 in the section .go.buildinfo:
 *
 * OFFSET SIZE MEANING
 *      0   14 ff " Go buildinf:"
 *     14    1 size of a pointer
 *     15    1 flags: 1 big endian, 2 the strings follow at offset 32 (Go 1.18 and later)
 *     16    8 up to Go 1.17: address of the string header of the version
 *     24    8 up to Go 1.17: address of the string header of the module's lines
 *     32      with flag 2: each string as its length (uvarint) and its bytes
 */
static const u8 magic[14] = "\xff Go buildinf:";
#define ALIGN	    ((size_t)16)
#define FLAG_BIG    1
#define FLAG_INLINE 2

/* Without section headers the record is near the begin of the data; Go's own reader looks as far.
 */
#define MAX_SEARCH_BYTES (64u << 10)

/* The lines stand between two marks of 16 bytes, by which the go command found them before 1.13. */
#define MARK_BYTES ((size_t)16)

static bool find_record(struct span where, struct span *ret_record)
{
	while (where.n >= 2 * ALIGN) {
		if (!memcmp(where.at, magic, sizeof(magic))) {
			*ret_record = where;
			return true;
		}
		(void)span_skip(&where, ALIGN); /* the condition has shown that they are there */
	}
	return false;
}

static bool find(const struct elf_file *file, struct span *ret_record)
{
	const struct elf_section *section = elf_find_section(file, ".go.buildinfo");
	struct span where;

	if (section && find_record(section->bytes, ret_record))
		return true;
	for (size_t i = 0; i < file->nr_segments; i++) {
		const struct elf_segment *s = &file->segments[i];

		if (s->type != PT_LOAD || !(s->flags & PF_W) ||
		    !elf_read_from_vaddr(file, s->vaddr, &where))
			continue;
		if (where.n > MAX_SEARCH_BYTES)
			where.n = MAX_SEARCH_BYTES;
		if (find_record(where, ret_record))
			return true;
	}
	return false;
}

static bool take_string(struct span *at, struct span *ret_text)
{
	u64 n;

	return span_uvarint(at, &n) && span_take(at, n, ret_text);
}

static bool read_string_header(const struct elf_file *file, u64 vaddr, struct span *ret_text)
{
	struct span header;
	u64 text, n;

	return elf_read_vaddr(file, vaddr, 16, &header) && span_u64(&header, &text) &&
	       span_u64(&header, &n) && (!n || elf_read_vaddr(file, text, n, ret_text));
}

static void strip_marks(struct span *modinfo)
{
	if (modinfo->n >= 2 * MARK_BYTES + 1 && modinfo->at[modinfo->n - MARK_BYTES - 1] == '\n')
		*modinfo = (struct span){ modinfo->at + MARK_BYTES, modinfo->n - 2 * MARK_BYTES };
	else
		*modinfo = (struct span){ 0 };
}

int go_buildinfo_read(const struct elf_file *file, struct go_buildinfo *ret_info, struct err *err)
{
	struct go_buildinfo info = { 0 };
	struct span record, at;
	u64 version, modinfo;
	u8 pointer, flags;

	if (!find(file, &record))
		return err_set(err, -ENOENT, "no Go build information");
	at = record;
	if (!span_skip(&at, sizeof(magic)) || !span_u8(&at, &pointer) || !span_u8(&at, &flags))
		return err_set(err, -EBADMSG, "the Go build information is cut off");
	if (flags & FLAG_INLINE) {
		if (!span_skip(&at, 16) || !take_string(&at, &info.version) ||
		    !take_string(&at, &info.modinfo))
			return err_set(err, -EBADMSG, "the Go build information is cut off");
	} else {
		if (pointer != 8 || flags & FLAG_BIG)
			return err_set(err, -EBADMSG,
				       "the Go build information is of another architecture");
		if (!span_u64(&at, &version) || !span_u64(&at, &modinfo) ||
		    !read_string_header(file, version, &info.version) ||
		    !read_string_header(file, modinfo, &info.modinfo))
			return err_set(err, -EBADMSG,
				       "the Go build information points outside the file");
	}
	strip_marks(&info.modinfo);
	*ret_info = info;
	return 0;
}

static bool take_until(struct span *at, u8 end, struct span *ret_part)
{
	const u8 *found;
	size_t n;

	if (!at->n)
		return false;
	found = memchr(at->at, end, at->n);
	n = found ? (size_t)(found - at->at) : at->n;
	*ret_part = (struct span){ at->at, n };
	return span_skip(at, found ? n + 1 : n);
}

bool go_buildinfo_line(const struct go_buildinfo *info, const char *kind, u32 field,
		       struct span *ret_value)
{
	struct span lines = info->modinfo, line, word;

	while (take_until(&lines, '\n', &line)) {
		if (!take_until(&line, '\t', &word) || !span_is(&word, kind))
			continue;
		for (u32 i = 0; take_until(&line, '\t', &word); i++) {
			if (i != field)
				continue;
			*ret_value = word;
			return true;
		}
		return false;
	}
	return false;
}

bool go_buildinfo_next_setting(const struct go_buildinfo *info, size_t *cursor,
			       struct span *ret_key, struct span *ret_value)
{
	struct span lines, line, word, key;

	while (span_from(&info->modinfo, *cursor, &lines) && take_until(&lines, '\n', &line)) {
		*cursor = info->modinfo.n - lines.n;
		if (!take_until(&line, '\t', &word) || !span_is(&word, "build") ||
		    !take_until(&line, '=', &key))
			continue;
		*ret_key = key;
		*ret_value = line;
		return true;
	}
	return false;
}

bool go_buildinfo_setting(const struct go_buildinfo *info, const char *key, struct span *ret_value)
{
	struct span found, value;
	size_t cursor = 0;

	while (go_buildinfo_next_setting(info, &cursor, &found, &value)) {
		if (!span_is(&found, key))
			continue;
		*ret_value = value;
		return true;
	}
	return false;
}

/* Digits up to what is none; at most 9, so that no number overflows. */
static bool take_number(const char **text, u32 *ret_number)
{
	u32 number = 0, digits = 0;

	for (; **text >= '0' && **text <= '9'; (*text)++) {
		if (++digits > 9)
			return false;
		number = number * 10 + (u32)(**text - '0');
	}
	*ret_number = number;
	return digits > 0;
}

static bool take_word(const char **text, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*text, word, n) != 0)
		return false;
	*text += n;
	return true;
}

bool go_version_parse(const char *text, struct go_version *ret_version)
{
	struct go_version v = { 0 };

	v.devel = take_word(&text, "devel ");
	if (!take_word(&text, "go") || !take_number(&text, &v.major) || !take_word(&text, ".") ||
	    !take_number(&text, &v.minor))
		return false;
	if (take_word(&text, ".") && !take_number(&text, &v.patch))
		return false;
	if (take_word(&text, "beta") && !take_number(&text, &v.beta))
		return false;
	if (take_word(&text, "rc") && !take_number(&text, &v.rc))
		return false;
	if (strstr(text, "devel") || take_word(&text, "-devel"))
		v.devel = true;
	/* Of the toolchain that made it: "go1.24.4 X:arenas,rangefunc". */
	if (strstr(text, " X:"))
		v.experiments = true;
	if (*text && !v.devel && strncmp(text, " X:", 3) != 0)
		v.modified = true;
	*ret_version = v;
	return true;
}
