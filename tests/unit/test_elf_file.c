/* SPDX-License-Identifier: MIT */
/* ELF files: this program itself against what the C library knows of it, and files cut off
 * anywhere. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "tests/lib/check.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>

#include "user/elf/dwarf.h"
#include "user/elf/file.h"
#include "user/elf/insn.h"

struct test_elf_inner {
	char c[3];
	int numbers[4];
};
struct test_elf_outer {
	short s;
	struct test_elf_inner inner;
	long last;
};
struct test_elf_outer test_elf_variable;

/* Seen by the test as a symbol of its own executable. */
int test_elf_function(int n);
__attribute__((noinline, used)) int test_elf_function(int n)
{
	if (n > 3)
		return test_elf_variable.s + n;
	return 2 * n;
}

static struct elf_file self;

static const struct elf_file *read_self(void)
{
	struct err err = { { 0 } };
	int fd;

	if (self.bytes)
		return &self;
	fd = elf_open_path("/proc/self/exe", &err);
	CHECK(fd >= 0);
	CHECK_EQ_INT(elf_file_read(fd, &self, &err), 0);
	close(fd);
	return &self;
}

static int note_bias(struct dl_phdr_info *info, size_t n, void *bias)
{
	(void)n;
	*(u64 *)bias = info->dlpi_addr;
	return 1; /* the first is the program */
}

static u64 bias_of_self(void)
{
	u64 bias = 0;

	dl_iterate_phdr(note_bias, &bias);
	return bias;
}

TEST(elf_symbols_are_where_the_program_has_them)
{
	const struct elf_file *f = read_self();
	struct elf_symbol symbol;

	CHECK(elf_find_symbol(f, "test_elf_variable", &symbol));
	CHECK_EQ_U64(symbol.vaddr + bias_of_self(), (u64)(uintptr_t)&test_elf_variable);
	CHECK_EQ_U64(symbol.n_bytes, sizeof(test_elf_variable));
	CHECK_EQ_INT(symbol.type, STT_OBJECT);
	CHECK(elf_find_symbol(f, "test_elf_function", &symbol));
	CHECK_EQ_U64(symbol.vaddr + bias_of_self(), (u64)(uintptr_t)test_elf_function);
	CHECK(!elf_find_symbol(f, "test_elf_nothing", &symbol));
}

TEST(elf_addresses_lead_to_the_bytes_of_the_program)
{
	const struct elf_file *f = read_self();
	struct elf_symbol symbol;
	struct span code;
	u64 offset;

	CHECK(elf_find_symbol(f, "test_elf_function", &symbol));
	CHECK(elf_read_vaddr(f, symbol.vaddr, symbol.n_bytes, &code));
	CHECK_MEM(code.at, code.n, (const void *)(uintptr_t)test_elf_function, symbol.n_bytes);
	CHECK(elf_vaddr_to_offset(f, symbol.vaddr, &offset));
	CHECK(f->bytes + offset == code.at);
	/* A variable without a value takes no bytes of the file. */
	CHECK(elf_find_symbol(f, "test_elf_variable", &symbol));
	CHECK(!elf_read_vaddr(f, symbol.vaddr, symbol.n_bytes, &code));
}

TEST(elf_says_what_kind_of_file_it_is)
{
	const struct elf_file *f = read_self();

	CHECK_EQ_INT(elf_is_pie(f), f->type == ET_DYN);
	CHECK(elf_is_dynamic(f));
	CHECK(elf_has_symtab(f));
	CHECK(elf_has_dwarf(f));
	CHECK(elf_find_section(f, ".text") != NULL);
	CHECK(elf_find_section(f, ".nothing") == NULL);
}

TEST(elf_dwarf_has_the_offsets_of_the_compiler)
{
	struct dwarf_member members[] = {
		{ .type = "test_elf_outer", .member = "" },
		{ .type = "test_elf_outer", .member = "inner.numbers[2]" },
		{ .type = "test_elf_outer", .member = "last" },
		{ .type = "test_elf_outer", .member = "nothing" },
		{ .type = "test_elf_nothing", .member = "" },
	};
	struct err err = { { 0 } };

	CHECK_EQ_INT(dwarf_find_members(read_self(), members, 5, &err), 0);
	CHECK_EQ_INT(members[0].state, DWARF_FOUND);
	CHECK_EQ_U64(members[0].n_bytes, sizeof(struct test_elf_outer));
	CHECK_EQ_U64(members[1].offset, offsetof(struct test_elf_outer, inner.numbers[2]));
	CHECK_EQ_U64(members[1].n_bytes, sizeof(int));
	CHECK_EQ_U64(members[2].offset, offsetof(struct test_elf_outer, last));
	CHECK_EQ_INT(members[3].state, DWARF_NO_MEMBER);
	CHECK_EQ_INT(members[4].state, DWARF_NO_TYPE);
}

TEST(elf_what_is_no_regular_elf_file_is_refused)
{
	static const char *const paths[] = { "/dev/null", "/proc/self/maps", "/" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct err err = { { 0 } };
		struct elf_file f;
		int fd = elf_open_path(paths[i], &err);

		CHECK(fd >= 0);
		CHECK_EQ_INT(elf_file_read(fd, &f, &err), -EINVAL);
		elf_file_done(&f);
		close(fd);
	}
}

TEST(elf_a_fifo_is_not_waited_for)
{
	const char *tmp = getenv("TEST_TMPDIR");
	struct err err = { { 0 } };
	struct elf_file f;
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/elf-fifo-%d", tmp ? tmp : "/tmp", (int)getpid());
	CHECK(!mkfifo(path, 0600));
	fd = elf_open_path(path, &err);
	unlink(path);
	CHECK(fd >= 0);
	CHECK_EQ_INT(elf_file_read(fd, &f, &err), -EINVAL);
	CHECK_STR(err.text, "it is not a regular file");
	close(fd);
}

/* Everything that reads headers; the sanitizers see what goes too far. */
static void read_all(const u8 *bytes, size_t n)
{
	u8 *copy = malloc(n ? n : 1);
	struct elf_symbol symbol;
	struct elf_file f;
	struct span span;
	u64 vaddr;

	CHECK(copy != NULL);
	memcpy(copy, bytes, n);
	if (!elf_file_parse(copy, n, &f, NULL)) {
		(void)elf_find_symbol(&f, "main", &symbol);
		(void)elf_find_note(&f, "GNU", 3, &span);
		(void)elf_find_section(&f, ".text");
		(void)elf_base_vaddr(&f, &vaddr);
		(void)elf_read_vaddr(&f, f.entry, 16, &span);
	}
	elf_file_done(&f);
}

TEST(elf_a_file_cut_off_anywhere_is_read_or_refused)
{
	const struct elf_file *f = read_self();

	for (size_t n = 0; n < 4096 && n < f->image.n; n += 7)
		read_all(f->bytes, n);
	for (size_t n = 4096; n < f->image.n; n += f->image.n / 20)
		read_all(f->bytes, n);
}

TEST(elf_headers_with_any_byte_changed_are_read_or_refused)
{
	const struct elf_file *f = read_self();
	size_t n = f->image.n < 8192 ? f->image.n : 8192;
	u8 *bytes = malloc(n);

	CHECK(bytes != NULL);
	for (size_t i = 4; i < 64 + 56 * 12 && i < n; i++) {
		memcpy(bytes, f->bytes, n);
		bytes[i] ^= 0xff;
		read_all(bytes, n);
	}
	free(bytes);
}
