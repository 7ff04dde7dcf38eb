"""The rules of advice: each looks at the evidence and says what it finds, with the numbers behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, Literal, NamedTuple

from offsphere.base.errors import UnknownNameError
from offsphere.comparison.choice import Choice, difference_p
from offsphere.comparison.table import Comparison, Row
from offsphere.geometry.length import NORMALISED
from offsphere.geometry.shape import Geometry
from offsphere.statistics.power import units_needed

Topic = Literal["scorer", "length", "expectation", "training", "wrong"]

FEWEST_UNITS = 10  # queries or pairs
HUBBY = 3.0  # times the skewness that chance gives (or one)
ROGUE, CONE = 0.5, 0.1  # share of one dimension in the mean cosine, and how large that must be


class Finding(NamedTuple):
    """A sentence, what it is about, and the numbers it rests on."""

    topic: Topic
    sentence: str
    numbers: Mapping[str, Any]


class Case(NamedTuple):
    """Everything there is to judge by."""

    table: Comparison
    shape: Geometry
    choice: Choice
    symmetric: bool
    declared: str | None

    @property
    def units(self) -> tuple[int, str]:
        """How many queries or pairs there are, and which of the two they are."""
        task = self.table.task
        return (int(task["pairs"]), "pairs") if task["kind"] == "pairs" else (int(task["queries"]), "queries")

    def row(self, name: str) -> Row | None:
        """The row of that name, if it was compared."""
        try:
            return self.table[name]
        except UnknownNameError:
            return None

    @property
    def normalised(self) -> bool:
        """Whether length was discarded, so that for this metric the dot product is cosine."""
        lengths = self.shape.lengths
        if not lengths or not lengths[-1].normalised:
            return False
        baseline = self.table[self.table.baseline]
        return "dot" in (baseline.name, *baseline.same_ranking_as)

    @property
    def unreadable(self) -> bool:
        """Whether even the baseline agrees with the gold scores less than chance would, or has no value."""
        baseline = self.table[self.table.baseline]
        return not isfinite(baseline.value) or (self.table.task["kind"] == "pairs" and baseline.high < 0)


def findings_of(case: Case) -> list[Finding]:
    """What every rule says, in their order."""
    return [finding for rule in _RULES for finding in rule(case)]


def _scorer(case: Case) -> list[Finding]:
    """Which scorer, and what it gains over cosine and over what the model declares."""
    table, (row, best, p_best) = case.table, case.choice
    numbers = {"value": row.value, "difference": row.difference, "p": row.p, "metric": table.metric}
    made = ", on judgments that are made, not human" if table.task.get("judgments_made") else ""
    if case.unreadable:
        value = table[table.baseline].value
        why = f"a {table.metric} of {value:.4f}, so the gold scores seem to be distances, or turned round"
        if not isfinite(value):
            why = f"no {table.metric}: it gives all {case.units[0]:,} {case.units[1]} one score, or none"
        said = (
            f"Do not choose by this task: {table.baseline} has {why}. Until that is mended, stay with {table.baseline}."
        )
        return [Finding("scorer", said, numbers)]
    if case.normalised and not row.better:
        return [
            Finding(
                "scorer",
                f"Use the dot product: the vectors are normalised, so it ranks as cosine does ({table.metric} "
                f"{row.value:.4f}) and costs least{made}.",
                numbers,
            )
        ]
    if not row.better:
        first = table.best
        if first is row:
            why = f"nothing ranks better than its {table.metric} of {row.value:.4f}"
        else:
            why = (
                f"no scorer is significantly better than its {table.metric} of {row.value:.4f} (first comes "
                f"{first.deployed} with {_gain(first)}, p = {first.p:.2g} corrected for {len(table.rows) - 1} rows)"
            )
        return [Finding("scorer", f"Use {row.deployed}, the simplest: {why}{made}.", numbers), *_declared(case)]
    found = [
        Finding(
            "scorer",
            f"Use {row.deployed}: {table.metric} {row.value:.4f} against {table[table.baseline].value:.4f} for "
            f"{table.baseline}, {_gain(row)}, p = {row.p:.2g} corrected for {len(table.rows) - 1} rows{made}.",
            numbers,
        )
    ]
    if best is not row:
        found.append(
            Finding(
                "scorer",
                f"{best.deployed} has the highest value ({best.value:.4f}), but is not significantly better than "
                f"{row.deployed} (p = {p_best:.2g}), which is simpler to serve.",
                {"best": best.value, "p": p_best},
            )
        )
    return found + _declared(case)


def _declared(case: Case) -> list[Finding]:
    """Against what the model declares, where that is not what was just compared with."""
    row = case.row(case.declared) if case.declared is not None else None
    chosen = case.choice.row
    if row is None or row is chosen or row.name == case.table.baseline:
        return []
    p = difference_p(chosen, row, case.table.seed)
    sure = f" (p = {p:.2g} for these two alone)" if p is not None else ""
    return [
        Finding(
            "scorer",
            f"The model declares {case.declared}, which reaches {case.table.metric} {row.value:.4f}: the recommended "
            f"one differs by {chosen.value - row.value:+.4f}{sure}.",
            {"declared": row.value, "p": p},
        )
    ]


def _length(case: Case) -> list[Finding]:
    """Whether length carries relevance, and whether that survives the control for text length."""
    if case.normalised:
        return [Finding("length", f"What length is worth cannot be told: {NORMALISED}.", {})]
    found = case.shape.relevance
    dot = case.row("dot")
    against = ""
    if dot is not None and dot.p is not None:
        against = f"; the plain dot product {_verb(dot)} against cosine (p = {dot.p:.2g})"
    if found is None:
        if dot is None or dot.p is None:
            return [Finding("length", "Length and relevance were not measured here.", {})]
        worth = "helps" if dot.better else "hurts" if dot.worse else "makes no difference that could be told"
        numbers = {"difference": dot.difference, "p": dot.p}
        return [
            Finding("length", f"Length {worth}: the dot product differs by {_gain(dot)} (p = {dot.p:.2g}).", numbers)
        ]
    control = found.d_adjusted if found.d_adjusted is not None else found.d
    numbers = {"d": found.d.value, "d_adjusted": control.value, "within": found.within.d.value}
    if not found.d.excludes_zero:
        said = f"Between the lengths of relevant documents and others no difference was found (d = {found.d})"
    else:
        way = "longer" if found.d.value > 0 else "shorter"
        said = f"Relevant documents have {way} vectors (d = {found.d})"
        if found.d_adjusted is not None:
            survives = found.d_adjusted.excludes_zero and found.d_adjusted.value * found.d.value > 0
            if survives:
                said += f", and that survives the control for text length (d = {found.d_adjusted})"
            elif found.in_disguise:
                said += f", but only as text length in disguise (controlled for it, d = {found.d_adjusted})"
            else:
                said += (
                    f", which cannot be told from chance once text length is controlled for (d = {found.d_adjusted})"
                )
    return [Finding("length", f"{said}{against}.", numbers)]


def _expectation(case: Case) -> list[Finding]:
    """The rule of task symmetry, stated and then confronted with the measurement."""
    dot = case.row("dot")
    if case.normalised or case.unreadable or dot is None or dot.p is None:
        sides = "two sides that could be exchanged" if case.symmetric else "two sides with different roles"
        return [Finding("expectation", f"This is a task of {sides}; the vectors cannot say whether length helps.", {})]
    numbers = {"difference": dot.difference, "p": dot.p, "symmetric": case.symmetric}
    measured = f"the dot product {_verb(dot)} (p = {dot.p:.2g})"
    if case.symmetric:
        rule = "The two sides could be exchanged, so length is expected to hurt"
        agrees = dot.worse
        opposed = dot.better
    else:
        rule = "The two sides have different roles, so length may help if the model was trained to use it"
        agrees = dot.better
        opposed = dot.worse
    units, unit = case.units
    if units < FEWEST_UNITS:
        said = f"{rule}; with {units} {unit} it cannot be told ({measured})."
    elif agrees:
        said = f"{rule}, and it does: {measured}."
    elif opposed:
        said = f"{rule}; measured, it is the other way round: {measured}. Believe the measurement."
    else:
        said = f"{rule}; measured, no difference was found: {measured}."
    return [Finding("expectation", said, numbers)]


def _training(case: Case) -> list[Finding]:
    """Which side to normalise when one fine-tunes."""
    if case.symmetric:
        return [
            Finding(
                "training",
                "If you fine-tune, normalise both sides: on a symmetric task a one-sided score depends on the order of "
                "the pair (Spearman on STS-B .788 for cosine against .413 and .371 one-sided, Feng & Watanabe 2026).",
                {"symmetric": True},
            )
        ]
    found, documents = case.shape.relevance, case.shape.lengths[-1] if case.shape.lengths else None
    if found is None or documents is None:
        said = (
            "If you fine-tune, start with both sides normalised, and try the query side alone as the second run: the "
            "two sides have different roles, where models have learnt to use document length (Feng & Watanabe 2026: "
            "BRIGHT nDCG@10 7.4 with cosine, 12.7 with the query normalised); these vectors cannot say more."
        )
        return [Finding("training", said, {})]
    within = (found.within_adjusted or found.within).d
    numbers = {"within": within.value, "variation": documents.variation}
    if within.excludes_zero and within.value > 0:
        said = (
            "If you fine-tune, normalise the query only and keep document length: among documents that cosine ranks "
            f"together the relevant ones are longer (d = {within}), and lengths vary (CV {documents.variation:.2f})."
        )
    else:
        said = (
            "If you fine-tune, start with both sides normalised and try the query side alone as the second run: "
            f"today's lengths do not favour relevant documents (within queries d = {within}, CV "
            f"{documents.variation:.2f}), but on tasks with two roles models have learnt to use document length "
            "(Feng & Watanabe 2026)."
        )
    return [Finding("training", said, numbers)]


def _wrongly_served(case: Case) -> list[Finding]:
    """A model that was made for one thing and is served by another, or whose length was thrown away."""
    found: list[Finding] = []
    dot, dual = case.row("dot"), case.shape.dual
    if case.normalised:
        found.append(Finding("wrong", f"Every length is the same: {NORMALISED}.", {}))
    if case.declared == "cosine" and dot is not None and dot.worse:
        found.append(
            Finding(
                "wrong",
                f"The model was made for cosine: served by inner product on raw vectors it loses {-dot.difference:.4f} "
                f"{case.table.metric} (p = {dot.p:.2g}). Check that your index normalises, or is set to cosine.",
                {"difference": dot.difference, "p": dot.p},
            )
        )
    if dual is not None and dual.warning is not None:
        found.append(Finding("wrong", f"{dual.warning[0].upper()}{dual.warning[1:].rstrip('?.')}.", {"p": dual.p}))
    return found


def _hubs(case: Case) -> list[Finding]:
    """Documents that are everywhere, under cosine or what is recommended."""
    return [
        Finding(
            "wrong",
            f"Hubs under {row.scorer}: {row.hub_count} documents are in {2 * row.k} or more of {row.queries:,} lists, "
            f"the worst, {row.worst[0].id!r}, in {row.worst[0].occurrences} (skewness {row.skewness:.1f}, by chance "
            f"{row.chance['skewness']:.1f}).",
            {"skewness": row.skewness},
        )
        for row in case.shape.hubness
        if row.hub_count
        and row.skewness > HUBBY * max(row.chance["skewness"], 1.0)
        and row.scorer in ("cosine", case.choice.row.deployed)
    ]


def _rogue_dimensions(case: Case) -> list[Finding]:
    """A dimension that makes most of the cone."""
    return [
        Finding(
            "wrong",
            f"A rogue dimension on the {side.side} side: dimension {side.order[0]} makes "
            f"{side.cumulative_shares['1']:.0%} of the mean cosine of {side.mean_cosine:.2f}. Centring or whitening "
            "takes it out.",
            {"share": side.cumulative_shares["1"]},
        )
        for side in case.shape.dimensions
        if side.mean_cosine > CONE and side.cumulative_shares["1"] > ROGUE
    ]


def _too_few(case: Case) -> list[Finding]:
    """How many more queries would tell."""
    first, (units, unit) = _unproven(case), case.units
    if units < FEWEST_UNITS:
        said = f"{units} {unit} are too few to tell anything: give at least {FEWEST_UNITS}, better some hundred."
        return [Finding("wrong", said, {"have": units})]
    needed = None
    if first is not None:
        needed = units_needed(first.difference, first.difference_low, first.difference_high, units)
    if first is None or needed is None or needed <= units:
        return []
    return [
        Finding(
            "wrong",
            f"{units:,} {unit} are too few to tell: if {first.deployed} really gains {first.difference:+.4f}, about "
            f"{needed:,} {unit} ({needed - units:,} more) would show it in four of five tries if it is tested "
            "alone (among all rows it takes more).",
            {"needed": needed, "have": units},
        )
    ]


def _unproven(case: Case) -> Row | None:
    """The row that comes first without being significantly better; nothing where one is."""
    first = case.table.best
    if case.choice.row.better or first.name == case.table.baseline or first.p is None or first.difference <= 0:
        return None
    return first


_RULES: tuple[Callable[[Case], list[Finding]], ...] = (
    _scorer,
    _length,
    _expectation,
    _training,
    _wrongly_served,
    _hubs,
    _rogue_dimensions,
    _too_few,
)


def _verb(row: Row) -> str:
    """What it does against the baseline."""
    if f"{row.difference:.4f}".strip("-0.") == "":
        return "neither gains nor loses"
    return f"{'gains' if row.difference > 0 else 'loses'} {abs(row.difference):.4f}"


def _gain(row: Row) -> str:
    return f"{row.difference:+.4f} [{row.difference_low:+.4f}, {row.difference_high:+.4f}]"
