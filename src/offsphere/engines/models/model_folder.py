"""A model that ends in a scorer: sentence-transformers itself makes vectors whose inner product ranks as it does.

Transforms, adapters and normalisation become stages after the model's own. Who serves the model needs to know nothing
of the scorer: encode documents with ``encode_document``, store them, ask with ``encode_query``, rank by inner product.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from offsphere.base.arrays import Rows
from offsphere.base.errors import DataError, OffsphereError, first_line
from offsphere.base.files import level_modes, write_whole
from offsphere.base.reading.file_access import open_file
from offsphere.base.short_repr import short_repr
from offsphere.encode.sentence import load_sentence_transformer
from offsphere.encode.text_marks import keep_texts
from offsphere.engines.models.foldable_model import open_foldable
from offsphere.engines.models.folding import Step, folded, joined_steps, refuse_unfoldable
from offsphere.engines.models.whole_folder import put_in_place, working_folder
from offsphere.scoring.adapter import Adapter
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.transforms import AffineMap, Side

VERIFICATION = "verification.json"
TOLERANCE = 1e-3  # by which share of the largest score the folded model may be off
LOADING = "load it with offsphere.load_encoder(folder, keep_normalize=True)"
SAMPLE_TEXTS = (
    "length",
    "What is the length of an embedding worth?",
    "A cat sleeps under a tree near the river.",
    "How do I reset my password?",
    "The committee approved the budget for the coming year after a long debate about schools and roads.",
    "Wing flutter in supersonic flow was measured in a wind tunnel at several angles of attack.",
    "def add(left, right): return left + right",
    "2026-01-31, 17:05: 42.7 % of 1,024 rows",
    "Aspirin inhibits the production of prostaglandins, which reduces pain, fever and inflammation in most patients.",
    "Der Fluss fließt durch die Stadt.",
    "new york city apartment two rooms quiet",
    (
        "The vectors of short texts and of long ones differ in length, and a search engine that normalises what it "
        "stores throws that difference away; whether it was worth keeping is a question that has to be measured on "
        "the data at hand, with judgments of people who know what they were looking for."
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelExport:
    """What was written, and how far its scores are from those of the scorer on some texts."""

    folder: str
    scorer: str
    model: str
    dimension: int  # of the vectors that it makes
    similarity: str  # by which its vectors are scored: dot, or cosine where both sides have length one
    removed: Sequence[str]  # stages of the model that took lengths away
    added: Sequence[str]  # stages that do what the scorer does
    plain: bool  # whether sentence-transformers alone loads it
    texts: int  # that were encoded to compare
    deviation: float  # largest difference of a score, as a share of the largest score
    notes: Sequence[str] = ()

    __repr__ = short_repr


def export_model(
    scorer: Scorer | Adapter | str,
    model: Any,
    folder: str | Path,
    *,
    texts: Sequence[str] | None = None,
    keep_normalize: bool = False,
    replace: bool = False,
) -> ModelExport:
    """Write a sentence-transformers model whose vectors rank, by plain inner product, as a scorer does.

    The folder is read again and compared with the scorer before it gets its name.

    Args:
        scorer: What was measured on the vectors of the model; fitted where it has transforms. One without may be given
            by its name.
        model: The model by name, as ``load_encoder`` takes it, or a SentenceTransformer, which is not changed.
        folder: The folder to write.
        texts: Some texts of your own to compare by, and to know the scale of the vectors by; without them ours.
        keep_normalize: Whether the scorer was measured on vectors of which the model's own stages had taken the length.
        replace: Whether to throw away a model that the folder holds.

    Returns:
        What was written, and the largest deviation; ``verification.json`` in the folder says the same.

    Raises:
        NotLowerableError: The scorer ties the two lengths together.
        OffsphereError: The scorer has another part that no stage can do, the model is no sentence-transformers model
            and no static one, or the folder cannot be written.
        VectorError: The scorer was fitted on vectors of another dimension.
        DataError: The folder holds something already.

    Example:
        >>> import tempfile
        >>> import offsphere as osp
        >>> from offsphere.engines.models.model_folder import export_model
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     export = export_model("query-normalized", "wordllama", f"{folder}/model")
        >>> export.similarity, export.plain, export.added
        ('dot', True, ['Normalize for the query'])
    """
    scorer = parse_scorer(scorer) if isinstance(scorer, str) else scorer
    scorer = scorer.scorer if isinstance(scorer, Adapter) else scorer
    refuse_unfoldable(scorer)
    target = Path(folder)
    _refuse_existing(target, replace=replace)
    sample = list(texts or SAMPLE_TEXTS)
    encoder, stages, notes = open_foldable(model, keep_normalize=keep_normalize)
    rows: dict[Side, Rows] = {
        "query": encoder.encode(sample, "query"),
        "document": encoder.encode(sample, "document"),
    }
    steps = _with_truncation(folded(scorer, rows), stages)
    added, plain = _fold(stages, steps)
    if not plain:
        notes = [*notes, f"a power of the length is a stage of offsphere's: {LOADING}"]
    with working_folder(target) as half:
        _save(stages, half)
        dimension, deviation = _deviation(scorer, rows, half, sample, plain=plain)
        export = ModelExport(
            folder=str(folder),
            scorer=scorer.name,
            model=encoder.description.model,
            dimension=dimension,
            similarity=stages.similarity_fn_name,
            removed=list(encoder.description.removed),
            added=added,
            plain=plain,
            texts=len(sample),
            deviation=deviation,
            notes=notes,
        )
        if not deviation <= TOLERANCE:
            raise OffsphereError(
                f"{scorer.name} folded into {export.model} is off by {deviation:.2g} of the largest score: float32 "
                "does not hold what the scorer does with these vectors; nothing was written"
            )
        write_whole(half / VERIFICATION, (json.dumps(asdict(export), indent=2) + "\n").encode())
        write_whole(half / "README.md", _card(export).encode())
        _refuse_existing(target, replace=replace)
        put_in_place(half, target)
    return export


def _with_truncation(steps: dict[Side, list[Step]], model: Any) -> dict[Side, list[Step]]:
    """Let a model that cuts its vectors cut them before the steps, not after."""
    kept = model.truncate_dim
    if kept is None:
        return steps
    model.truncate_dim = None
    width = model.encode(["offsphere"], show_progress_bar=False).shape[1]
    cut = AffineMap(np.eye(width, min(kept, width)), np.zeros(min(kept, width)))
    return {side: joined_steps([cut, *following], width) for side, following in steps.items()}


def _fold(model: Any, steps: dict[Side, list[Step]]) -> tuple[list[str], bool]:
    """Put the stages behind a model and say by what it is scored; name them, and tell whether all are plain."""
    from offsphere.engines.models.folded_stages import add_folded_stages, ends_normalized, is_plain

    added = add_folded_stages(model, steps)
    model.similarity_fn_name = "cosine" if ends_normalized(steps) else "dot"
    return added, is_plain(steps)


def _save(model: Any, folder: Path) -> None:
    """Save a model, every file safe on the disk."""
    try:
        model.save_pretrained(str(folder), create_model_card=False)
        level_modes(folder, "modules.json")
        for path in folder.rglob("*"):
            if path.is_file():
                with open_file(path) as stream:
                    os.fsync(stream.fileno())
    except Exception as error:  # OSError, and what libraries in Rust say of a disk that is full
        reason = getattr(error, "strerror", None) or first_line(error)
        raise OffsphereError(f"cannot write the model: {reason}: nothing was written") from error


def _deviation(
    scorer: Scorer, rows: dict[Side, Rows], folder: Path, texts: list[str], *, plain: bool
) -> tuple[int, float]:
    """The width of the vectors that a saved model makes, and by which share of the largest score it is off at most."""
    from sentence_transformers import SentenceTransformer

    model: Any = keep_texts(SentenceTransformer(str(folder))) if plain else load_sentence_transformer(str(folder))
    options = {"show_progress_bar": False, "convert_to_numpy": True}
    queries: Rows = model.encode_query(texts, **options)
    documents: Rows = model.encode_document(texts, **options)
    lowering = replace(scorer, similarity=scorer.similarity.orders_as).lower()
    wanted = lowering.queries(rows["query"]).astype(np.float64) @ lowering.documents(rows["document"]).T
    scores = queries.astype(np.float64) @ documents.T
    return documents.shape[1], float(np.abs(scores - wanted).max() / (np.abs(wanted).max() or 1.0))


def _refuse_existing(folder: Path, *, replace: bool) -> None:
    """Refuse a folder that holds something, unless that is a model that may be replaced."""
    try:
        if not folder.exists():
            return
        if not folder.is_dir():
            raise DataError(f"{folder} is a file: choose another name for the folder of the model")
        if not any(folder.iterdir()):
            return
    except (OSError, ValueError) as error:
        raise OffsphereError(f"cannot write to {folder}: {error}") from error
    if not (folder / "modules.json").is_file():
        raise DataError(f"{folder} holds something that is no model: choose another folder")
    if not replace:
        raise DataError(f"{folder} holds a model: choose another folder, or replace it with --replace")


def _card(export: ModelExport) -> str:
    """What somebody has to know who is given the folder alone."""
    needs = (
        "sentence-transformers alone loads it."
        if export.plain
        else f"It has a stage of offsphere's, a power of the length: {LOADING}."
    )
    lines = [
        "---",
        "library_name: sentence-transformers",
        "---",
        "",
        f"# {export.model}, then {export.scorer}",
        "",
        f"Store what `encode_document` gives ({export.dimension} numbers a text), ask with what `encode_query` gives,",
        f"and rank by inner product: that is the scorer `{export.scorer}` on the vectors of {export.model}. {needs}",
        "",
        *(f"- removed: {stage}" for stage in export.removed),
        *(f"- added: {stage}" for stage in export.added),
        *(f"- note: {note}" for note in export.notes),
        f"- compared with the scorer on {export.texts} texts: off by {export.deviation:.1g} of the largest score",
        "",
    ]
    return "\n".join(lines)
