/* SPDX-License-Identifier: MIT */
/*
 * Pointers in the data of an ELF file. In a position-independent one the linker may leave the word
 * zero and the address in a relocation: both places are looked at.
 */
#ifndef SKYOBSERVE_ELF_RELOC_H
#define SKYOBSERVE_ELF_RELOC_H

#include "user/elf/file.h"

/* The pointer at @vaddr: an address of the file as linked. False if nothing of the file is there.
 */
bool elf_read_pointer(const struct elf_file *file, u64 vaddr, u64 *ret_value);

/*
 * Walk through the places of aligned pointers to @value in writable data. A zeroed cursor begins;
 * false at the end. Cost of the whole walk: linear in relocations and writable data.
 */
struct elf_pointer_cursor {
	u64 reloc; /* next one */
	u64 segment;
	u64 offset; /* in it */
};
bool elf_next_pointer_to(const struct elf_file *file, u64 value, struct elf_pointer_cursor *cursor,
			 u64 *ret_vaddr);

#endif /* SKYOBSERVE_ELF_RELOC_H */
