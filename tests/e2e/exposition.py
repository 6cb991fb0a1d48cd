# SPDX-License-Identifier: MIT
"""A strict reader of the two text formats of Prometheus, independent of the program under test.

It refuses whatever the formats forbid, and also what they allow but a careful exporter does not do: blank
lines, comments, timestamps, families without HELP or TYPE. Text 0.0.4 is described in Prometheus'
docs/instrumenting/exposition_formats.md, OpenMetrics 1.0.0 in its specification.
"""

import collections
import functools
import re


class Malformed(Exception):
    """Where the text breaks which rule."""


NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\.)*)"')
INTEGER = re.compile(r"-?[0-9]+")
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]Inf|NaN")
BRACES = re.compile(r'\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\}')  # a brace inside quotes ends nothing
ESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}

# Which endings a sample may have, by the type of its family.
ENDINGS_TEXT = {"counter": ("",), "gauge": ("",), "untyped": ("",), "histogram": ("_bucket", "_sum", "_count")}
ENDINGS_OPENMETRICS = {"counter": ("_total", "_created"), "gauge": ("",), "info": ("_info",),
                       "histogram": ("_bucket", "_sum", "_count", "_created")}


class Family:
    def __init__(self, name):
        self.name, self.type, self.help, self.unit = name, None, None, None
        self.samples = []  # (name, labels, value), labels a tuple of pairs in the order of the text


def number(text, line):
    """int where the text is one, so that counts above 2^53 compare exactly."""
    if INTEGER.fullmatch(text):
        return int(text)
    if not NUMBER.fullmatch(text):
        raise Malformed(f"not a number: {line!r}")
    return float(text.replace("Inf", "inf"))


def unescape(text):
    def one(match):
        if match.group() not in ESCAPES:
            raise Malformed(f"unknown escape {match.group()!r}: {text!r}")
        return ESCAPES[match.group()]

    return re.sub(r"\\.", one, text) if "\\" in text else text


def labels_of(text):
    labels, at = [], 0
    while at < len(text):
        match = LABEL.match(text, at)
        if not match:
            raise Malformed(f"bad labels at column {at}: {text!r}")
        labels.append((match.group(1), unescape(match.group(2))))
        at = match.end()
        if at < len(text):
            if text[at] != "," or at + 1 == len(text):
                raise Malformed(f"labels are not separated by commas: {text!r}")
            at += 1
    names = [name for name, _ in labels]
    if len(set(names)) != len(names):
        raise Malformed(f"a label name twice: {text!r}")
    return tuple(labels)


@functools.lru_cache(maxsize=100000)  # a scrape has the series of the one before
def series_of(text):
    """The name and labels before the value."""
    match = NAME.match(text)
    if not match:
        raise Malformed(f"no metric name: {text!r}")
    rest, labels = text[match.end():], ()
    if rest:
        braces = BRACES.fullmatch(rest)
        if not braces or not braces.group(1):
            raise Malformed(f"want labels in braces, one space, one value, and no timestamp: {text!r}")
        labels = labels_of(braces.group(1))
    return match.group(), labels


def take_comment(line, families, current, openmetrics):
    words = line.split(" ", 3)
    if len(words) < 4 or words[1] not in ("HELP", "TYPE", "UNIT") or (words[1] == "UNIT" and not openmetrics):
        raise Malformed(f"a comment that is none of the format's: {line!r}")
    _, what, name, rest = words
    if current is None or current.name != name:
        if name in families:
            raise Malformed(f"the family comes a second time: {line!r}")
        if not NAME.fullmatch(name):
            raise Malformed(f"bad name: {line!r}")
        current = families[name] = Family(name)
    if current.samples:
        raise Malformed(f"{what} after the samples: {line!r}")
    if getattr(current, what.lower()) is not None:
        raise Malformed(f"{what} twice: {line!r}")
    if what == "UNIT" and not name.endswith("_" + rest):
        raise Malformed(f"the unit is not the end of the name: {line!r}")
    setattr(current, what.lower(), rest)
    return current


def take_sample(line, current, openmetrics):
    series, space, value = line.rpartition(" ")
    if not space:
        raise Malformed(f"a sample without a value: {line!r}")
    name, labels = series_of(series)
    if current is None or current.type is None or current.help is None:
        raise Malformed(f"a sample without HELP and TYPE before it: {line!r}")
    endings = (ENDINGS_OPENMETRICS if openmetrics else ENDINGS_TEXT).get(current.type)
    if endings is None:
        raise Malformed(f"unknown type {current.type} of {current.name}")
    if not name.startswith(current.name) or name[len(current.name):] not in endings:
        raise Malformed(f"a sample of another family below {current.name}: {line!r}")
    current.samples.append((name, labels, number(value, line)))


def check_duplicates(family):
    names = collections.Counter((name, frozenset(labels)) for name, labels, _ in family.samples)
    twice = [key for key, n in names.items() if n > 1]
    if twice:
        raise Malformed(f"a series twice: {twice[0]}")


@functools.lru_cache(maxsize=100000)
def without_le(labels):
    return tuple(pair for pair in labels if pair[0] != "le")


def check_grouping(family):
    """The samples of one set of labels stand together."""
    seen, last = set(), None
    for _, labels, _ in family.samples:
        key = without_le(labels)
        if key != last and key in seen:
            raise Malformed(f"samples of {family.name}{dict(key)} are interleaved with others")
        seen.add(key)
        last = key


def check_histogram(family, openmetrics):
    groups = collections.defaultdict(lambda: ([], {}))
    for name, labels, value in family.samples:
        buckets, others = groups[without_le(labels)]
        if name == family.name + "_bucket":
            bound = dict(labels).get("le")
            if bound is None or not NUMBER.fullmatch(bound):
                raise Malformed(f"a bucket of {family.name} with le={bound!r}")
            if openmetrics and not re.search(r"[.e]|Inf", bound):
                raise Malformed(f"le={bound!r} of {family.name} is not written as a float")
            buckets.append((float(bound.replace("Inf", "inf")), value))
        else:
            others[name[len(family.name):]] = value
    for key, (buckets, others) in groups.items():
        where = f"{family.name}{dict(key)}"
        bounds, counts = [b for b, _ in buckets], [n for _, n in buckets]
        if not bounds or bounds[-1] != float("inf"):
            raise Malformed(f"{where} does not end with +Inf")
        if bounds != sorted(set(bounds)):
            raise Malformed(f"bounds of {where} do not grow")
        if counts != sorted(counts) or not all(isinstance(n, int) and n >= 0 for n in counts):
            raise Malformed(f"counts of {where} are not cumulative: {counts}")
        if others.get("_count") != counts[-1] or "_sum" not in others or others["_sum"] < 0:
            raise Malformed(f"{where}: count {others.get('_count')}, sum {others.get('_sum')}, +Inf {counts[-1]}")


def check_values(family, openmetrics):
    for name, labels, value in family.samples:
        if value != value or value in (float("inf"), float("-inf")):
            raise Malformed(f"{name}{dict(labels)} is {value}")
        if family.type in ("counter", "histogram") and value < 0:
            raise Malformed(f"{name}{dict(labels)} is negative: {value}")
        if family.type == "info" and value != 1:
            raise Malformed(f"{name}{dict(labels)} is {value}, not 1")
    if family.type == "counter" and not openmetrics and not family.name.endswith("_total"):
        raise Malformed(f"the counter {family.name} does not end in _total")


def check_family(family, openmetrics):
    if family.type is None or not family.help or not family.samples:
        raise Malformed(f"{family.name} lacks its type, help or samples")
    check_duplicates(family)
    check_grouping(family)
    check_values(family, openmetrics)
    if family.type == "histogram":
        check_histogram(family, openmetrics)


def parse(body, openmetrics=False):
    """The families of a body (bytes), by name; raises Malformed."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as err:
        raise Malformed(f"not UTF-8: {err}") from None
    if not text.endswith("\n"):
        raise Malformed("the last line has no end")
    lines = text[:-1].split("\n")
    if openmetrics:
        if lines.pop() != "# EOF":
            raise Malformed("does not end with # EOF")
    families, current = {}, None
    for line in lines:
        if line.startswith("#"):
            current = take_comment(line, families, current, openmetrics)
        else:
            take_sample(line, current, openmetrics)
    for family in families.values():
        check_family(family, openmetrics)
    return families
