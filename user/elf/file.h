/* SPDX-License-Identifier: MIT */
/*
 * An ELF file of 64 bits, copied into memory: sections, segments, symbols, notes. The headers are
 * read here by span readers, not by libelf, since a stranger wrote them. The file is never mapped:
 * whoever truncates a mapped file kills its reader.
 */
#ifndef SKYOBSERVE_ELF_FILE_H
#define SKYOBSERVE_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "user/base/err.h"
#include "user/base/span.h"

/* Larger than any program seen (the largest Go programs with DWARF have 200 MB). */
#define ELF_MAX_BYTES (512u << 20)

struct elf_segment {
	u32 type, flags; /* PT_*, PF_* */
	u64 offset, vaddr, file_bytes, mem_bytes;
};

struct elf_section {
	const char *name; /* "" if it has none */
	u32 type, link;
	u64 flags, vaddr, offset, n_bytes;
	/* In the image; empty if it has no bytes in the file or they are cut off. May be
	 * compressed. */
	struct span bytes;
};

struct elf_symbol {
	const char *name;
	u64 vaddr, n_bytes;
	u16 section;
	u8 type, bind; /* STT_*, STB_* */
};

struct elf_file {
	u8 *bytes; /* the copy; owned */
	struct span image;
	u16 type, machine; /* ET_*, EM_* */
	u64 entry;
	u64 whole_bytes; /* what the headers speak of: a file with fewer was cut off */
	struct elf_segment *segments;
	size_t nr_segments;
	struct elf_section *sections;
	size_t nr_sections;
};

/* Whether both are of one file that was not written to in between: what was read of it holds. */
bool elf_file_is_same(const struct stat *a, const struct stat *b);

/*
 * Read a file whose descriptor the caller keeps. -EINVAL: no regular file, no ELF file of 64 bits
 * and little endian, or headers that contradict themselves; -EFBIG: more than ELF_MAX_BYTES; or
 * what reading it returned. @ret_file is to be freed with elf_file_done, also after a failure.
 */
int elf_file_read(int fd, struct elf_file *ret_file, struct err *err);
/* The same for bytes that are in memory already; takes @bytes, which come from malloc. */
int elf_file_parse(u8 *bytes, size_t n, struct elf_file *ret_file, struct err *err);
void elf_file_done(struct elf_file *file);

/*
 * Open for elf_file_read: a regular file, without waiting on what only looks like one (a FIFO).
 * Returns a descriptor or a negative errno.
 */
int elf_open_path(const char *path, struct err *err);
/* The executable of a process, through /proc/PID/exe: also one that was deleted or is in a
 * container. */
int elf_open_pid(pid_t pid, struct err *err);

/* The first section of that name, or NULL. */
const struct elf_section *elf_find_section(const struct elf_file *file, const char *name);

/*
 * Walk through the symbols of .symtab, or with @dynamic of .dynsym. *cursor begins as 0. False at
 * the end. Entries that make no sense are left out.
 */
bool elf_next_symbol(const struct elf_file *file, bool dynamic, u64 *cursor,
		     struct elf_symbol *ret_symbol);
/* The defined symbol of that name in .symtab. Cost: linear. */
bool elf_find_symbol(const struct elf_file *file, const char *name, struct elf_symbol *ret_symbol);

/* Where an address of the linked file is in the file, by the program headers. False if nowhere. */
bool elf_vaddr_to_offset(const struct elf_file *file, u64 vaddr, u64 *ret_offset);
/* @n bytes at an address. False unless all of them are in the file. */
bool elf_read_vaddr(const struct elf_file *file, u64 vaddr, u64 n, struct span *ret_bytes);
/* From an address to the end of what the file has of its segment. */
bool elf_read_from_vaddr(const struct elf_file *file, u64 vaddr, struct span *ret_bytes);
/* The lowest address of a loaded segment, as a page: address of the mapping of offset 0 minus it is
 * the bias. */
bool elf_base_vaddr(const struct elf_file *file, u64 *ret_vaddr);

/* The descriptor of a note: owner "GNU" and type NT_GNU_BUILD_ID, owner "Go" and type 4. */
bool elf_find_note(const struct elf_file *file, const char *owner, u32 type, struct span *ret_desc);

bool elf_is_dynamic(const struct elf_file *file); /* it has an interpreter */
bool elf_is_pie(const struct elf_file *file);
/* It is loaded by others: position-independent, without interpreter, and not marked as a program.
 */
bool elf_is_library(const struct elf_file *file);
bool elf_has_symtab(const struct elf_file *file);
bool elf_has_dwarf(const struct elf_file *file);

#endif /* SKYOBSERVE_ELF_FILE_H */
