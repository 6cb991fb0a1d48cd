/* SPDX-License-Identifier: MIT */
/*
 * `skyobserve selftest`: workloads of known truth on this machine, observed as any target, and a
 * table of wanted = got.
 */
#ifndef SKYOBSERVE_CMD_SELFTEST_H
#define SKYOBSERVE_CMD_SELFTEST_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"
#include "user/base/buf.h"
#include "user/base/err.h"
#include "user/cmd/options.h"

#define MAX_SELFTEST_ROWS 80

enum selftest_verdict {
	SELFTEST_OK,
	SELFTEST_FAILED,
	SELFTEST_SKIPPED, /* not measured on this machine; @why says the reason */
	NR_SELFTEST_VERDICTS
};

enum selftest_unit {
	SELFTEST_COUNT,
	SELFTEST_BYTES,
	SELFTEST_NS,
};

/* One comparison. It is exact if @low and @high are the same. */
struct selftest_row {
	char load[12];
	char what[40];
	enum selftest_unit unit;
	u64 low, high; /* wanted */
	u64 got;
	enum selftest_verdict verdict;
	char why[192];
};

/* A plain value: copy, save, print. */
struct selftest_result {
	struct selftest_row rows[MAX_SELFTEST_ROWS];
	size_t nr_rows;
	u32 verdicts[NR_SELFTEST_VERDICTS]; /* rows of each */
	u32 nr_loads, nr_neighbours;
	u64 elapsed_ns;
	/*
	 * The machine's, so no row: context switches that the kernel did not report (I-17). Totals
	 * are the kernel's own and lack nothing; reasons and spells of those switches are late.
	 */
	u64 switches, chain_breaks;
	bool chain_holds;
};

struct selftest_config {
	u32 groups; /* mask of enum probe_group */
	bool force_raw_tp;
	const char *folder; /* for temporary files */
};

/*
 * Run the selftest: under 10 s, usually 3. The caller must have one thread only, since loads are
 * forked from it. Returns 0 whatever the rows say; a negative errno if nothing can be observed.
 */
int selftest_run(const struct selftest_config *config, struct selftest_result *ret_result,
		 struct err *err);

/* The table, in lines of at most 80 columns. Check out->failed. */
void selftest_render(const struct selftest_result *result, bool colour, struct buf *out);

/*
 * Run and print. Returns EXIT_GOOD when no row failed, EXIT_FAILED, EXIT_MISSING if nothing can be
 * observed, EXIT_USAGE.
 */
int cmd_selftest(const struct options *options);

#endif /* SKYOBSERVE_CMD_SELFTEST_H */
