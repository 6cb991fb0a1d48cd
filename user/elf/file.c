/* SPDX-License-Identifier: MIT */
/* Copying an ELF file into memory and reading its headers. Knows nothing of Go or DWARF. */
#include "user/elf/file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The file header, 64 bits (gABI, "ELF Header"):
 *
 * OFFSET SIZE MEANING
 *      0    4 7f 45 4c 46
 *      4    1 class: 2 is 64 bits
 *      5    1 data: 1 is little endian
 *     16    2 type
 *     18    2 machine
 *     24    8 entry
 *     32    8 offset of the program headers
 *     40    8 offset of the section headers
 *     54    2 size of a program header
 *     56    2 number of them
 *     58    2 size of a section header
 *     60    2 number of them
 *     62    2 index of the section with their names
 */
#define EHDR_BYTES 64
#define PHDR_BYTES 56
#define SHDR_BYTES 64
#define MAX_NAME   4096

static int refuse(struct err *err, const char *why)
{
	return err_set(err, -EINVAL, "%s", why);
}

/* Something is said to be at @offset. Sums that are none are left to those who read them. */
static void note_extent(struct elf_file *f, u64 offset, u64 n)
{
	u64 end;

	if (n && !__builtin_add_overflow(offset, n, &end) && end > f->whole_bytes)
		f->whole_bytes = end;
}

static bool parse_segment(struct span at, struct elf_segment *ret)
{
	u64 paddr;

	return span_u32(&at, &ret->type) && span_u32(&at, &ret->flags) &&
	       span_u64(&at, &ret->offset) && span_u64(&at, &ret->vaddr) && span_u64(&at, &paddr) &&
	       span_u64(&at, &ret->file_bytes) && span_u64(&at, &ret->mem_bytes);
}

static bool parse_section(struct span at, struct elf_section *ret, u32 *ret_name)
{
	return span_u32(&at, ret_name) && span_u32(&at, &ret->type) && span_u64(&at, &ret->flags) &&
	       span_u64(&at, &ret->vaddr) && span_u64(&at, &ret->offset) &&
	       span_u64(&at, &ret->n_bytes) && span_u32(&at, &ret->link);
}

static int read_segments(struct elf_file *f, u64 offset, u16 size, u16 n, struct err *err)
{
	struct span table;

	if (!n)
		return 0;
	if (size < PHDR_BYTES || !span_slice(&f->image, offset, (u64)size * n, &table))
		return refuse(err, "its program headers are cut off");
	f->segments = calloc(n, sizeof(*f->segments));
	if (!f->segments)
		return err_set(err, -ENOMEM, "no memory for %u program headers", n);
	f->nr_segments = n;
	for (u16 i = 0; i < n; i++) {
		struct span at;

		if (!span_from(&table, (u64)size * i, &at) || !parse_segment(at, &f->segments[i]))
			return refuse(err, "its program headers are cut off");
		note_extent(f, f->segments[i].offset, f->segments[i].file_bytes);
	}
	return 0;
}

/* Missing or broken section headers are no failure: a stripped program runs without them. */
static int read_sections(struct elf_file *f, u64 offset, u16 size, u16 n, u16 names,
			 struct err *err)
{
	struct span table, strings = { 0 };

	if (!n || size < SHDR_BYTES || !span_slice(&f->image, offset, (u64)size * n, &table))
		return 0;
	f->sections = calloc(n, sizeof(*f->sections));
	if (!f->sections)
		return err_set(err, -ENOMEM, "no memory for %u section headers", n);
	f->nr_sections = n;
	/* Twice: the first time finds the section that has the names. */
	for (u32 i = 0; i < 2u * n; i++) {
		struct elf_section *s = &f->sections[i % n];
		struct span at;
		u32 name = 0;

		if (!span_from(&table, (u64)size * (i % n), &at) || !parse_section(at, s, &name))
			break;
		if (s->type != SHT_NOBITS)
			note_extent(f, s->offset, s->n_bytes);
		if (s->type != SHT_NOBITS)
			(void)span_slice(&f->image, s->offset, s->n_bytes,
					 &s->bytes); /* else empty */
		if (i == names)
			strings = s->bytes;
		s->name = "";
		(void)span_cstring_at(&strings, name, MAX_NAME, &s->name); /* else "" */
	}
	return 0;
}

static int parse(struct elf_file *f, struct err *err)
{
	u16 phentsize, phnum, shentsize, shnum, shstrndx;
	struct span at = f->image;
	u64 phoff, shoff;
	int r;

	if (at.n < EHDR_BYTES || memcmp(at.at, ELFMAG, SELFMAG) != 0)
		return refuse(err, "it is not an ELF file");
	if (at.at[EI_CLASS] != ELFCLASS64 || at.at[EI_DATA] != ELFDATA2LSB)
		return refuse(
			err,
			"it is not an ELF file of 64 bits and little endian, the only kind that "
			"is known here");
	if (!span_skip(&at, 16) || !span_u16(&at, &f->type) || !span_u16(&at, &f->machine) ||
	    !span_skip(&at, 4) || !span_u64(&at, &f->entry) || !span_u64(&at, &phoff) ||
	    !span_u64(&at, &shoff) || !span_skip(&at, 6) || !span_u16(&at, &phentsize) ||
	    !span_u16(&at, &phnum) || !span_u16(&at, &shentsize) || !span_u16(&at, &shnum) ||
	    !span_u16(&at, &shstrndx))
		return refuse(err, "its ELF header is cut off");
	f->whole_bytes = f->image.n;
	note_extent(f, shoff, (u64)shentsize * shnum);
	r = read_segments(f, phoff, phentsize, phnum, err);
	if (r)
		return r;
	return read_sections(f, shoff, shentsize, shnum, shstrndx, err);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): it is freed with the file */
int elf_file_parse(u8 *bytes, size_t n, struct elf_file *ret_file, struct err *err)
{
	*ret_file = (struct elf_file){ .bytes = bytes, .image = { bytes, n } };
	return parse(ret_file, err);
}

int elf_file_read(int fd, struct elf_file *ret_file, struct err *err)
{
	struct stat st;
	size_t done = 0, n;
	u8 *bytes;

	*ret_file = (struct elf_file){ 0 };
	if (fstat(fd, &st))
		return err_set(err, -errno, "fstat: %s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return refuse(err, "it is not a regular file");
	if (st.st_size > (off_t)ELF_MAX_BYTES)
		return err_set(err, -EFBIG, "it has %lld bytes, and more than %u are not read",
			       (long long)st.st_size, ELF_MAX_BYTES);
	n = (size_t)st.st_size;
	bytes = malloc(n ? n : 1);
	if (!bytes)
		return err_set(err, -ENOMEM, "no memory for its %zu bytes", n);
	/* A file that shrinks meanwhile is taken as what is left of it. */
	while (done < n) {
		ssize_t r = pread(fd, bytes + done, n - done, (off_t)done);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0) {
			r = -errno;
			free(bytes);
			return err_set(err, (int)r, "read: %s", strerror((int)-r));
		}
		if (!r)
			break;
		done += (size_t)r;
	}
	return elf_file_parse(bytes, done, ret_file, err);
}

void elf_file_done(struct elf_file *file)
{
	free(file->segments);
	free(file->sections);
	free(file->bytes);
	*file = (struct elf_file){ 0 };
}

int elf_open_path(const char *path, struct err *err)
{
	/* O_NONBLOCK: opening a FIFO does not wait for its writer. What it is, elf_file_read looks
	 * at. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return err_set(err, -errno, "%s", strerror(errno));
	return fd;
}

bool elf_file_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

int elf_open_pid(pid_t pid, struct err *err)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = elf_open_path(path, err);
	if (fd == -EACCES || fd == -EPERM)
		return err_prefix(err, fd, "%s needs root or CAP_SYS_PTRACE: ", path);
	if (fd < 0)
		return err_prefix(err, fd, "%s: ", path);
	return fd;
}
