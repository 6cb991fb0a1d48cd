# SPDX-License-Identifier: MIT
"""Medians of pairs and their exact intervals. No distribution is assumed: neighbours make long tails."""

import math


def median(values):
    have = sorted(values)
    n = len(have)
    return None if not n else have[n // 2] if n % 2 else (have[n // 2 - 1] + have[n // 2]) / 2


def sign_interval(values, level=0.95):
    """(low, high, level) between two order statistics around the median, the narrowest that holds it
    with at least `level` (sign test: each value is below its median with probability 1/2). With few
    values nothing reaches the level; then it is the whole range, with the level that it has."""
    have = sorted(values)
    n = len(have)
    if not n:
        return None
    outside, cut = 0.0, 0
    for i in range(n // 2):
        outside += 2 * math.comb(n, i) / 2 ** n
        if outside > 1 - level:
            break
        cut = i + 1
    if not cut:
        return have[0], have[-1], 1 - 2 / 2 ** n
    below = sum(math.comb(n, i) for i in range(cut)) / 2 ** n
    return have[cut - 1], have[n - cut], 1 - 2 * below


class Summary:
    """The median of some values, with its interval."""

    def __init__(self, values):
        self.n = len(values)
        self.median = median(values)
        self.low, self.high, self.level = sign_interval(values) or (None, None, None)

    def as_dict(self):
        return {"n": self.n, "median": self.median, "low": self.low, "high": self.high, "level": self.level}

    def excludes(self, value):
        """Whether the interval is one of 95 % and does not hold the value."""
        return self.n >= 6 and not self.low <= value <= self.high


def ratios(pairs):
    """Of (value, base) pairs."""
    return Summary([value / base for value, base in pairs if base > 0])


def differences(pairs):
    return Summary([value - base for value, base in pairs])


def cost_ratios(triples):
    """(value - base) / (floor - base): how much more is added than the floor adds, of (value, floor, base).

    A block whose floor adds nothing (noise) says that the ratio there is without bound; it counts as such,
    since leaving it out would shift the median."""
    return Summary([(value - base) / (floor - base) if floor > base else math.inf
                    for value, floor, base in triples])
