"""Claims of the papers: each knows its paper, its quantity, its direction, and the least run it may be judged by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

FENG = "Feng & Watanabe 2026, arXiv:2602.09229"
LEE = "Lee et al. 2025, arXiv:2506.09781"
XIAO = "Xiao et al. 2023, arXiv:2212.09170"
TWO_SITES = "the grid of two sites, input and output"
OURS = "our own question"

BEFORE = "before training"  # as a baseline: the same variant, at its first step
DUAL = "by_cosine"  # as a quantity: what cosine finds on held-out data, less what the model was trained for
ITSELF = "its own score"  # as a baseline of that

ClaimKind = Literal["above", "not above", "below", "other"]
# what training starts from: trained weights or vectors, those of a model that ends in a normalisation, none
Start = Literal["trained", "normalised", "scratch"]
TRAINED: tuple[Start, ...] = ("trained", "normalised")


class RunSize(NamedTuple):
    """How large the runs of two variants are that a claim compares."""

    steps: float
    seeds: int
    pairs: int
    batch: int


class LeastRun(NamedTuple):
    """The least run by which a claim may be judged, and the largest batch of which it is made."""

    steps: int = 100
    seeds: int = 1
    pairs: int = 100
    largest_batch: int | None = None

    def why_not(self, size: RunSize) -> str:
        """Say in what a run is too small for the claim, or of another kind; empty where it is neither."""
        for number, least, what in (
            (size.steps, self.steps, "steps: too few to judge claims by"),
            (size.pairs, self.pairs, "pairs to learn from"),
            (size.seeds, self.seeds, "seeds" if size.seeds != 1 else "seed"),
        ):
            if number < least:
                return f"{number:,.0f} {what}, it takes {least:,}"
        if self.largest_batch is not None and size.batch > self.largest_batch:
            return f"it is made of batches of {self.largest_batch} or fewer, not of {size.batch:,}"
        return ""


OF_PROBES = LeastRun(seeds=3)  # a difference of probes is tested over seeds, which takes some
SMALL_BATCHES = 64  # up to which VRNS is said to help


class Claim(NamedTuple):
    """What a difference of two variants should be: above zero, not above it, below it, or other than it."""

    text: str
    paper: str
    variant: str
    baseline: str
    kind: ClaimKind = "above"
    quantity: str = ""  # a column of the dynamics; without one the metric by which variants are judged
    least: LeastRun = LeastRun()
    beyond: bool = False  # on new documents and out of the domain
    pairs: bool | None = None  # of pair tasks only, of rankings only, or of both
    starts: tuple[Start, ...] = (*TRAINED, "scratch")  # of which it is made


SCRATCH = "from scratch cosine is above"

CLAIMS: Sequence[Claim] = (
    Claim("retrieval gains where the document keeps its length", FENG, "query", "cosine", pairs=False, starts=TRAINED),
    Claim("the plain dot product is above cosine too", FENG, "dot", "cosine", pairs=False, starts=("trained",)),
    Claim(
        "an encoder that was trained behind a normalisation loses under the dot product",
        FENG,
        "dot",
        "cosine",
        "below",
        pairs=False,
        starts=("normalised",),
    ),
    Claim("learned exponents are above cosine", FENG, "learn", "cosine", pairs=False, starts=TRAINED),
    Claim(
        "normalising the document alone, which ranks by the same formula as cosine, trains to a better ranking",
        FENG,
        "document",
        "cosine",
        pairs=False,
        starts=TRAINED,
    ),
    *(
        Claim(f"{SCRATCH} {told}", FENG, "cosine", role, pairs=False, starts=("scratch",))
        for role, told in {
            "dot": "the dot product",
            "query": "normalising the query alone",
            "document": "normalising the document alone",
            "learn": "learned exponents",
        }.items()
    ),
    Claim(
        "beyond what was learned from, the document's length helps",
        FENG,
        "query",
        "cosine",
        beyond=True,
        pairs=False,
        starts=TRAINED,
    ),
    Claim("on symmetric tasks normalising one side only is below cosine", FENG, "cosine", "query", pairs=True),
    Claim("on symmetric tasks the other side alone is below cosine too", FENG, "cosine", "document", pairs=True),
    Claim("on symmetric tasks the dot product is not above cosine", FENG, "dot", "cosine", "not above", pairs=True),
    Claim(
        "where the document keeps its length, training moves Cohen's d of relevant against other documents",
        FENG,
        "query",
        BEFORE,
        "other",
        "cohen_d",
        OF_PROBES,
        pairs=False,
    ),
    Claim(
        "what was trained for the dot product needs its lengths: cosine of the same vectors finds less",
        FENG,
        "dot",
        ITSELF,
        "below",
        DUAL,
        OF_PROBES,
        pairs=False,
    ),
    Claim(
        "where the output keeps its length, that of the input matters", TWO_SITES, "dot + input both", "dot", "other"
    ),
    Claim(
        "VRNS lowers the variance of negatives", LEE, "cosine + vrns", "cosine", "below", "negative_variance", OF_PROBES
    ),
    Claim("VRNS does not part the positives", LEE, "cosine + vrns", "cosine", "not above", "alignment", OF_PROBES),
    Claim(
        "VRNS helps at small batches",
        LEE,
        "cosine + vrns",
        "cosine",
        least=LeastRun(largest_batch=SMALL_BATCHES),
    ),
    Claim("contrast lowers the anisotropy of tokens", XIAO, "cosine", BEFORE, "below", "token_anisotropy", OF_PROBES),
    Claim(
        "contrast makes the tokens of a text alike", XIAO, "cosine", BEFORE, "above", "token_intra_adjusted", OF_PROBES
    ),
    Claim("contrast shortens the vectors of tokens", XIAO, "cosine", BEFORE, "below", "token_length", OF_PROBES),
    Claim(
        "meaningful tokens become more alike across texts",
        XIAO,
        "cosine",
        BEFORE,
        "above",
        "token_self_semantic",
        OF_PROBES,
    ),
    Claim(
        "functional tokens become less alike across texts",
        XIAO,
        "cosine",
        BEFORE,
        "below",
        "token_self_functional",
        OF_PROBES,
    ),
    Claim(
        "contrast sets meaningful tokens apart from functional ones",
        XIAO,
        "cosine",
        BEFORE,
        "above",
        "token_self_gap",
        OF_PROBES,
    ),
    Claim("a map for each side is above one for both", OURS, "cosine", "cosine + tied"),
    Claim("a learned length on top of cosine is above cosine", OURS, "cosine + head", "cosine"),
)
# of the smallest and the largest batch among variants that differ in nothing else
SCATTER = Claim(
    "smaller batches scatter the negatives more", LEE, "cosine", "cosine", "above", "negative_variance", OF_PROBES
)
