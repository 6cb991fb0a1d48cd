/* SPDX-License-Identifier: MIT */
/*
 * Page faults (T15), and with --rss memory that comes and goes (T16).
 *
 * The truth of T15: N fresh anonymous pages are touched, each once and for the first time, huge
 * pages off: N minor faults. "times".minflt is the kernel's own count over the same time, which has
 * a few more.
 *
 * The truth of T16: MIB mebibytes are touched, then one line of JSON ("phase":"touched") is
 * printed; after a line from the test half of them are given back with MADV_DONTNEED, and a second
 * line ("phase":"freed") is printed. "syscalls" of the second line counts from the release on.
 */
#include "workload.h"

static char *map_pages(size_t bytes)
{
	char *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		wl_die("mmap of %zu bytes: %s", bytes, strerror(errno));
	/* EINVAL: a kernel without huge pages, which is as good. */
	if (madvise(mem, bytes, MADV_NOHUGEPAGE) && errno != EINVAL)
		wl_die("madvise: %s", strerror(errno));
	return mem;
}

static void touch(char *mem, size_t bytes, size_t page)
{
	size_t at;

	for (at = 0; at < bytes; at += page)
		*(volatile char *)(mem + at) = 1;
}

static void run_faults(struct wl *w, uint64_t pages, size_t page)
{
	char *mem = map_pages((pages + 1) * page);
	struct wl_times begin, end, used;
	int schedstat_fd = wl_schedstat_open();

	/* Once for practice, so that the code and the stack are there. */
	touch(mem + pages * page, page, page);
	wl_times_take(&(struct wl_tally){ 0 }, schedstat_fd, &begin);

	wl_ready(w);
	wl_times_take(&w->tally, schedstat_fd, &begin);
	touch(mem, pages * page, page);
	wl_times_take(&w->tally, schedstat_fd, &end);
	used = wl_times_diff(&end, &begin);
	wl_json_begin(w);
	wl_json_u64(w, "pages", pages);
	wl_json_times_object(w, &used);
	wl_json_end(w);
}

static void tell_phase(struct wl *w, const char *phase, size_t resident_bytes)
{
	wl_json_begin(w);
	wl_json_text(w, "phase", phase);
	wl_json_u64(w, "resident_bytes", resident_bytes);
	wl_json_end(w);
}

static void run_rss(struct wl *w, uint64_t mib, size_t page)
{
	size_t bytes = mib << 20;
	char *mem = map_pages(bytes);

	wl_ready(w);
	touch(mem, bytes, page);
	tell_phase(w, "touched", bytes);
	w->tally.calls[WL_CALL_write]++;
	w->tally.calls[WL_CALL_read] += wl_read_line();
	WL_OK(&w->tally, madvise, mem + bytes / 2, bytes - bytes / 2, MADV_DONTNEED);
	tell_phase(w, "freed", bytes / 2);
}

int main(int argc, char **argv)
{
	uint64_t pages = 10000, mib = 64;
	bool rss = false;
	const struct wl_opt opts[] = {
		WL_NUMBER("n", &pages, "pages to touch (10000)"),
		WL_FLAG("rss", &rss,
			"touch --mib, and on a line from the test give half of it back"),
		WL_NUMBER("mib", &mib, "mebibytes for --rss, even (64)"),
	};
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct wl w;

	(void)argc;
	wl_init(&w, "faults", argv, opts, WL_N(opts));
	if (rss)
		run_rss(&w, mib, page);
	else
		run_faults(&w, pages, page);
	wl_finish(&w);
}
