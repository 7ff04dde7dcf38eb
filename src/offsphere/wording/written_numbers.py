"""Numbers as people read them: a change with its interval, a share, how far chance could explain it."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from offsphere.statistics.significance import ALPHA

Numbers = Mapping[str, Any]  # what a sentence is made of, by name

FIRM = 0.005  # below it, nobody need ask again
VERY, FAIRLY, CHANCE = "very sure", "fairly sure", "may be chance"  # the one scale of certainty


def signed(value: float) -> str:
    """Write a change with its sign, to four places; what rounds to nothing has none."""
    text = f"{value:+.4f}"
    return "0.0000" if text.strip("+-0.") == "" else text


def with_interval(value: float, low: float | None, high: float | None) -> str:
    """Write a change and the interval that holds it in 95 of 100 such studies."""
    if low is None or high is None or not (isfinite(low) and isfinite(high)):
        return signed(value)
    return f"{signed(value)} [{signed(low)}, {signed(high)}]"


def effect(numbers: Mapping[str, Any], name: str) -> str:
    """Write an effect size and its interval, from ``name``, ``name_low`` and ``name_high``."""
    value, low, high = (numbers[key] for key in (name, f"{name}_low", f"{name}_high"))
    if low is None or high is None or not (isfinite(low) and isfinite(high)):
        return f"d = {value:.3f}"
    return f"d = {value:.3f} [{low:.3f}, {high:.3f}]"


def chance(p: float) -> str:
    """Write a p to two digits, or to as many as show on which side of 0.05 it is."""
    if p < 0.000095:  # noqa: PLR2004
        return "p < 0.0001"
    return f"p = {chance_alone(p)}"


def chance_alone(p: float) -> str:
    """Write a p as a cell of a table: to two digits, or to as many as show on which side of 0.05 it is."""
    digits = next(d for d in (2, 3, 4, 17) if (float(f"{p:.{d}g}") < ALPHA) == (p < ALPHA))
    return f"{p:.{digits}g}"


def certainty(p: float) -> str:
    """Say how sure a difference is, on one scale of three for every sentence."""
    return VERY if p < FIRM else FAIRLY if p < ALPHA else CHANCE


def share(part: float) -> str:
    """Write a share in whole percent; small ones with one place."""
    if 0 < abs(part) < 0.0005:  # noqa: PLR2004
        return "less than 0.1 %"
    return f"{part:.1%}".replace("%", " %") if 0 < abs(part) < 0.0995 else f"{part:.0%}".replace("%", " %")  # noqa: PLR2004


def better_range(low: float, high: float) -> str:
    """Write the ends of an interval of gains as shares: ``between 1.0 % and 11 %``; a loss is called one."""
    if low < 0 <= high:
        return f"between {share(-low)} worse and {share(high)} better"
    return f"between {share(low)} and {share(high)}"


def smallest_gain(value: float) -> str:
    """Write the smallest gain that matters, to four digits and never as a power of ten."""
    text = f"{value:.4g}"
    return f"{value:.12f}".rstrip("0") if "e-" in text else text


def expected_count(count: float) -> str:
    """Write how many there would be on average: whole numbers, small ones with one place, next to none in words."""
    if count < 0.05:  # noqa: PLR2004
        return "hardly any"
    return f"{count:,.1f}" if count < 9.95 else f"{count:,.0f}"  # noqa: PLR2004


def in_words(count: int) -> str:
    """Write small numbers out."""
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[count] if 0 <= count < len(words) else f"{count:,}"
