"""Claims of the papers, tested by an ablation. Each is a difference of two variants with a corrected p."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from offsphere.comparison.row import ALPHA
from offsphere.learning.ablation.ablation import PaperFinding
from offsphere.statistics.difference import Difference
from offsphere.statistics.significance import holm

FENG = "Feng & Watanabe 2026, arXiv:2602.09229"
LEE = "Lee et al. 2025, arXiv:2506.09781"
TWO_SITES = "the grid of two sites, input and output"
OURS = "our own question"
NOT_JUDGED = "not judged"  # by runs that are too short to

ClaimKind = Literal["above", "not above", "other"]


class Claim(NamedTuple):
    """What a difference of two variants should be on a task: above zero, not above it, or other than it."""

    text: str
    paper: str
    variant: str
    baseline: str
    kind: ClaimKind = "above"
    beyond: bool = False  # on new documents and out of the domain
    pairs: bool | None = None  # of pair tasks only, of rankings only, or of both


CLAIMS: Sequence[Claim] = (
    Claim("retrieval gains where the document keeps its length", FENG, "query", "cosine", pairs=False),
    Claim("the plain dot product is above cosine too", FENG, "dot", "cosine", pairs=False),
    Claim("learned exponents are above cosine", FENG, "learn", "cosine", pairs=False),
    Claim(
        "normalising the document alone, which ranks by the same formula as cosine, trains to a better ranking",
        FENG,
        "document",
        "cosine",
        pairs=False,
    ),
    Claim(
        "beyond what was learned from, the document's length helps", FENG, "query", "cosine", beyond=True, pairs=False
    ),
    Claim("on symmetric tasks normalising one side only is below cosine", FENG, "cosine", "query", pairs=True),
    Claim("on symmetric tasks the dot product is not above cosine", FENG, "dot", "cosine", "not above", pairs=True),
    Claim("where the output keeps its length, that of the input matters", TWO_SITES, "dot, input both", "dot", "other"),
    Claim("VRNS helps (it is meant for small batches)", LEE, "cosine, vrns", "cosine"),
    Claim("a map for each side is above one for both", OURS, "cosine", "cosine, tied"),
    Claim("a learned length on top of cosine is above cosine", OURS, "cosine, head", "cosine"),
)


def findings_of(
    names: Sequence[str],
    tasks: Sequence[str],
    difference: Callable[[str, str, int], Difference],
    *,
    pairs: bool,
    too_short: str = "",
) -> list[PaperFinding]:
    """What each claim that can be tested here comes to.

    Args:
        names: The variants there are.
        tasks: The tasks they are judged by.
        difference: Gives the difference of two variants, by name, on the task of a number.
        pairs: Whether the tasks are pairs, of which other claims are made than of rankings.
        too_short: Why these runs can judge no claim; empty where they can.

    Returns:
        A finding for each claim and task, each p corrected for all of them.
    """
    tested = [
        (claim, task, difference(claim.variant, claim.baseline, task))
        for claim in CLAIMS
        if claim.variant in names and claim.baseline in names and claim.pairs in (None, pairs)
        for task in (range(1, len(tasks)) if claim.beyond else [0])
    ]
    corrected = holm(np.array([result.p for _, _, result in tested]))
    findings = []
    for (claim, task, result), p in zip(tested, corrected.tolist(), strict=True):
        shown = f"{result.difference:+.4f} [{result.low:+.4f}, {result.high:+.4f}], p = {p:.2g}"
        evidence = f"{claim.variant} less {claim.baseline} on {tasks[task]}: {shown}"
        answer = NOT_JUDGED if too_short else verdict(claim.kind, result.difference, p)
        reason = f" ({too_short})" if too_short else ""
        findings.append(PaperFinding(claim.text, claim.paper, answer, evidence + reason))
    return findings


def verdict(kind: ClaimKind, difference: float, p: float) -> str:
    """Whether a claim holds, does not hold, or, where the difference may be luck, is not decided."""
    if not p < ALPHA:
        return "not decided"
    right = {"above": difference > 0, "not above": difference < 0, "other": True}[kind]
    return "holds" if right else "does not hold"
