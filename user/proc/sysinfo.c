/* SPDX-License-Identifier: MIT */
/* Readers of the machine's settings. Knows only files. */
#define _GNU_SOURCE /* memmem */
#include "user/proc/sysinfo.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/proc/text.h"

/* PROC_PID_INIT_INO (include/linux/proc_ns.h): inode of the first PID namespace, since 3.8. */
#define INITIAL_PID_NAMESPACE "pid:[4026531836]"
/* The whole range of user ids: what the first user namespace maps to itself. */
#define ALL_IDS 4294967295ULL

/* The file @path below @root. */
static ssize_t read_text(const char *root, const char *path, char *ret_text, size_t n)
{
	char name[4096];

	if (snprintf(name, sizeof(name), "%s/%s", root, path) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	return proc_read_text(name, ret_text, n);
}

int sysinfo_word(const char *root, const char *path, char *ret_word, size_t n)
{
	char text[256];
	ssize_t have = read_text(root, path, text, sizeof(text));
	size_t begin, len;

	if (have < 0)
		return (int)have;
	begin = strspn(text, " \t\n");
	len = strcspn(text + begin, " \t\n");
	if (!len)
		return -ENODATA;
	snprintf(ret_word, n, "%.*s", (int)len, text + begin);
	return 0;
}

int sysinfo_number(const char *root, const char *path, s64 *ret_number)
{
	char word[32], *end;
	s64 number;
	int r = sysinfo_word(root, path, word, sizeof(word));

	if (r)
		return r;
	errno = 0;
	number = strtoll(word, &end, 10);
	if (*end || errno)
		return -EBADMSG;
	*ret_number = number;
	return 0;
}

enum sysinfo_lockdown sysinfo_lockdown(const char *root)
{
	static const struct {
		const char *chosen;
		enum sysinfo_lockdown mode;
	} modes[] = {
		{ "[none]", LOCKDOWN_NONE },
		{ "[integrity]", LOCKDOWN_INTEGRITY },
		{ "[confidentiality]", LOCKDOWN_CONFIDENTIALITY },
	};
	char text[256];

	if (read_text(root, "sys/kernel/security/lockdown", text, sizeof(text)) < 0)
		return LOCKDOWN_ABSENT;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strstr(text, modes[i].chosen))
			return modes[i].mode;
	}
	return LOCKDOWN_UNKNOWN;
}

/* The value of a line "NAME:\tVALUE", or NULL. */
static const char *field(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, len) && line[len] == ':')
			return line + len + 1;
	}
	return NULL;
}

/* The first three numbers of a line, separated by blanks. */
static bool three_numbers(const char *text, u64 ret_numbers[3])
{
	for (int i = 0; i < 3; i++) {
		char *end;

		errno = 0;
		ret_numbers[i] = strtoull(text, &end, 10);
		if (end == text || errno)
			return false;
		text = end;
	}
	return true;
}

static bool in_user_namespace(const char *root)
{
	u64 range[3]; /* first id inside, first outside, how many */
	char text[256];

	if (read_text(root, "proc/self/uid_map", text, sizeof(text)) < 0)
		return false; /* a kernel without user namespaces */
	if (!three_numbers(text, range))
		return true; /* a new namespace maps nothing yet */
	return range[0] || range[1] || range[2] != ALL_IDS;
}

static bool in_pid_namespace(const char *root)
{
	char name[4096], to[64];
	ssize_t n;

	if (snprintf(name, sizeof(name), "%s/proc/self/ns/pid", root) >= (int)sizeof(name))
		return false;
	n = readlink(name, to, sizeof(to) - 1);
	if (n < 0)
		return false; /* a kernel without PID namespaces */
	to[n] = '\0';
	return strcmp(to, INITIAL_PID_NAMESPACE) != 0;
}

void sysinfo_privilege(const char *root, struct sysinfo_privilege *ret_privilege)
{
	struct sysinfo_privilege p = { 0 };
	const char *caps, *seccomp;
	char text[8192];

	if (read_text(root, "proc/self/status", text, sizeof(text)) > 0) {
		caps = field(text, "CapEff");
		seccomp = field(text, "Seccomp");
		p.valid = caps != NULL;
		p.capabilities = caps ? strtoull(caps, NULL, 16) : 0;
		p.seccomp = seccomp && strtoul(seccomp, NULL, 10) != 0;
	}
	p.user_namespace = in_user_namespace(root);
	p.pid_namespace = in_pid_namespace(root);
	*ret_privilege = p;
}

bool sysinfo_capable(const struct sysinfo_privilege *privilege, u32 number)
{
	return number < 64 && privilege->capabilities >> number & 1;
}

struct mount {
	const char *where, *options;
	size_t where_len, options_len;
};

/* One line of proc/self/mounts: source, mount point, type, options. Blanks in names are \040. */
static bool mount_matches(const char *line, const char *type, struct mount *ret_mount)
{
	const char *at = line + strcspn(line, " \n");
	size_t kind;

	if (*at != ' ')
		return false;
	ret_mount->where = ++at;
	ret_mount->where_len = strcspn(at, " \n");
	at += ret_mount->where_len;
	if (*at != ' ')
		return false;
	kind = strcspn(++at, " \n");
	if (strlen(type) != kind || strncmp(at, type, kind) != 0)
		return false;
	at += kind;
	ret_mount->options = at + (*at == ' ');
	ret_mount->options_len = strcspn(ret_mount->options, " \n");
	return true;
}

/* The next mount of a type at or behind @line; NULL if there is none, else the line behind it. */
static const char *next_mount(const char *line, const char *type, struct mount *ret_mount)
{
	while (line && *line) {
		const char *end = strchr(line, '\n');
		bool matches = mount_matches(line, type, ret_mount);

		line = end ? end + 1 : line + strlen(line);
		if (matches)
			return line;
	}
	return NULL;
}

/* The table of mounts, to be freed; NULL if it cannot be read. */
static char *read_mounts(const char *root)
{
	const size_t cap = (size_t)256 * 1024;
	char *text = malloc(cap);

	if (text && read_text(root, "proc/self/mounts", text, cap) <= 0) {
		free(text);
		return NULL;
	}
	return text;
}

int sysinfo_mount(const char *root, const char *type, char *ret_where, size_t n)
{
	char *text = read_mounts(root);
	struct mount mount;
	bool found = next_mount(text, type, &mount);

	if (found)
		snprintf(ret_where, n, "%.*s", (int)mount.where_len, mount.where);
	free(text);
	return found ? 0 : -ENOENT;
}

bool sysinfo_proc_hides(const char *root)
{
	char *text = read_mounts(root);
	const char *line = text;
	struct mount mount;
	bool hides = false;

	while ((line = next_mount(line, "proc", &mount)))
		hides |= memmem(mount.options, mount.options_len, "hidepid=", 8) != NULL;
	free(text);
	return hides;
}

int sysinfo_schedstat(const char *root, struct sysinfo_schedstat *ret_schedstat)
{
	u64 numbers[3];
	char text[256];
	ssize_t n = read_text(root, "proc/self/schedstat", text, sizeof(text));

	if (n < 0)
		return (int)n;
	if (!three_numbers(text, numbers))
		return -EBADMSG;
	*ret_schedstat = (struct sysinfo_schedstat){ numbers[0], numbers[1], numbers[2] };
	return 0;
}

bool sysinfo_hypervisor(const char *root)
{
	char text[16384]; /* the first processor is enough */
	char *flags, *end;

	if (read_text(root, "proc/cpuinfo", text, sizeof(text)) <= 0)
		return false;
	flags = strstr(text, "\nflags");
	if (!flags)
		return false;
	end = strchr(flags + 1, '\n');
	if (end)
		*end = '\0';
	for (flags = strstr(flags, " hypervisor"); flags;
	     flags = strstr(flags + 1, " hypervisor")) {
		if (!isgraph((unsigned char)flags[strlen(" hypervisor")]))
			return true;
	}
	return false;
}
