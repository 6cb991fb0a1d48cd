/* SPDX-License-Identifier: MIT */
/* The kernel's side and every reader agree on the bucket of a value. */
#include "tests/lib/check.h"

#include "hist.h"

/* What the buckets mean, without arithmetic on bits: the first bound that is not below @value. */
static u32 slow_bucket(u64 value)
{
	u32 i = 0;

	while (i < NR_HIST_BOUNDS && hist_bound(i) < value)
		i++;
	return i;
}

/* xorshift64: fast, and the same numbers everywhere. */
static u64 next_random(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

TEST(hist_bounds_are_two_per_octave)
{
	CHECK_EQ_U64(NR_HIST_BOUNDS, 53);
	CHECK_EQ_U64(NR_HIST_BUCKETS, 54);
	for (u32 i = 0; i + 2 < NR_HIST_BOUNDS; i++) {
		CHECK_EQ_U64(hist_bound(i + 2), 2 * hist_bound(i));
		CHECK(hist_bound(i) < hist_bound(i + 1));
	}
	CHECK_EQ_U64(hist_bound(0), 1024);
	CHECK_EQ_U64(hist_bound(1), 1536);
	CHECK_EQ_U64(hist_bound(NR_HIST_BOUNDS - 1), 68719476736);
}

TEST(hist_bound_is_inclusive)
{
	for (u32 i = 0; i < NR_HIST_BOUNDS; i++)
		CHECK_EQ_U64(hist_bucket(hist_bound(i)), i);
}

TEST(hist_bucket_changes_just_above_its_bound)
{
	for (u32 i = 0; i < NR_HIST_BOUNDS; i++) {
		CHECK_EQ_U64(hist_bucket(hist_bound(i) + 1), i + 1);
		CHECK_EQ_U64(hist_bucket(hist_bound(i) - 1), i);
	}
}

TEST(hist_takes_every_u64)
{
	static const struct {
		u64 value;
		u32 bucket;
	} cases[] = {
		{ 0, 0 },
		{ 1, 0 },
		{ 1023, 0 },
		{ 1024, 0 },
		{ 1025, 1 },
		{ 1536, 1 },
		{ 1537, 2 },
		{ 2048, 2 },
		{ 1ULL << 36, NR_HIST_BUCKETS - 2 },
		{ (1ULL << 36) + 1, NR_HIST_BUCKETS - 1 },
		{ 1ULL << 63, NR_HIST_BUCKETS - 1 },
		{ ~0ULL - 1, NR_HIST_BUCKETS - 1 },
		{ ~0ULL, NR_HIST_BUCKETS - 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_EQ_U64(hist_bucket(cases[i].value), cases[i].bucket);
}

TEST(hist_agrees_with_the_slow_reference_around_powers_of_two)
{
	for (u32 shift = 0; shift < 64; shift++) {
		for (int off = -3; off <= 3; off++) {
			u64 whole = (1ULL << shift) + (u64)(s64)off;
			u64 half = (1ULL << shift) + (1ULL << shift) / 2 + (u64)(s64)off;

			CHECK_EQ_U64(hist_bucket(whole), slow_bucket(whole));
			CHECK_EQ_U64(hist_bucket(half), slow_bucket(half));
		}
	}
}

TEST(hist_agrees_with_the_slow_reference_everywhere)
{
	u64 state = 0x9e3779b97f4a7c15;

	for (u32 i = 0; i < 500000; i++) {
		u64 value = next_random(&state) >> (i % 64);

		if (hist_bucket(value) != slow_bucket(value))
			FAIL("bucket of %llu is %u, want %u", value, hist_bucket(value),
			     slow_bucket(value));
	}
}

TEST(hist_is_monotone)
{
	u64 state = 88172645463325252;

	for (u32 i = 0; i < 500000; i++) {
		u64 a = next_random(&state) >> (i % 64), b = next_random(&state) >> (i % 61);
		u64 low = a < b ? a : b, high = a < b ? b : a;

		if (hist_bucket(low) > hist_bucket(high))
			FAIL("bucket of %llu is above that of %llu", low, high);
	}
}

TEST(hist_quantile_is_at_most_half_too_high)
{
	u64 state = 1442695040888963407;

	/* As documented: a value is above two thirds of the bound that is reported for it. */
	for (u32 i = 0; i < 200000; i++) {
		u64 value = 1025 + next_random(&state) % ((1ULL << 36) - 1024);

		if (hist_bound(hist_bucket(value)) * 2 > value * 3)
			FAIL("bound of %llu is %llu", value, hist_bound(hist_bucket(value)));
	}
}
