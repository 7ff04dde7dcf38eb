"""What a comparison says: which scorer to use and what the dot product does, as findings for whoever tells it.

``compare`` and ``audit`` tell the same, since both ask here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, get_args

from offsphere.base.errors import UnknownNameError
from offsphere.comparison.choice import Choice, choose, difference_p, stay
from offsphere.comparison.row import Row
from offsphere.comparison.units import FEWEST_UNITS, is_of_pairs, unit_of, units_in_all
from offsphere.scoring.index_metric import index_metric
from offsphere.scoring.similarity import Agreement
from offsphere.scoring.transforms import Transform
from offsphere.scoring.transforms.maps import Side
from offsphere.statistics.metrics import parse_metric
from offsphere.statistics.significance import ALPHA
from offsphere.wording.finding import Certainty, Direction, Finding

if TYPE_CHECKING:
    from offsphere.comparison.table import Comparison

DotState = Literal["gains", "loses", "equal", "none"]


def recommended_choice(table: Comparison) -> Choice:
    """Choose what to deploy; the baseline where the task cannot be read, or has too few units to tell anything.

    Args:
        table: of the comparison.

    Returns:
        What ``choose`` chooses where the numbers can carry a choice.
    """
    return choose(table) if has_enough(table) and not is_unreadable(table) else stay(table)


def scorer_findings(table: Comparison, choice: Choice) -> list[Finding]:
    """Say which scorer to use and why, then what else is known of the choice.

    Args:
        table: of the comparison.
        choice: what ``recommended_choice`` says of it.

    Returns:
        The recommendation first.
    """
    return [_recommended(table, choice), *_higher_row(choice), *_declared(table, choice)]


def dot_numbers(table: Comparison) -> dict[str, Any]:
    """Give what the dot product does against the baseline; nothing under each key where it was not compared."""
    dot = row_named(table, "dot")
    if dot is None or dot.p is None or not isfinite(dot.difference) or is_unreadable(table):
        unknown = ("dot", "dot_gain", "dot_low", "dot_high", "dot_p", "dot_value", "baseline_value")
        return dict.fromkeys(unknown) | {"metric": table.metric}
    return {
        "metric": table.metric,
        "dot": dot_state(table, dot),
        "dot_gain": dot.difference,
        "dot_low": dot.difference_low,
        "dot_high": dot.difference_high,
        "dot_p": dot.p,
        "dot_value": dot.value,
        "baseline_value": table[table.baseline].value,
    }


def dot_state(table: Comparison, dot: Row) -> DotState:
    """Tell whether the dot product surely does nothing that matters, surely gains or loses, or cannot be told."""
    if not has_enough(table):
        return "none"
    if -table.worth < dot.difference_low <= dot.difference_high < table.worth:
        return "equal"
    return "gains" if dot.better else "loses" if dot.worse else "none"


def dot_finding(table: Comparison) -> Finding | None:
    """Say what the dot product does against the baseline; nothing where it was not compared or ranks the same."""
    numbers = dot_numbers(table)
    state = numbers["dot"]
    if state is None:
        return None
    direction, certainty = dot_direction(state)
    return Finding(
        topic="length", claim="dot against cosine", numbers=numbers, direction=direction, certainty=certainty
    )


def dot_direction(state: DotState | None) -> tuple[Direction, Certainty]:
    """Give which way a state points, and how sure that is."""
    directions: dict[DotState | None, tuple[Direction, Certainty]] = {
        "gains": ("up", "sure"),
        "loses": ("down", "sure"),
        "equal": ("none", "equal"),
        "none": ("none", "unsure"),
    }
    return directions.get(state, ("none", "unknown"))


def ranks_as_dot(table: Comparison) -> bool:
    """Tell whether the dot product must rank as the baseline does, since all lengths are equal."""
    return "dot" in table[table.baseline].same_ranking_as


def has_enough(table: Comparison) -> bool:
    """Tell whether there are so many queries or pairs that something can be told at all."""
    return units_of(table)[0] >= FEWEST_UNITS


def is_unreadable(table: Comparison) -> bool:
    """Tell whether even the baseline agrees with the gold scores less than chance would, or has no value."""
    baseline = table[table.baseline]
    return not isfinite(baseline.value) or (is_of_pairs(table.task) and baseline.high < 0)


def row_named(table: Comparison, name: str | None) -> Row | None:
    """Find the row of that name; nothing where no such scorer was compared."""
    try:
        return table[name] if name is not None else None
    except UnknownNameError:
        return None


def units_of(table: Comparison) -> tuple[int, str]:
    """Tell how many queries, pairs or episodes there are, and which of these they are."""
    return units_in_all(table.task), unit_of(table.task)


def _recommended(table: Comparison, choice: Choice) -> Finding:
    claim, direction, certainty = _claim(table, choice)
    return Finding(
        topic="scorer",
        claim=claim,
        numbers=_numbers(table, choice),
        direction=direction,
        certainty=certainty,
    )


def _claim(table: Comparison, choice: Choice) -> tuple[str, Direction, Certainty]:
    """Find what can be claimed of the choice: the first of these that is true."""
    procedure, enough = table.procedure, has_enough(table)
    small = (
        procedure is not None and procedure.better and procedure.high < table.worth and procedure.name != table.baseline
    )
    surely = _surely_better(table)
    claims: list[tuple[bool, tuple[str, Direction, Certainty]]] = [
        (is_unreadable(table), ("no choice", "none", "unknown")),
        (choice.by == "procedure", ("better", "up", "sure")),
        (choice.by == "planned", ("planned better", "up", "sure")),
        (choice.by == "row", ("row better", "up", "sure")),
        (ranks_as_dot(table), ("one length", "none", "equal")),
        (len(table.rows) == 1, ("all alike", "none", "equal")),
        (not enough, ("too few to choose", "none", "unknown")),
        (small, ("sure but small", "up", "equal")),
        (table.nothing_worth_having, ("nothing gains enough", "none", "equal")),
        (surely is not None, ("row better, choice unsure", "none", "unsure")),
        (table.best is choice.row, ("nothing higher", "none", "unsure")),
        (True, ("nothing surely better", "none", "unsure")),
    ]
    return next(claim for holds, claim in claims if holds)


def _surely_better(table: Comparison) -> Row | None:
    """Find the first row that is surely better than the baseline, whether that is much or little."""
    return next((row for row in table.rows if row.better), None) if has_enough(table) else None


def _title(row: Row) -> str:
    """Name a row by what it deploys, or by itself where another deploys a scorer of that name too."""
    return row.name if row.namesake else row.deployed


def _numbers(table: Comparison, choice: Choice) -> dict[str, Any]:
    """Gather everything that a sentence on the choice may use."""
    baseline, row, procedure = table[table.baseline], choice.row, table.procedure
    first = _surely_better(table) or table.best
    units, unit = units_of(table)
    by_procedure = procedure is not None and (choice.by == "procedure" or not choice.better)
    used = table.deployed if table.deployed is not None else table.declared
    in_use = row_named(table, used)
    lost = in_use if in_use is not None and in_use.worse and has_enough(table) else None
    keeps = lost.value / baseline.value if lost is not None and 0 <= lost.value < baseline.value else None
    numbers = {
        "metric": table.metric,
        "units": units,
        "unit": unit,
        "made": bool(table.task.get("judgments_made")),
        "baseline": table.baseline,
        "baseline_value": baseline.value,
        "name": choice.name,
        "phrase": choice.scorer.phrase,
        "value": row.value,
        "gain": row.difference if choice.better else None,
        "gain_low": row.difference_low if choice.better else None,
        "gain_high": row.difference_high if choice.better else None,
        "p": row.p,
        "chosen_share": None,  # of all choices, where the gain is that of choosing
        "choices": None,
        "worth": table.worth,
        "most_to_gain": table.most_to_gain,
        "others": len(table.rows) - 1,
        "rows": sum(not other.planned and other is not baseline for other in table.rows),
        "first": _title(first),
        "first_gain": first.difference,
        "first_low": first.difference_low,
        "first_high": first.difference_high,
        "first_p": first.p,
        "first_planned": first.planned,
        "used": used,  # what the index in use is set to; where there is none, what the model declares
        "used_by_index": table.deployed is not None,
        "used_otherwise": in_use is not None and in_use is not baseline and in_use is not row,
        "used_loses": lost is not None,
        "used_keeps": keeps,
        "used_p": lost.p if lost is not None else None,
        **_serving(table, choice),
    }
    if by_procedure and procedure is not None:
        numbers |= {
            "name": procedure.name,
            "value": procedure.value,
            "gain": procedure.gain,
            "gain_low": procedure.low,
            "gain_high": procedure.high,
            "p": procedure.p,
            "chosen_share": procedure.chosen.get(procedure.name, 0.0),
            "choices": procedure.repeats * procedure.folds,
        }
    return numbers


def _serving(table: Comparison, choice: Choice) -> dict[str, Any]:
    """Gather what an index must know to rank as the choice does."""
    scorer = choice.scorer
    level: Agreement = "query" if parse_metric(table.metric).agreement == "query" else "order"
    parts = (*scorer.transforms, scorer.similarity)
    return {
        "served": choice.name,
        "pairs": unit_of(table.task) == "pairs",
        "index": index_metric(scorer, level),
        "lowers": scorer.similarity.lowers,
        "transforms": bool(scorer.transforms),
        "changed": _changed_sides(scorer.transforms),
        "by_name": scorer.is_plain and all(part.by_name for part in parts),
    }


def _changed_sides(transforms: Sequence[Transform]) -> str:
    """Of which vectors something is made before they are compared."""
    queries, documents = (any(part.changes(side) for part in transforms) for side in get_args(Side))
    return "both" if queries == documents else "queries" if queries else "documents"


def _higher_row(choice: Choice) -> list[Finding]:
    """A row of the table that is surely better than the baseline and has a higher value than what is recommended."""
    if not choice.better or choice.best is choice.row or choice.best.value <= choice.row.value:
        return []
    numbers = {
        "name": choice.name,
        "value": choice.row.value,
        "best": _title(choice.best),
        "best_value": choice.best.value,
        "p": choice.p_best,
    }
    sure: Certainty = "sure" if choice.p_best is not None and choice.p_best < ALPHA else "unsure"
    return [Finding(topic="scorer", claim="higher row", numbers=numbers, direction="up", certainty=sure)]


def _declared(table: Comparison, choice: Choice) -> list[Finding]:
    """The recommended scorer against what the model declares, where that is not what it was just compared with."""
    stated = row_named(table, table.declared)
    unknown = stated is None or not isfinite(stated.value) or is_unreadable(table)
    if unknown or stated is None or stated is choice.row or stated.name == table.baseline:
        return []
    p = difference_p(choice.row, stated, table.seed)
    difference = choice.row.value - stated.value
    numbers = {
        "metric": table.metric,
        "declared": table.declared,
        "declared_value": stated.value,
        "name": choice.name,
        "difference": difference,
        "p": p,
    }
    direction: Direction = "up" if difference > 0 else "down" if difference < 0 else "none"
    sure: Certainty = "sure" if p is not None and p < ALPHA and has_enough(table) else "unsure"
    return [Finding(topic="scorer", claim="against declared", numbers=numbers, direction=direction, certainty=sure)]
