"""Lies: numbers of a case that are changed after its sentences were made, so that a sentence about them is false."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import numpy as np

from offsphere.comparison.units import unit_of, units_in_all
from offsphere.engines.deployed.lengths_at_hand import LengthsAtHand
from offsphere.engines.metric import Metric
from offsphere.statistics.estimate import Estimate
from tests.auditing.reader import p_of


def _table(case, **changes):
    return replace(case, table=replace(case.table, **changes))


def _rows(case, change, name=None):
    """Change the row of that name; without one, all but the baseline."""
    chosen = lambda row: row.p is not None if name is None else name in (row.name, *row.same_ranking_as)  # noqa: E731
    return _table(case, rows=[change(row) if chosen(row) else row for row in case.table.rows])


def _turn_row(row):
    low, high = -row.difference_high, -row.difference_low
    return replace(row, difference=-row.difference, difference_low=low, difference_high=high)


def _turn(thing):
    return replace(thing, gain=-thing.gain, low=-thing.high, high=-thing.low)


def turn_dot(case):
    """The dot product gains what it lost, and the other way round."""
    dot = _dot(case)
    return _rows(case, _turn_row, "dot") if dot is not None and abs(dot.difference) > 0.0001 else None


def doubt_dot(case):
    """What was sure of the dot product is luck, and what was luck or nothing is sure."""
    dot = _dot(case)
    if dot is None:
        return None
    far = 10 * (abs(dot.difference) + case.table.worth)
    if dot.p < 0.05:
        return _rows(case, lambda row: replace(row, difference_low=-far, difference_high=far, p=0.5), "dot")
    sure = {"difference": far, "difference_low": far / 2, "difference_high": 2 * far, "p": 0.001}
    return _rows(case, lambda row: replace(row, **sure), "dot")


def level_dot(case):
    """The dot product surely changes nothing that matters; or it may, where it did not."""
    dot, task = _dot(case), case.table.task
    if dot is None or units_in_all(task) < 10:
        return None
    level = -case.table.worth < dot.difference_low and dot.difference_high < case.table.worth
    far = case.table.worth * (10 if level else 0.5)
    return _rows(case, lambda row: replace(row, difference_low=-far, difference_high=far, p=0.5), "dot")


def turn_procedure(case):
    """The choice loses what it gained."""
    procedure = case.table.procedure
    return _table(case, procedure=_turn(procedure)) if procedure is not None and procedure.gain else None


def doubt_procedure(case):
    """The gain of the choice is luck."""
    procedure = case.table.procedure
    return _table(case, procedure=replace(procedure, p=0.4)) if procedure is not None and procedure.p < 0.05 else None


def choose_otherwise(case):
    """The choice fell on something else more often, or less."""
    procedure = case.table.procedure
    part = procedure.chosen.get(procedure.name, 0.0)
    chosen = {procedure.name: 0.4, "another": 0.6} if part != 0.4 else {procedure.name: 1.0}
    return _table(case, procedure=replace(procedure, chosen=chosen))


def turn_rows(case):
    """All rows turn."""
    return _rows(case, _turn_row)


def doubt_rows(case):
    """What is better may be luck."""
    return _rows(case, lambda row: replace(row, p=0.6) if row.p < 0.05 else row)


def prove_rows(case):
    """Every row is surely better."""
    return _rows(case, lambda row: replace(row, difference=0.2, difference_low=0.1, difference_high=0.3, p=0.001))


def raise_rows(case):
    """Every row has a higher value."""
    return _rows(case, lambda row: replace(row, value=row.value + 0.3, difference=0.3))


def raise_bound(case):
    """The best may gain more than matters."""
    return _table(case, most_to_gain=2 * case.table.worth)


def raise_baseline(case):
    """What all are held against has another value."""
    return _table(case, rows=[replace(r, value=r.value + 0.1) if r.p is None else r for r in case.table.rows])


def lift_baseline(case):
    """The gold scores agree with what all are held against after all."""
    return _table(case, rows=[replace(r, value=0.4, low=0.3, high=0.5) if r.p is None else r for r in case.table.rows])


def part_dot(case):
    """The dot product does not rank as cosine."""
    return _table(case, rows=[replace(row, same_ranking_as=()) for row in case.table.rows])


def doubt_pair(pair):
    """Two rows that could be told apart query by query cannot be, and two that could not surely can."""

    def doubted(case):
        first, second = pair(case)
        if units_in_all(case.table.task) < 9:  # which nothing could tell apart
            return None
        if first is None or second is None or first.values is None or second.values is None:
            return None
        far = 10 * np.abs(first.values - second.values).max()
        waves = far * (-1.0) ** np.arange(len(first.values)) if p_of(first.values - second.values) < 0.05 else far + 1
        return _rows(case, lambda row: replace(row, values=second.values + waves), first.name)

    doubted.__doc__ = doubt_pair.__doc__
    return doubted


def _chosen_and_best(case):
    return case.advice.choice.row, case.advice.choice.best


def _chosen_and_declared(case):
    rows = [row for row in case.table.rows if case.table.declared in (row.name, *row.same_ranking_as)]
    return case.advice.choice.row, rows[0] if rows else None


def forget_values(case):
    """There is no value a query, so that two rows cannot be tested."""
    if all(row.values is None for row in case.table.rows):
        return None
    return _table(case, rows=[replace(row, values=None) for row in case.table.rows])


def add_row(case):
    """One more was compared."""
    row = case.table.rows[0]
    return _table(case, rows=[row, replace(row, name="another", p=0.5)])


def exchange(case):
    """The sides could be exchanged where they could not, and the other way round."""
    return replace(case, symmetric=not case.symmetric)


def undeclare(case):
    """The model declares nothing."""
    return _table(case, declared=None)


def many_units(case):
    """There are enough queries."""
    return _units(case, 5_000)


def few_units(case):
    """There is a handful of queries."""
    return _units(case, 3)


def vary_lengths(case):
    """Lengths vary."""
    return _shape(case, lengths=[replace(side, variation=0.3, normalised=False) for side in case.shape.lengths])


def measure_relevance(case):
    """Relevance was measured after all, and may be told."""
    known, effect = case.shape.relevance, Estimate(0.3, 0.2, 0.4)
    return many_units(_shape(case, relevance=replace(known, d=effect, made=False))) if known is not None else None


def more_hubs(case):
    """There is one hub more."""
    return _shape(case, hubness=[replace(row, hub_count=row.hub_count + 1) for row in case.shape.hubness])


def hubs_by_chance(case):
    """Chance makes as many hubs."""
    rows = case.shape.hubness
    return _shape(case, hubness=[replace(row, chance={**row.chance, "hubs": row.hub_count}) for row in rows])


def share_out(case):
    """No dimension makes most of the mean cosine."""
    sides = case.shape.dimensions
    return _shape(case, dimensions=[replace(side, contributions=side.contributions * 0.1) for side in sides])


def widen_choice(case):
    """The gain of the choice is known less well, so that other numbers of queries would show it."""
    procedure = case.table.procedure
    ends = {"low": procedure.low - 1, "high": procedure.high + 1, "error": procedure.error + 1 / procedure.reach}
    return _table(case, procedure=replace(procedure, **ends))


def raise_worth(case):
    """A larger gain matters."""
    return _table(case, worth=case.table.worth * 1_000 + 1)


def turn_effect(name):
    """Relevant ones are shorter where they were longer."""

    def turned(case):
        estimate = _effect(case, name)
        if estimate is None or isnan(estimate.value) or abs(estimate.value) < 0.001:
            return None
        ends = (None, None) if estimate.low is None else (-estimate.high, -estimate.low)
        return _with_effect(case, name, Estimate(-estimate.value, *ends))

    return turned


def cross_effect(name):
    """An interval moves across zero, or away from it."""

    def crossed(case):
        estimate = _effect(case, name)
        if estimate is None or isnan(estimate.value):
            return None
        far = abs(estimate.value) + 1
        certain = Estimate(estimate.value, far / 2, 2 * far)
        return _with_effect(case, name, Estimate(estimate.value, -far, far) if estimate.excludes_zero else certain)

    return crossed


def cover(case):
    """The judgments were made, and cover the corpus."""
    relevance = case.shape.relevance
    return _shape(case, relevance=replace(relevance, made=True, relevant=233, others=7)) if relevance else None


def raise_costs(case):
    """Storing may cost as much as matters."""
    return _stored(case, lambda row: replace(row, costs_at_most=2 * case.table.worth + abs(row.costs_at_most)))


def lower_costs(case):
    """Storing costs nothing, whatever the form."""
    return _stored(case, lambda row: replace(row, costs_at_most=-1.0))


def swell(case):
    """A stored vector takes a byte more."""
    return _stored(case, lambda row: replace(row, vector_bytes=row.vector_bytes + 1))


def move_stored(case):
    """What is stored changes by something else."""
    return _stored(case, lambda row: replace(row, change=row.change + 0.1))


def forget_forms(case):
    """No form was measured."""
    return _table(case, stored=[])


def move_lists(case):
    """Other systems differ by something else."""
    return _lists(case, lambda row: replace(row, over_chosen=row.over_chosen + 0.1))


def turn_lists(case):
    """What was surely different is luck, and the other way round."""
    other = lambda p: 0.5 if p < 0.05 else 0.001  # noqa: E731
    return _lists(
        case,
        lambda row: replace(
            row, p=other(row.p), over_chosen_p=None if row.over_chosen_p is None else other(row.over_chosen_p)
        ),
    )


def forget_lists(case):
    """There are no other systems."""
    return _table(case, lists=[])


def reset_index(case):
    """The index is set to another metric."""
    deployment = case.deployment
    others = [metric for metric in Metric if metric is not deployment.metric]
    return replace(case, deployment=replace(deployment, metric=others[0]))


def remake(case):
    """The index holds what was made for another scorer."""
    other = "norm-mix(0.9)" if case.deployment.made_for != "norm-mix(0.9)" else ""
    return replace(case, deployment=replace(case.deployment, made_for=other))


def keep_lengths(case):
    """Lengths are still there."""
    return replace(case, deployment=replace(case.deployment, lengths="kept", variation=0.4))


def lose_lengths(case):
    """Lengths are gone."""
    return replace(case, deployment=replace(case.deployment, lengths="lost before", variation=0.0))


def other_loser(case):
    """Somebody else lost the lengths."""
    who = "lost before" if case.deployment.lengths == "lost in the engine" else "lost in the engine"
    return replace(case, deployment=replace(case.deployment, lengths=who))


def answer_less(case):
    """The index returns less."""
    seen = case.deployment.answers
    return replace(case, deployment=replace(case.deployment, answers=seen._replace(recall=seen.recall - 0.01)))


def come_short(case):
    """One more query gets too few."""
    seen = case.deployment.answers
    return replace(case, deployment=replace(case.deployment, answers=seen._replace(short=seen.short + 1)))


def ask_more(case):
    """It was asked for more."""
    return replace(case, deployment=replace(case.deployment, k=case.deployment.k + 1))


def turn_lengths(case):
    """What lengths gained they lose, or are worth something that nobody knew."""
    worth = case.deployment.at_hand or LengthsAtHand("here", "ndcg@10", 0.2, 0.1, 0.3, 0.001)
    turned = worth._replace(gain=0.1 - worth.gain, low=0.1 - worth.high, high=0.1 - worth.low)
    return replace(case, deployment=replace(case.deployment, at_hand=turned))


def miss_more(case):
    """One more document is missing, and one more vector unknown."""
    deployment = case.deployment
    return replace(case, deployment=replace(deployment, missing=deployment.missing + 1, unknown=deployment.unknown + 1))


def turn_all(case):
    """What was gained was lost, by rows and by the choice."""
    return turn_rows(turn_procedure(case) or case)


def doubt_all(case):
    """What was sure is luck, of rows and of the choice."""
    return doubt_rows(doubt_procedure(case) or case)


def raise_most(case):
    """There may be more in the documents."""
    ceiling = case.shape.ceiling
    return _shape(case, ceiling=replace(ceiling, most=ceiling.most + 2 * case.table.worth + 0.001))


def lower_most(case):
    """There can be nothing in the documents that matters."""
    return _shape(case, ceiling=replace(case.shape.ceiling, most=case.table.worth / 2))


def lower_worth(case):
    """A smaller gain matters."""
    most = case.shape.ceiling.most
    return _table(case, worth=most / 2) if most > 0.0001 else None


def want_again(case):
    """Documents are wanted by others, or by nobody else."""
    spread = case.shape.ceiling.spread
    again = 0.7 if spread.wanted_again < 0.05 else 0.0
    return _shape(case, ceiling=replace(case.shape.ceiling, spread=replace(spread, wanted_again=again)))


def turn_curve(case):
    """The curve of length loses what it gained."""
    turned = lambda row: row._replace(gain=Estimate(-row.gain.value, -row.gain.high, -row.gain.low))  # noqa: E731
    return _kinds(case, turned, {"length"})


def doubt_curve(case):
    """What the curve of length gains is luck."""
    return _kinds(case, lambda row: row._replace(p=0.6), {"length"})


def beat_curve(case):
    """A bias surely gains more than the curve."""
    ceiling = case.shape.ceiling
    most = max(row.gain.value for row in ceiling.rows)
    rows = [*(row for row in ceiling.rows if row.kind != "bias"), ceiling.rows[0]._replace(
        kind="bias", gain=Estimate(most + 1, most + 0.5, most + 2), p=0.001)]  # fmt: skip
    return _shape(case, ceiling=replace(ceiling, rows=rows))


def prove_curve(case):
    """The curve of length surely gains."""
    far = Estimate(0.9, 0.8, 1.0)
    changed = _kinds(case, lambda row: row._replace(gain=far, p=0.001), {"length"})
    return changed if any(row.kind == "length" for row in case.shape.ceiling.rows) else None


def prove_documents(case):
    """What may be luck is sure, whatever the kind."""
    far = Estimate(0.9, 0.8, 1.0)
    return _kinds(case, lambda row: row._replace(gain=far, p=0.001))


def doubt_documents(case):
    """What was sure is luck, whatever the kind."""
    if not any(row.p < 0.05 and row.gain.value > 0 for row in case.shape.ceiling.rows):
        return None
    return _kinds(case, lambda row: row._replace(p=0.6))


def turn_nature(case):
    """Prior and correction change places, or neither gains surely."""
    rows = case.shape.ceiling.rows
    if not any(row.kind in ("prior", "correction") and row.p < 0.05 and row.gain.value > 0 for row in rows):
        return None
    return _kinds(case, lambda row: row._replace(p=0.6), {"prior", "correction"})


def _kinds(case, change, kinds=("prior", "correction", "bias", "weight", "length")):
    ceiling = case.shape.ceiling
    rows = [change(row) if row.kind in kinds else row for row in ceiling.rows]
    return _shape(case, ceiling=replace(ceiling, rows=rows))


EFFECTS = ("d", "d_adjusted", "within", "within_adjusted")
LIES = {
    "better": (choose_otherwise, turn_procedure, doubt_procedure, raise_baseline, few_units, raise_worth),
    "planned better": (turn_rows, doubt_rows, raise_baseline, few_units, raise_worth),
    "row better": (turn_rows, doubt_rows, raise_baseline, few_units, raise_worth),
    "sure but small": (choose_otherwise, turn_procedure, doubt_procedure, raise_baseline),
    "nothing gains enough": (raise_bound, raise_baseline, few_units),
    "nothing surely better": (prove_rows, raise_baseline),
    "row better, choice unsure": (turn_rows, doubt_rows, few_units),
    "nothing higher": (raise_rows, raise_baseline),
    "one length": (part_dot, raise_baseline),
    "all alike": (add_row, raise_baseline),
    "too few to choose": (many_units, raise_baseline),
    "no choice": (lift_baseline,),
    "higher row": (raise_rows, doubt_pair(_chosen_and_best), forget_values),
    "against declared": (raise_rows, undeclare, doubt_pair(_chosen_and_declared), forget_values),
    "store smaller": (raise_costs, swell, move_stored, forget_forms, few_units, raise_worth),
    "other systems": (move_lists, turn_lists, forget_lists, few_units),
    "store whole": (lower_costs, swell, move_stored, forget_forms, few_units, raise_worth),
    "length and relevance": (
        turn_dot, doubt_dot, cover, few_units, *(lie(name) for name in EFFECTS for lie in (turn_effect, cross_effect)),
    ),
    "length discarded": (vary_lengths,),
    "length by the dot product": (turn_dot, doubt_dot, measure_relevance),
    "length not measured": (measure_relevance,),
    "dot against cosine": (turn_dot, doubt_dot),
    "rule of symmetry": (doubt_dot, few_units, exchange),
    "rule, too few units": (many_units, exchange),
    "rule, no measurement": (exchange,),
    "normalise both sides": (exchange,),
    "keep the document's length": (turn_dot, doubt_dot, few_units, exchange),
    "start with both sides": (exchange, level_dot),
    "nothing in documents": (raise_most, lower_worth, want_again, few_units),
    "lengths hold it": (turn_curve, doubt_curve, beat_curve, turn_nature, few_units),
    "lengths hold a part": (turn_curve, doubt_curve, turn_nature, few_units),
    "lengths hold none": (prove_curve, doubt_documents, turn_nature, few_units),
    "documents unclear": (prove_documents, lower_most, few_units),
    "made for cosine": (turn_dot, doubt_dot, undeclare),
    "dot collapses": (raise_rows, few_units),
    "cosine collapses": (raise_baseline, few_units),
    "every length the same": (vary_lengths,),
    "hubs": (more_hubs, hubs_by_chance),
    "rogue dimension": (share_out,),
    "too few units": (many_units,),
    "more units": (turn_procedure, widen_choice, raise_worth),
    "index keeps lengths": (reset_index, lose_lengths),
    "index holds changed vectors": (remake,),
    "engine threw lengths away": (reset_index, keep_lengths, other_loser, turn_lengths),
    "lengths lost before": (reset_index, keep_lengths, other_loser, turn_lengths),
    "setting is recommended": (reset_index, few_units),
    "setting costs": (turn_all, doubt_all, few_units, reset_index),
    "setting may cost": (few_units, reset_index),
    "setting is better": (turn_all, doubt_all, few_units, reset_index),
    "index answers": (answer_less, come_short),
    "index refuses": (ask_more,),
    "index and task differ": (miss_more,),
    "bias costs": (),  # of the advice, not of the numbers: see the test
}  # fmt: skip

SECTION_LIES = {
    "relevance": (few_units, cover, *(lie(name) for name in ("d", "within") for lie in (turn_effect, cross_effect))),
    "dual": (turn_dot, doubt_dot, few_units),
    "ceiling": (prove_documents, doubt_documents, raise_most, want_again),
}


def _dot(case):
    rows = [row for row in case.table.rows if "dot" in (row.name, *row.same_ranking_as)]
    return next((row for row in rows if row.p is not None and not isnan(row.difference)), None)


def _stored(case, change):
    return _table(case, stored=[change(row) for row in case.table.stored])


def _lists(case, change):
    return _table(case, lists=[change(row) for row in case.table.lists])


def _units(case, count):
    task = case.table.task
    return _table(case, task={**task, unit_of(task): count})


def _shape(case, **changes):
    return replace(case, shape=replace(case.shape, **changes))


def _effect(case, name):
    """An effect that is told: one at equal text length is told beside its own without that."""
    raw = name.removesuffix("_adjusted")
    if raw != name and (_effect(case, raw) is None or isnan(_effect(case, raw).value)):
        return None
    part = getattr(case.shape.relevance, name)
    return part.d if name.startswith("within") and part is not None else part


def _with_effect(case, name, estimate):
    relevance = case.shape.relevance
    part = getattr(relevance, name)._replace(d=estimate) if name.startswith("within") else estimate
    return _shape(case, relevance=replace(relevance, **{name: part}))
