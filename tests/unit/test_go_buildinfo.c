/* SPDX-License-Identifier: MIT */
/* Versions as they are written, and build information in both of its forms. */
#include "tests/lib/check.h"

#include <elf.h>
#include <errno.h>

#include "user/runtime/go_buildinfo.h"

TEST(go_versions_are_read_as_they_are_written)
{
	static const struct {
		const char *text;
		bool good;
		struct go_version want;
	} cases[] = {
		{ "go1.19", true, { .major = 1, .minor = 19 } },
		{ "go1.24.4", true, { .major = 1, .minor = 24, .patch = 4 } },
		{ "go1.27rc1", true, { .major = 1, .minor = 27, .rc = 1 } },
		{ "go1.21beta2", true, { .major = 1, .minor = 21, .beta = 2 } },
		{ "devel go1.28-6b2a3c Mon Jan 5 2026",
		  true,
		  { .major = 1, .minor = 28, .devel = true } },
		{ "go1.26-devel_1234", true, { .major = 1, .minor = 26, .devel = true } },
		{ "go1.24.4 X:arenas,rangefunc",
		  true,
		  { .major = 1, .minor = 24, .patch = 4, .experiments = true } },
		{ "go1.22.9-fips",
		  true,
		  { .major = 1, .minor = 22, .patch = 9, .modified = true } },
		{ "go1.25.1 (Red Hat 1.25.1-2.el10)",
		  true,
		  { .major = 1, .minor = 25, .patch = 1, .modified = true } },
		{ "go2.0", true, { .major = 2 } },
		{ "devel +4b31a2 Mon Jan 5 2026", false, { 0 } },
		{ "go1", false, { 0 } },
		{ "go1.", false, { 0 } },
		{ "go1.2.", false, { 0 } },
		{ "go1.99999999999", false, { 0 } },
		{ "1.24", false, { 0 } },
		{ "", false, { 0 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct go_version v = { 0 };

		if (go_version_parse(cases[i].text, &v) != cases[i].good)
			FAIL("%s is %s", cases[i].text, cases[i].good ? "refused" : "taken");
		CHECK_MEM(&v, sizeof(v), &cases[i].want, sizeof(v));
	}
}

#define MARK "0123456789abcdef" /* any 16 bytes */
#define LINES                                     \
	"path\texample.org/app/cmd\n"             \
	"mod\texample.org/app\tv1.2.3\th1:abc=\n" \
	"dep\texample.org/dep\tv0.1.0\th1:def=\n" \
	"build\t-ldflags=\"-s -w -X main.v=1\"\n" \
	"build\tCGO_ENABLED=1\n"

/* One loaded segment, writable, that is the whole file. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	u8 bytes[1024] __attribute__((aligned(16)));
};
#define BASE 0x400000

static void begin_image(struct image *image)
{
	*image = (struct image){
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			    .e_type = ET_EXEC,
			    .e_machine = EM_X86_64,
			    .e_phoff = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 1 },
		.segment = { .p_type = PT_LOAD,
			     .p_flags = PF_R | PF_W,
			     .p_vaddr = BASE,
			     .p_filesz = sizeof(*image),
			     .p_memsz = sizeof(*image) },
	};
}

static int read_image(const struct image *image, size_t n, struct elf_file *ret_file,
		      struct go_buildinfo *ret_info)
{
	u8 *copy = malloc(n ? n : 1);

	CHECK(copy != NULL);
	memcpy(copy, image, n);
	if (elf_file_parse(copy, n, ret_file, NULL))
		return -EINVAL;
	return go_buildinfo_read(ret_file, ret_info, NULL);
}

static size_t put_inlined(struct image *image)
{
	static const char record[] = "\xff Go buildinf:\x08\x02";
	const char *mod = MARK LINES MARK;
	u8 *at = image->bytes;

	memcpy(at, record, 16);
	at += 32;
	*at++ = 8;
	memcpy(at, "go1.24.4", 8);
	at += 8;
	*at++ = (u8)(0x80 | (strlen(mod) & 0x7f));
	*at++ = (u8)(strlen(mod) >> 7);
	memcpy(at, mod, strlen(mod));
	return offsetof(struct image, bytes) + (size_t)(at - image->bytes) + strlen(mod);
}

static void put_string(struct image *image, size_t header, size_t text, const char *value)
{
	u64 pair[2] = { BASE + offsetof(struct image, bytes) + text, strlen(value) };

	memcpy(image->bytes + header, pair, sizeof(pair));
	memcpy(image->bytes + text, value, strlen(value));
}

static void put_pointers(struct image *image)
{
	u64 pointers[2] = { BASE + offsetof(struct image, bytes) + 48,
			    BASE + offsetof(struct image, bytes) + 64 };

	memcpy(image->bytes, "\xff Go buildinf:\x08\x00", 16);
	memcpy(image->bytes + 16, pointers, sizeof(pointers));
	put_string(image, 48, 96, "go1.17.1");
	put_string(image, 64, 128, MARK LINES MARK);
}

static void check_values(const struct go_buildinfo *info, const char *version)
{
	struct span value;

	CHECK(span_is(&info->version, version));
	CHECK(span_is(&info->modinfo, LINES));
	CHECK(go_buildinfo_line(info, "path", 0, &value) && span_is(&value, "example.org/app/cmd"));
	CHECK(go_buildinfo_line(info, "mod", 0, &value) && span_is(&value, "example.org/app"));
	CHECK(go_buildinfo_line(info, "mod", 1, &value) && span_is(&value, "v1.2.3"));
	CHECK(!go_buildinfo_line(info, "mod", 3, &value));
	CHECK(!go_buildinfo_line(info, "nothing", 0, &value));
	CHECK(go_buildinfo_setting(info, "CGO_ENABLED", &value) && span_is(&value, "1"));
	CHECK(go_buildinfo_setting(info, "-ldflags", &value));
	CHECK(span_is(&value, "\"-s -w -X main.v=1\""));
	CHECK(!go_buildinfo_setting(info, "GOARCH", &value));
}

TEST(buildinfo_of_1_18_and_later_follows_its_record)
{
	static struct image image;
	struct go_buildinfo info;
	struct elf_file file;

	begin_image(&image);
	put_inlined(&image);
	CHECK_EQ_INT(read_image(&image, sizeof(image), &file, &info), 0);
	check_values(&info, "go1.24.4");
	elf_file_done(&file);
}

TEST(buildinfo_before_1_18_is_pointed_to)
{
	static struct image image;
	struct go_buildinfo info;
	struct elf_file file;

	begin_image(&image);
	put_pointers(&image);
	CHECK_EQ_INT(read_image(&image, sizeof(image), &file, &info), 0);
	check_values(&info, "go1.17.1");
	elf_file_done(&file);
}

TEST(buildinfo_cut_off_anywhere_is_refused)
{
	static struct image image;
	struct go_buildinfo info;
	struct elf_file file;
	size_t end;

	begin_image(&image);
	end = put_inlined(&image);
	for (size_t n = 0; n < end; n++) {
		CHECK(read_image(&image, n, &file, &info) < 0);
		elf_file_done(&file);
	}
}

TEST(buildinfo_that_points_outside_is_refused)
{
	static const u64 bad[] = { 0, 1, BASE - 1, BASE + sizeof(struct image) - 1, ~0ull };
	static struct image image;
	struct go_buildinfo info;
	struct elf_file file;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		/* The pointer to a header, the header's pointer, its length. */
		static const size_t places[] = { 16, 24, 48, 56, 64, 72 };

		for (size_t k = 0; k < sizeof(places) / sizeof(places[0]); k++) {
			if (!bad[i] || (k % 2 && bad[i] < 4096))
				continue; /* an empty text is good */
			begin_image(&image);
			put_pointers(&image);
			memcpy(image.bytes + places[k], &bad[i], sizeof(bad[i]));
			if (read_image(&image, sizeof(image), &file, &info) != -EBADMSG)
				FAIL("0x%llx at %zu is taken", bad[i], places[k]);
			elf_file_done(&file);
		}
	}
}
