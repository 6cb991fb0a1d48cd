/* SPDX-License-Identifier: MIT */
/*
 * System calls of foreign tables made from a 64-bit program (x86-64 only).
 *
 * The truth: M calls by int $0x80, which the kernel decodes with the i386 table, and M with the x32
 * bit. Read with the native table their numbers are other calls: i386 20 (getpid) would be writev,
 * i386 162 (nanosleep, here with a bad pointer) would be sync, a durable call; the x32 number
 * without its bit would be getppid. The process makes none of these natively, except what
 * "syscalls" says.
 *
 * Kernels without the x32 ABI answer ENOSYS; the call is seen all the same. A kernel may refuse int
 * $0x80 (built without it, ia32_emulation=0, some hypervisors): the instruction then faults, and
 * the workload ends with 77 unless only x32 is asked for.
 */
#include "workload.h"

#ifndef __x86_64__

int main(void)
{
	wl_skip("only x86-64 has foreign system call tables");
}

#else

enum {
	I386_GETPID = 20,
	I386_NANOSLEEP = 162,
	X32_BIT = 0x40000000,
};

struct foreign_truth {
	uint64_t i386_getpid;
	uint64_t i386_nanosleep;
	uint64_t i386_efault;
	uint64_t x32_getppid;
	uint64_t x32_enosys;
};

static long int80(long nr, long arg)
{
	long ret;

	/* Kernels before 4.18 clear r8 to r11 on this way. */
	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"(arg), "c"(0)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)ret;
}

static void refused(int sig)
{
	const char text[] = "this kernel refuses int $0x80\n";

	(void)sig;
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(WL_EXIT_SKIP);
}

static void run_i386(uint64_t n, struct foreign_truth *truth)
{
	uint64_t i;

	for (i = 0; i < n; i++, truth->i386_getpid++)
		if (int80(I386_GETPID, 0) <= 0)
			wl_die("int $0x80 did not answer with a pid");
	for (i = 0; i < n; i++, truth->i386_nanosleep++)
		truth->i386_efault += int80(I386_NANOSLEEP, 0) == -EFAULT;
}

static void run_x32(uint64_t n, struct foreign_truth *truth)
{
	const long none[6] = { 0 };
	uint64_t i;

	for (i = 0; i < n; i++, truth->x32_getppid++)
		truth->x32_enosys += wl_raw(SYS_getppid | X32_BIT, none) == -ENOSYS;
}

static void tell(struct wl *w, const struct foreign_truth *truth)
{
	wl_json_begin(w);
	wl_json_open(w, "foreign", '{');
	wl_json_open(w, "i386", '{');
	wl_json_u64(w, "getpid", truth->i386_getpid);
	wl_json_u64(w, "nanosleep", truth->i386_nanosleep);
	wl_json_close(w, '}');
	wl_json_open(w, "x32", '{');
	wl_json_u64(w, "getppid", truth->x32_getppid);
	wl_json_close(w, '}');
	wl_json_close(w, '}');
	wl_json_open(w, "foreign_errors", '{');
	wl_json_open(w, "i386", '{');
	wl_json_u64(w, "nanosleep EFAULT", truth->i386_efault);
	wl_json_close(w, '}');
	wl_json_open(w, "x32", '{');
	wl_json_u64(w, "getppid ENOSYS", truth->x32_enosys);
	wl_json_close(w, '}');
	wl_json_close(w, '}');
	wl_json_end(w);
}

int main(int argc, char **argv)
{
	struct foreign_truth truth = { 0 };
	const char *only = "both";
	uint64_t n = 1000;
	const struct wl_opt opts[] = {
		WL_NUMBER("n", &n, "calls of each kind (1000)"),
		WL_STRING("only", &only, "i386, x32 or both (both)"),
	};
	bool i386, x32;
	struct wl w;

	(void)argc;
	wl_init(&w, "compat32", argv, opts, WL_N(opts));
	i386 = !wl_same(only, "x32");
	x32 = !wl_same(only, "i386");
	if (i386) {
		signal(SIGSEGV, refused);
		int80(I386_GETPID, 0);
	}

	wl_ready(&w);
	if (i386)
		run_i386(n, &truth);
	if (x32)
		run_x32(n, &truth);
	tell(&w, &truth);
	wl_finish(&w);
}

#endif
