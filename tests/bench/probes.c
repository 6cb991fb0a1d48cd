/* SPDX-License-Identifier: MIT */
/*
 * Holds the programs of empty.bpf.o and attaches those that it is told to, line by line:
 *
 *	attach NAME...	these programs, beside those attached already
 *	detach		all of them
 *	programs	every BPF program of the machine, as one line of JSON
 *
 * Each is answered with one line. At the end of its input everything goes.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "types.h"

#define MAX_LINKS 16

struct probes {
	struct bpf_object *obj;
	struct bpf_link *links[MAX_LINKS];
	size_t nr_links;
};

static int quiet_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, fmt, ap) : 0;
}

static void detach_all(struct probes *p)
{
	while (p->nr_links)
		(void)bpf_link__destroy(p->links[--p->nr_links]); /* the kernel cannot refuse it */
}

/* Returns 0 or a negative errno. */
static int attach_one(struct probes *p, const char *name)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(p->obj, name);
	struct bpf_link *link;

	if (!prog)
		return -ENOENT;
	if (p->nr_links == MAX_LINKS)
		return -ENOSPC;
	link = bpf_program__attach(prog);
	if (!link)
		return -errno;
	p->links[p->nr_links++] = link;
	return 0;
}

static void attach_names(struct probes *p, char *names)
{
	char *save = NULL;

	for (char *name = strtok_r(names, " \n", &save); name;
	     name = strtok_r(NULL, " \n", &save)) {
		int r = attach_one(p, name);

		if (r) {
			detach_all(p);
			printf("%s: %s\n", name, strerror(-r));
			return;
		}
	}
	puts("ok");
}

/* False if the program has gone meanwhile. */
static bool print_program(u32 id, bool first)
{
	struct bpf_prog_info info = { 0 };
	u32 bytes = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);
	int r;

	if (fd < 0)
		return false;
	r = bpf_obj_get_info_by_fd(fd, &info, &bytes);
	close(fd);
	if (r)
		return false;
	/* Names are what the kernel allows in them: letters, digits, `_` and `.`. */
	printf("%s{\"id\":%u,\"name\":\"%s\",\"type\":%u,\"verified\":%u,\"xlated\":%u,\"jited\":%"
	       "u}",
	       first ? "" : ",", info.id, info.name, info.type, info.verified_insns,
	       info.xlated_prog_len, info.jited_prog_len);
	return true;
}

static void print_programs(void)
{
	bool first = true;
	u32 id = 0;

	putchar('[');
	while (!bpf_prog_get_next_id(id, &id)) {
		if (print_program(id, first))
			first = false;
	}
	puts("]");
}

static void obey(struct probes *p, char *line)
{
	if (!strncmp(line, "attach ", 7)) {
		attach_names(p, line + 7);
	} else if (!strcmp(line, "detach\n")) {
		detach_all(p);
		puts("ok");
	} else if (!strcmp(line, "programs\n")) {
		print_programs();
	} else {
		puts("what?");
	}
	(void)fflush(stdout); /* the reader finds out */
}

int main(int argc, char **argv)
{
	struct probes probes = { 0 };
	char line[512];
	int r;

	if (argc != 2) {
		fprintf(stderr, "usage: probes OBJECT\n");
		return 64;
	}
	libbpf_set_print(quiet_print);
	probes.obj = bpf_object__open_file(argv[1], NULL);
	r = probes.obj ? bpf_object__load(probes.obj) : -errno;
	if (r) {
		fprintf(stderr, "probes: %s: %s\n", argv[1], strerror(-r));
		bpf_object__close(probes.obj);
		return 1;
	}
	while (fgets(line, sizeof(line), stdin))
		obey(&probes, line);
	detach_all(&probes);
	bpf_object__close(probes.obj);
	return 0;
}
