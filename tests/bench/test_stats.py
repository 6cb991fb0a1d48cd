#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The statistics of the benchmark: exact on small cases, and no ghosts (T53)."""

import sys

sys.dont_write_bytecode = True

import math
import random

import stats


def medians():
    return stats.median([]) is None and stats.median([3, 1, 2]) == 2 and stats.median([4, 1, 2, 3]) == 2.5


def interval_is_that_of_the_sign_test():
    # The tables of the sign test: n = 6 takes the whole range, n = 20 the 6th and the 15th.
    ten = stats.sign_interval(range(1, 11))
    twenty = stats.sign_interval(range(1, 21))
    return (stats.sign_interval([1, 2, 3, 4, 5, 6])[:2] == (1, 6) and ten[:2] == (2, 9)
            and twenty[:2] == (6, 15) and twenty[2] >= 0.95 and ten[2] >= 0.95)


def few_values_do_not_claim_the_level():
    low, high, level = stats.sign_interval([5, 1, 3])
    return (low, high) == (1, 5) and level == 0.75 and not stats.Summary([5, 1, 3]).excludes(0)


def equal_arms_show_no_effect():
    """T53: of 400 comparisons of an arm with itself, the interval of the ratio holds 1 in 93 % at least."""
    chance = random.Random(53)
    held = 0
    for _ in range(400):
        pairs = []
        for _ in range(20):
            block = math.exp(chance.gauss(0, 0.05))  # drift moves both of a pair
            pairs.append([block * math.exp(abs(chance.gauss(0, 0.03))) for _ in range(2)])
        held += not stats.ratios(pairs).excludes(1)
    return held >= 0.93 * 400


def an_effect_is_found():
    chance = random.Random(54)
    pairs = [(1.02 * math.exp(chance.gauss(0, 0.01)), math.exp(chance.gauss(0, 0.01))) for _ in range(40)]
    return stats.ratios(pairs).excludes(1)


def floor_that_adds_nothing_counts_as_infinite():
    summary = stats.cost_ratios([(3, 2, 1), (3, 2, 1), (3, 1, 1)])
    return summary.median == 2 and summary.high == math.inf


CASES = (medians, interval_is_that_of_the_sign_test, few_values_do_not_claim_the_level, equal_arms_show_no_effect,
         an_effect_is_found, floor_that_adds_nothing_counts_as_infinite)


def main():
    failed = 0
    for case in CASES:
        good = case()
        failed += not good
        print(f"ok {case.__name__}" if good else f"not ok {case.__name__}: wrong")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
