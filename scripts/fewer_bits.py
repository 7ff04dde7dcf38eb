"""Print what fewer bits cost in each engine, as the table of docs/engines.md has it: every number is an export, tried.

    offsphere embed cranfield --model wordllama --out vectors
    python -m scripts.fewer_bits vectors [ENGINE ...]

A cell is the share of the exact ten best by cosine that came from an exact index / a graph; from inverted lists where
an engine has the form there alone. Qdrant Edge is told to build its graph, which so few vectors otherwise do not get.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import get_args

from scripts.engine_table import FULL_SCAN, markdown, targets

from offsphere.base.errors import OffsphereError
from offsphere.engines import qdrant_edge
from offsphere.engines.collection import IndexKind, NumberForm
from offsphere.engines.engine import Engine
from offsphere.engines.registry import engine_of
from offsphere.engines.shipping.corpus import Corpus
from offsphere.engines.shipping.exporting import export

FORMS: tuple[NumberForm, ...] = tuple(form for form in get_args(NumberForm) if form != "float32")
HEAD = ("engine", *FORMS, "how")
HAS_NONE, NOT_USED = "has none", "not used"
THEIR_OWN = {  # forms that an engine has and an export does not use
    ("FAISS", "binary"),  # IndexRaBitQ
    ("usearch", "binary"),  # b1, of bits that somebody made
    ("sqlite-vec", "int8"),  # columns of int8, without a scale
    ("Milvus", "float16"),  # fields FLOAT16_VECTOR
    ("Milvus", "binary"),  # fields BINARY_VECTOR, of bits that somebody made
}
HOW = {
    "FAISS": "codes of a scalar quantizer, in lists too; RaBitQ keeps no vectors to choose among candidates by",
    "usearch": "int8 is for vectors of length one: by inner product longer ones are cut off; bits must be given",
    "Qdrant Edge": "it keeps the vectors, and compares again with them; too few of those that bits find",
    "LanceDB": "int8 in an index only, whose scores are not the metric's; bits in lists, the vectors choose among 100",
    "Milvus": "int8 in an index only; fields of float16 and of given bits are not used",
    "pgvector": "halfvec; an index of `binary_quantize` finds 100, the vectors choose ten",
    "sqlite-vec": "a column `bits` finds 100, the vectors choose ten; 8 must divide the dimensions; int8 has no scale",
}


def main() -> None:
    """Export in every form to all engines that have one, or to those that are named."""
    corpus, wanted = Corpus.of(Path(sys.argv[1])), [name.casefold() for name in sys.argv[2:]]
    qdrant_edge.FULL_SCAN = FULL_SCAN
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, target in targets(Path(folder)).items():
            engine, _ = engine_of(target)
            if engine.name in HOW and (not wanted or name in wanted):
                rows.append((engine.name, *(cell(engine, target, form, corpus) for form in FORMS), HOW[engine.name]))
    for line in markdown(HEAD, rows):
        print(line)


def cell(engine: Engine, target: str, form: NumberForm, corpus: Corpus) -> str:
    """What came where vectors are stored in a form; words where an export stores none so."""
    with engine.at(engine_of(target)[1]) as collection:
        kinds, forms = collection.index_kinds, collection.stored_forms
    if form not in forms:
        return NOT_USED if (engine.name, form) in THEIR_OWN else HAS_NONE
    shares = {kind: share(target, form, kind, corpus) if kind in kinds else "-" for kind in get_args(IndexKind)}
    if shares["exact"] == shares["graph"] == "-":
        return f"lists {shares['lists']}"
    return f"{shares['exact']} / {shares['graph']}"


def share(target: str, form: NumberForm, kind: IndexKind, corpus: Corpus) -> str:
    """The share of the exact ten best, to three digits; a dash where the engine has no such index of that form."""
    try:
        done = export("cosine", corpus, target, index=kind, stored=form, replace=True)
    except OffsphereError as error:
        print(f"{target}, {form}, {kind}: {error}", file=sys.stderr)
        return "-"
    recall = done.verification.recall
    return "1.00" if recall >= 0.9995 else f"{recall:.3f}".removeprefix("0")  # noqa: PLR2004  # what rounds to one


if __name__ == "__main__":
    main()
