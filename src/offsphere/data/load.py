"""One door to all formats: a folder, a file, or a name on the hub."""

from __future__ import annotations

from pathlib import Path

from offsphere.base.errors import DataError, NoSuchSplitError
from offsphere.data.formats.beir import is_beir, load_beir
from offsphere.data.formats.known_items import known_item_task
from offsphere.data.formats.qrels import find_qrels, read_qrels
from offsphere.data.formats.sts import find_table, is_sts, load_sts
from offsphere.data.formats.text_pairs import SUFFIXES, columns_of, find_pairs, first_row, is_pairs, load_pairs
from offsphere.data.formats.trec import find_topics, load_trec
from offsphere.data.ranking_task import ItemList, RankingTask
from offsphere.data.task import Task
from offsphere.data.vector_files import find_file, of_split, read_ids, read_vectors

FEWEST_COLUMNS = 3  # of judgments
LONGEST_NAME = 255  # what file systems allow

EXPECTED = (
    "a BEIR folder (corpus.jsonl, queries.jsonl, qrels/), documents alone (corpus.jsonl), TREC files (topics, qrels), "
    "an STS table (score, sentence1, sentence2), text pairs (anchor, positive, as .jsonl, .csv or .tsv), or judgments "
    "with vectors (qrels.tsv, queries.*, documents.*)"
)


def load_task(
    data: str | Path,
    split: str | None = None,
    *,
    ignore_missing: bool = False,
    vectors: str | Path | None = None,
) -> Task:
    """Read a task. ``vectors`` is a folder that names the documents where the data itself does not."""
    place = Path(data)
    if len(place.name) > LONGEST_NAME:
        raise DataError(f"{place.name[:40]}... is no name of a file or folder")
    if place.is_file():
        if split is not None:
            raise NoSuchSplitError(f"{place} is one file and has no split {split!r}: give its folder, or no --split")
        return _from_file(place, vectors, ignore_missing=ignore_missing)
    if not place.is_dir():
        if str(data).count("/") == 1 and not str(data).startswith((".", "/", "~")):
            from offsphere.data.formats.hub import load_hub

            return load_hub(str(data), split, ignore_missing=ignore_missing)
        raise DataError(f"{place} does not exist: give {EXPECTED}, or a name on the Hugging Face hub (org/name)")
    return _from_folder(place, split, vectors, ignore_missing=ignore_missing)


def _from_folder(folder: Path, split: str | None, vectors: str | Path | None, *, ignore_missing: bool) -> Task:
    if is_beir(folder):
        return load_beir(folder, split, ignore_missing=ignore_missing)
    if (folder / "corpus.jsonl").is_file() and find_topics(folder) is None:
        return known_item_task(folder)
    if find_topics(folder) is not None:
        documents = _ids("documents", folder, vectors)
        return load_trec(folder, split, ignore_missing=ignore_missing, documents=documents)
    table = find_table(folder, split)
    if table is not None:
        return load_sts(table)
    pairs = find_pairs(folder, split)
    if pairs is not None:
        return load_pairs(pairs, pairs.stem)
    if (folder / "qrels").is_dir() or any(path.is_file() for path in folder.glob("qrels*")):
        qrels, chosen = find_qrels(folder, split)
        return _judgments_alone(qrels, (folder, vectors), chosen, ignore_missing=ignore_missing)
    tables = [path for path in sorted(folder.iterdir()) if path.suffix.lower() in SUFFIXES]
    seen = f" ({tables[0].name} begins with {first_row(tables[0])})" if tables else ""
    raise DataError(f"{folder} is none of the layouts offsphere reads{seen}: {EXPECTED}")


def _from_file(path: Path, vectors: str | Path | None, *, ignore_missing: bool) -> Task:
    if is_sts(path):
        return load_sts(path)
    if path.suffix.lower() in SUFFIXES and (path.suffix.lower() == ".jsonl" or is_pairs(path)):
        return load_pairs(path)
    if path.suffix.lower() == ".csv" or (path.suffix.lower() == ".tsv" and columns_of(path) < FEWEST_COLUMNS):
        raise DataError(f"{path} begins with {first_row(path)}: give {EXPECTED}")
    return _judgments_alone(path, (path.parent, vectors), None, ignore_missing=ignore_missing)


def _judgments_alone(
    qrels: Path, places: tuple[str | Path | None, ...], split: str | None, *, ignore_missing: bool
) -> RankingTask:
    """Judgments whose queries and documents are named by the vectors."""
    judged = list(read_qrels(qrels))
    documents = _ids("documents", *places)
    if documents is None:
        raise DataError(
            f"nothing names the documents of {qrels}: add documents.ids (an id a line) beside the vectors, "
            "or vectors in a format that carries ids (.npz, .parquet)"
        )
    named = _ids(of_split("queries", split), *places) or _ids("queries", *places)
    queries = named or ItemList(list(dict.fromkeys(judgment.query for judgment in judged)))
    name = qrels.resolve().parent.name if qrels.stem.startswith("qrels") else qrels.stem
    return RankingTask.build(name, queries, documents, judged, split=split, ignore_missing=ignore_missing)


def _ids(side: str, *places: str | Path | None) -> ItemList | None:
    """The ids of a side, from ``SIDE.ids`` or from a vector file that carries them."""
    for place in places:
        if place is None or not Path(place).is_dir():
            continue
        listed = read_ids(Path(place) / f"{side}.ids")
        path = find_file(Path(place), side)
        if listed is None and path is not None:
            found = read_vectors(path).ids
            listed = list(found) if found is not None else None
        if listed is not None:
            return ItemList(listed, None, str(Path(place) / side))
    return None
