"""One door to all data: a folder or a file in one of the listed formats, or a name on the Hugging Face hub."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from offsphere.base.errors import DataError, NoSuchSplitError
from offsphere.data.download import refuse_absent, set_folder
from offsphere.data.formats import (
    beir,
    captions,
    class_folders,
    edge_files,
    embedded_tables,
    interaction_files,
    karpathy,
    known_items,
    labelled_texts,
    picture_arrays,
    picture_tables,
    qrels_alone,
    sts,
    text_files,
    text_pairs,
    trec,
)
from offsphere.data.formats.format import Format, Source
from offsphere.data.formats.hub import is_hub_name, load_hub, load_hub_labelled
from offsphere.data.formats.mteb_tasks import is_mteb_name, load_mteb
from offsphere.data.labelled import LabelledItems
from offsphere.data.named_data import named_data, refuse_unknown
from offsphere.data.task import Task
from offsphere.data.task_kinds import as_ranking_task
from offsphere.data.vector_files import find_file, is_vectors

# the first that recognises the data loads it: what needs more files to be recognised stands before what needs fewer
FORMATS: tuple[Format, ...] = (
    beir.FORMAT,
    embedded_tables.FORMAT,
    known_items.FORMAT,
    captions.FORMAT,
    karpathy.FORMAT,
    picture_tables.FORMAT,
    picture_arrays.FORMAT,
    trec.FORMAT,
    interaction_files.FORMAT,
    edge_files.FORMAT,
    sts.FORMAT,
    text_pairs.FORMAT,
    labelled_texts.FORMAT,
    qrels_alone.FORMAT,
    class_folders.FORMAT,
    text_files.FORMAT,
)


def load_task(
    data: str | Path,
    split: str | None = None,
    *,
    ignore_missing: bool = False,
    ignore_broken: bool = False,
    reverse: bool = False,
    vectors: str | Path | None = None,
    documents: Sequence[str] | None = None,
) -> Task:
    r"""Read a task from a folder, a file, or the Hugging Face hub.

    Args:
        data: A folder, a file, the name of a data set that ``offsphere data download`` fetched (``movielens-100k``,
            ``book-crossing``, ``20-newsgroups``), or a name on the Hugging Face hub (``org/name``). Settings of
            a task that is made of the data stand behind a question mark: ``ratings?hold_out=fifth&seed=1``.
        split: Which part of the data, such as ``"train"``; without one test, else dev, else the only one.
        ignore_missing: Go on without judgments of queries or documents that the data does not have.
        ignore_broken: Go on without pictures that cannot be read.
        reverse: Let what is searched ask: images for their captions, where captions ask for images.
        vectors: A folder of vectors that names the documents where the data itself does not.
        documents: Their ids, where neither names them: those of a collection.

    Returns:
        A ranking task or a pair task.

    Raises:
        DataError: The data is in none of the formats, a line of it cannot be read, or it has no such split.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import offsphere as osp
        >>> folder = Path(tempfile.mkdtemp())
        >>> table = "score\tsentence1\tsentence2\n5\ta cat\ta kitten\n2\ta cat\ta dog\n0\ta cat\ta tax\n"
        >>> _ = (folder / "test.tsv").write_text(table)
        >>> task = osp.load_task(folder)
        >>> task.gold.tolist(), task.split
        ([5.0, 2.0, 0.0], 'test')
    """
    if is_mteb_name(str(data)):
        return load_mteb(str(data), split, ignore_missing=ignore_missing)
    path, settings = named_data(data)
    if set_folder(path.name) == path:
        refuse_absent(path, path.name)
    folder = named_data(vectors).path if vectors is not None else None
    source = Source(path, split, ignore_missing, folder, documents, ignore_broken, settings)
    data_format = _format_of(source)
    if data_format is not None:
        refuse_unknown(settings, data_format.settings, str(path))
    task = data_format.load(source) if data_format is not None else load_hub(str(data), source)
    if not reverse:
        return task
    ranking = as_ranking_task(task)
    if ranking is None:
        raise DataError(f"{task.name} has {task.unit}, no documents that could ask for queries: leave out --reverse")
    return ranking.turned()


def load_labelled(data: str | Path, split: str | None = None, *, ignore_broken: bool = False) -> LabelledItems:
    """Read pictures with a class each: folders of classes, arrays with labels, or a table of the hub.

    Args:
        data: A folder, a file, or a name on the Hugging Face hub (``org/name``).
        split: Which part of the data, such as ``"train"``; without one test, else dev, else the only one.
        ignore_broken: Go on without pictures that cannot be read.

    Returns:
        The pictures and their classes.

    Raises:
        DataError: The data has no classes, cannot be read, or has no such split.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> from offsphere.data.load import load_labelled
        >>> file = Path(tempfile.mkdtemp()) / "shades.npz"
        >>> np.savez(file, images=np.zeros((4, 2, 2), np.uint8), labels=np.array([7, 7, 9, 9]))
        >>> load_labelled(file).classes
        ['7', '9']
    """
    path, settings = named_data(data)
    source = Source(path, split, ignore_broken=ignore_broken, settings=settings)
    data_format = _format_of(source)
    if data_format is None:
        return load_hub_labelled(str(data), source)
    if data_format.labelled is None:
        raise DataError(f"{data} has no classes: give pictures in a folder for each class, or arrays with labels")
    return data_format.labelled(source)


def _format_of(source: Source) -> Format | None:
    """The format of data that is here; nothing where it could be on the hub, and an error where it is nowhere."""
    path = source.path
    is_file, is_folder = _kind_of(path)
    if not is_file and not is_folder:
        if is_hub_name(str(path)):
            return None
        raise DataError(f"{path} does not exist: give {_expected()}, or a name on the Hugging Face hub (org/name)")
    data_format = next((data_format for data_format in FORMATS if data_format.recognise(path)), None)
    if is_file and source.split is not None and not (data_format is not None and data_format.splits_a_file):
        raise NoSuchSplitError(f"{path} is one file and has no split {source.split!r}: give its folder, or no --split")
    if data_format is None:
        raise DataError(_refusal(path))
    return data_format


def _kind_of(path: Path) -> tuple[bool, bool]:
    """Whether a path is a file, and whether it is a folder; an error where it can be the name of neither."""
    try:
        path.stat()  # which says why, where is_file would only say no
    except FileNotFoundError:
        return False, False
    except (OSError, ValueError) as error:  # ValueError: half a character, or a zero byte
        reason = error.strerror if isinstance(error, OSError) else "it is no name of a file or folder"
        raise DataError(f"{path} cannot be read: {reason}") from error
    return path.is_file(), path.is_dir()


def splits_of(data: str | Path) -> list[str]:
    """List the parts that data on disk has, such as train, dev and test; none where it is one file, or on the hub.

    Args:
        data: A folder or a file.

    Returns:
        Their names, as ``load_task`` takes them.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from offsphere.data.load import splits_of
        >>> folder = Path(tempfile.mkdtemp())
        >>> for split in ("test", "train"):
        ...     _ = (folder / f"{split}.csv").write_text("score,sentence1,sentence2")
        >>> splits_of(folder)
        ['test', 'train']
    """
    path = named_data(data).path
    form = next((form for form in FORMATS if form.recognise(path)), None) if path.exists() else None
    return list(form.splits(path)) if form is not None and (path.is_dir() or form.splits_a_file) else []


def _refusal(path: Path) -> str:
    """Why nothing was loaded, with how the data begins."""
    vectors = path if is_vectors(path) else _side_in(path)
    if vectors is not None:
        return (
            f"{path} holds vectors and nothing that is asked of them: look at them with offsphere measure {vectors}; "
            "to audit them name judgments or texts as DATA (qrels.tsv, a folder of texts, a table with a column of "
            "texts), and with --vectors a folder that has them as queries.* and documents.*"
        )
    if path.is_file():
        return f"{path} begins with {text_pairs.first_row(path)}: give {_expected()}"
    tables = [table for table in sorted(path.iterdir()) if table.suffix.lower() in text_pairs.SUFFIXES]
    begins = f" ({tables[0].name} begins with {text_pairs.first_row(tables[0])})" if tables else ""
    return f"{path} is none of the layouts offsphere reads{begins}: {_expected()}"


def _side_in(path: Path) -> Path | None:
    """The vectors of a side in a folder, such as ``documents.npy``; nothing where it has none."""
    sides = (find_file(path, side) for side in ("documents", "queries", "left", "right")) if path.is_dir() else ()
    return next((side for side in sides if side is not None), None)


def _expected() -> str:
    *formats, last = (data_format.expects for data_format in FORMATS)
    return f"{', '.join(formats)}, or {last}"
