"""``offsphere measure``: what the vectors look like, and what their length has to do with relevance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from offsphere.base.errors import OffsphereError
from offsphere.cli.embed import MODEL_HELP
from offsphere.cli.progress import progress_bar
from offsphere.data.task import Task

if TYPE_CHECKING:
    from offsphere.encode.encoder import Encoder
    from offsphere.geometry import Geometry


def measure_command(
    data: Annotated[
        str,
        typer.Argument(
            help="A task, as offsphere compare takes it; or vectors alone: a store, .npy, .npz, .parquet, .safetensors."
        ),
    ],
    vectors: Annotated[
        Path | None,
        typer.Option(help="Folder with queries.* and documents.* (pairs: left.*, right.*). Default: DATA itself."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help=f"Embed with this model, or count its tokens where --vectors is given. {MODEL_HELP}"),
    ] = None,
    section: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this: lengths, relevance, dual, isotropy, negatives, dimensions, hubness, fisher, gradients or "
            "frequency. Repeatable."
        ),
    ] = None,
    scorer: Annotated[str | None, typer.Option(help="A scorer whose hubs are looked at beside cosine and dot.")] = None,
    groups: Annotated[
        Path | None, typer.Option(help="File of groups of queries: a line each, query id, tab, name of the group.")
    ] = None,
    training_size: Annotated[
        int | None, typer.Option(min=2, help="n in the bounds for mini-batches. [the number of positive pairs]")
    ] = None,
    layers: Annotated[
        bool,
        typer.Option("--layers", help="Only the layers of the transformer given with --model (and any --section)."),
    ] = False,
    side: Annotated[str | None, typer.Option(help="Whose texts --layers reads. [left, or document]")] = None,
    at_most: Annotated[
        int, typer.Option(min=2, help="Texts that --layers reads, drawn at random beyond that.")
    ] = 2_000,
    against: Annotated[
        str | None, typer.Option(help="With --layers: the model that --model was made from; tells what changed.")
    ] = None,
    other: Annotated[
        tuple[str, str] | None,
        typer.Option(help="With --against: another model and what it was made from; tells if the same tokens changed."),
    ] = None,
    split: Annotated[str | None, typer.Option(help="Which judgments: test, dev, train, ...")] = None,
    ignore_missing: Annotated[
        bool, typer.Option("--ignore-missing", help="Go on without judgments for unknown queries or documents.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of samples and intervals.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Measure lengths, relevance, isotropy, dimensions, hubs and more; with --layers every layer of a transformer."""
    if not layers and side is not None:
        raise OffsphereError("--side says whose texts --layers reads: add --layers")
    if layers and not section and (scorer is not None or groups is not None or training_size is not None):
        raise OffsphereError("--scorer, --groups and --training-size are for sections: add --section, or drop --layers")
    if (against is not None or other is not None) and not layers:
        raise OffsphereError("--against and --other compare layers: add --layers")
    if other is not None and against is None:
        raise OffsphereError("--other compares two changes: say with --against what --model was made from")
    shown: dict[str, Any] = {}
    if section or not layers:
        options = {"scorer": scorer, "groups": _groups(groups), "training_size": training_size, "seed": seed}
        shape = _shape(data, vectors, model, section, split, options, ignore_missing=ignore_missing)
        if as_json:
            shown |= shape.to_json()
        else:
            from offsphere.cli.shape_tables import print_shape

            print_shape(shape)
    if layers:
        read = _read_task(data, split, ignore_missing=ignore_missing)
        shown |= _layers(read, model, side, at_most, against, other, seed, quiet=as_json)
    if as_json:
        typer.echo(json.dumps(shown, indent=2, allow_nan=False))


def _shape(
    data: str,
    vectors: Path | None,
    model: str | None,
    sections: list[str] | None,
    split: str | None,
    options: dict[str, Any],
    *,
    ignore_missing: bool,
) -> Geometry:
    from offsphere.cli.compare import warn_left_out
    from offsphere.data import load_task, load_vectors
    from offsphere.data.vector_files import is_vectors, read_vectors
    from offsphere.encode.embedding import embed
    from offsphere.encode.sources import load_encoder
    from offsphere.geometry import check_sections, measure
    from offsphere.scoring.names import parse_scorer

    # what can be wrong in the command itself is said before any file is read
    check_sections(sections)
    if options["scorer"] is not None:
        parse_scorer(options["scorer"])
    if is_vectors(Path(data)) and vectors is None and model is None:
        with progress_bar("measuring") as progress:
            return measure(read_vectors(Path(data)), None, sections, progress=progress, **options)
    place = vectors or (Path(data).parent if Path(data).is_file() else Path(data))
    if is_vectors(Path(data)) and vectors is None:
        raise OffsphereError(f"{data} holds vectors and no texts: leave --model out, or give the task that has texts")
    task = load_task(data, split, ignore_missing=ignore_missing, vectors=None if model and not vectors else place)
    encoder = load_encoder(model) if model is not None else None
    if encoder is not None and vectors is None:
        with progress_bar("embedding") as progress:
            held = embed(task, encoder, progress=progress)
    else:
        held = load_vectors(place, task)
    warn_left_out(task, held)
    with progress_bar("measuring") as progress:
        return measure(held, task, sections, encoder=encoder, progress=progress, **options)


def _read_task(data: str, split: str | None, *, ignore_missing: bool) -> Task:
    from offsphere.data import load_task
    from offsphere.data.vector_files import is_vectors

    if is_vectors(Path(data)):
        raise OffsphereError(f"{data} holds vectors and no texts: give the task that has them")
    return load_task(data, split, ignore_missing=ignore_missing)


def _layers(
    task: Task,
    model: str | None,
    side: str | None,
    at_most: int,
    against: str | None,
    other: tuple[str, str] | None,
    seed: int,
    *,
    quiet: bool,
) -> dict[str, Any]:
    from offsphere.base.plain import plain
    from offsphere.encode.sources import load_encoder
    from offsphere.encode.token_layers import transformer_of
    from offsphere.geometry import correlate_changes, measure_layers, self_similarity_change

    if model is None:
        raise OffsphereError("--layers runs a transformer over the texts: say which with --model")
    name, texts = _texts(task, side, at_most, seed)

    def measured(source: str) -> Any:
        encoder: Encoder = load_encoder(source, keep_normalize=True)  # the layers come before any such stage
        transformer_of(encoder, name)
        with progress_bar(f"layers of {source}") as progress:
            return measure_layers(encoder, texts, name, seed=seed, progress=progress)

    found = measured(model)
    changes = []
    if against is not None:
        changes.append(self_similarity_change(found, measured(against)))
    if other is not None:
        changes.append(self_similarity_change(measured(other[0]), measured(other[1])))
    agreement = correlate_changes(*changes) if len(changes) == 2 else None  # noqa: PLR2004
    if not quiet:
        from offsphere.cli.layer_tables import print_changes, print_layers

        print_layers(found, name)
        print_changes(changes, agreement)
    return {
        "layers": {"sentence": found.sentence, "side": name, **plain(found)},
        "changes": [{"sentence": change.sentence, **plain(change)} for change in changes],
        "agreement": plain(agreement),
    }


def _texts(task: Task, side: str | None, at_most: int, seed: int) -> tuple[Any, list[str]]:
    """The texts of the side that was asked for, or of the one that is searched; some of them where there are many."""
    import numpy as np

    from offsphere.encode.embedding import side_items
    from offsphere.geometry.sample import random_keys, smallest

    sides = {found.side: found.items for found in side_items(task)}
    name = side or ("left" if "left" in sides else "document")
    if name not in sides:
        raise OffsphereError(f"{task.name} has no side {name!r}: it has {' and '.join(sides)}")
    texts = sides[name]
    return name, [texts[row] for row in smallest(random_keys(np.arange(len(texts)), seed), at_most).tolist()]


def _groups(path: Path | None) -> dict[str, str] | None:
    if path is None:
        return None
    from offsphere.base.errors import DataError
    from offsphere.base.tables import text_lines

    if not path.is_file():
        raise DataError(f"{path} is not a file of groups")
    found: dict[str, str] = {}
    for number, line in text_lines(path):
        parts = [part.strip() for part in line.split("\t")]
        if len(parts) != 2 or not all(parts):  # noqa: PLR2004
            raise DataError(f"{path}, line {number}: expected a query id, a tab and a group, got {line.strip()!r}")
        if found.setdefault(parts[0], parts[1]) != parts[1]:
            raise DataError(f"{path}, line {number}: query {parts[0]!r} is in two groups: keep one")
    return found
