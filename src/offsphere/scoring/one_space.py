"""Whether a scorer brings queries and documents into one space: those of two models have two widths."""

from __future__ import annotations

from offsphere.base.arrays import Vectors
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.transforms import AdapterMap, parts_of
from offsphere.vectors.blocks import Blocks, Documents
from offsphere.vectors.widths import refuse_two_widths


def check_one_space(scorer: Scorer, queries: Vectors, documents: Documents | Blocks) -> None:
    """Refuse a scorer that leaves queries and documents in two widths.

    Args:
        scorer: Fitted, if it has transforms.
        queries: Query vectors, a row each.
        documents: Document vectors, a row each.

    Raises:
        TwoWidthsError: The vectors have two widths, and the scorer has no learned map that makes one of them.
    """
    blocks = Blocks.of(documents)
    if queries.shape[1] == blocks.dimension:
        return  # where a transform wants another width, applying it says so
    if not any(isinstance(part, AdapterMap) for part in parts_of(scorer.map)):
        refuse_two_widths(queries.shape[1], blocks.dimension)
    asking, asked_for = scorer.transform(queries[:1], "query"), scorer.transform(blocks.parts[0][:1])
    refuse_two_widths(asking.shape[1], asked_for.shape[1])
