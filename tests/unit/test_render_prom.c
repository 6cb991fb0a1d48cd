/* SPDX-License-Identifier: MIT */
/* What the names of the metric table become in the text formats. */
#include "tests/lib/check.h"

#include "user/render/prom.h"

#define MAX_NAMES 512

struct names {
	char name[MAX_NAMES][128];
	const char *owner[MAX_NAMES];
	size_t n;
};

static void add_name(struct names *names, const char *owner, const char *base, const char *suffix)
{
	CHECK(names->n < MAX_NAMES);
	snprintf(names->name[names->n], sizeof(names->name[0]), "%s%s", base, suffix);
	names->owner[names->n++] = owner;
}

/* Each name that OpenMetrics reserves for a family, its own included. */
static void add_reserved(struct names *names, const struct family_desc *d)
{
	static const char *const suffixes[][6] = {
		[FAMILY_COUNTER] = { "_total", "_created" },
		[FAMILY_GAUGE] = { "" },
		[FAMILY_HIST] = { "_bucket", "_count", "_sum", "_created" },
		[FAMILY_INFO] = { "_info" },
	};
	char base[128];

	family_name(d, base, sizeof(base));
	if (d->type == FAMILY_INFO)
		base[strlen(base) - strlen("_info")] = '\0';
	for (size_t i = 0; suffixes[d->type][i]; i++)
		add_name(names, d->name, base, suffixes[d->type][i]);
	if (d->type != FAMILY_GAUGE)
		add_name(names, d->name, base, "");
}

/* A gauge x_created beside a counter x would make the whole scrape invalid in OpenMetrics only. */
TEST(prom_names_of_the_table_do_not_collide)
{
	static struct names names;

	for (size_t i = 0; i < NR_FAMILIES; i++)
		add_reserved(&names, &family_descs[i]);
	for (size_t i = 0; i < names.n; i++) {
		for (size_t k = 0; k < i; k++) {
			if (!strcmp(names.name[i], names.name[k]))
				FAIL("%s is of both %s and %s", names.name[i], names.owner[k],
				     names.owner[i]);
		}
	}
}

/* A unit must end the family's name, or Prometheus refuses the scrape. */
TEST(prom_units_end_the_names)
{
	for (size_t i = 0; i < NR_FAMILIES; i++) {
		const struct family_desc *d = &family_descs[i];
		char name[128];

		family_name(d, name, sizeof(name));
		CHECK(!d->unit[0] || d->type != FAMILY_INFO);
		if (d->unit[0])
			CHECK_STR(name + strlen(name) - strlen(d->unit), d->unit);
		CHECK(strlen(name) < 100);
		CHECK(!strpbrk(d->help, "\n\r\t"));
	}
}

/* A value equal to a bound is in the bucket that the bound closes. */
TEST(prom_buckets_include_their_bound)
{
	static struct hist hist;
	struct family_set set = { 0 };
	struct buf out = { 0 };
	struct sample *s = family_add(&set, FAM_SYSCALL_DURATION);

	s->kind = VALUE_NS;
	s->hist = &hist;
	hist.counts[hist_bucket(1024)]++;
	hist.counts[hist_bucket(1025)]++;
	hist.counts[hist_bucket(1536)]++; /* an inner bound that is not printed */
	hist.counts[hist_bucket(1537)]++;
	hist.counts[hist_bucket(2048)]++;
	hist.counts[hist_bucket(2049)]++;
	hist.counts[hist_bucket(68719476736)]++;
	hist.counts[hist_bucket(68719476737)]++;
	CHECK_EQ_INT(prom_render(&set, PROM_TEXT, &out), 0);
	CHECK(strstr(out.bytes, "_bucket{le=\"1.024e-06\"} 1\n"));
	CHECK(strstr(out.bytes, "_bucket{le=\"2.048e-06\"} 5\n"));
	CHECK(strstr(out.bytes, "_bucket{le=\"4.096e-06\"} 6\n"));
	CHECK(strstr(out.bytes, "_bucket{le=\"34.359738368\"} 6\n"));
	CHECK(strstr(out.bytes, "_bucket{le=\"68.719476736\"} 7\n"));
	CHECK(strstr(out.bytes, "_bucket{le=\"+Inf\"} 8\n"));
	CHECK(strstr(out.bytes, "_count 8\n"));
	buf_done(&out);
	family_set_done(&set);
}

/* Of a histogram that counts things, not time: OpenMetrics writes its bounds as floats. */
TEST(prom_bounds_of_counts_are_floats_in_openmetrics)
{
	static struct hist hist;
	struct family_set set = { 0 };
	struct buf out = { 0 };
	struct sample *s = family_add(&set, FAM_SYSCALL_DURATION);

	s->kind = VALUE_COUNT;
	s->hist = &hist;
	hist.sum = 12345;
	hist.counts[0] = 3;
	CHECK_EQ_INT(prom_render(&set, PROM_TEXT, &out), 0);
	CHECK(strstr(out.bytes, "_bucket{le=\"1024\"} 3\n"));
	CHECK(strstr(out.bytes, "_sum 12345\n"));
	buf_clear(&out);
	CHECK_EQ_INT(prom_render(&set, PROM_OPENMETRICS, &out), 0);
	CHECK(strstr(out.bytes, "_bucket{le=\"1024.0\"} 3\n"));
	CHECK(strstr(out.bytes, "_bucket{le=\"1.048576e+06\"} 3\n"));
	buf_done(&out);
	family_set_done(&set);
}

TEST(prom_prints_nothing_for_a_family_without_samples)
{
	struct family_set set = { 0 };
	struct buf out = { 0 };
	struct sample *s = family_add(&set, FAM_STEAL_SUPPORTED);

	s->u = 1;
	CHECK_EQ_INT(prom_render(&set, PROM_TEXT, &out), 0);
	CHECK(strstr(out.bytes, "\nskyobserve_steal_supported 1\n"));
	CHECK(!strstr(out.bytes, "cpu_seconds"));
	buf_done(&out);
	family_set_done(&set);
}
