"""Figures as files for a paper: one for every quantity that was followed while something was trained."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from offsphere.base.errors import ParameterError, UnknownNameError
from offsphere.base.extras import load_extra
from offsphere.base.files import write_whole
from offsphere.learning.ablation.ablation import Ablation
from offsphere.report import learn_figures
from offsphere.report.figure import Figure
from offsphere.scoring.training_record import Training

if TYPE_CHECKING:
    from offsphere.learning.encoders.encoder_dynamics import Dynamics

FORMATS = ("svg", "png", "pdf")
COLOURS = {"@accent": "#2563c9", "@second": "#c2601a", "@muted": "#6f757d"}  # those of the page in print
WIDTH = 480
SHARPNESS = 2.0  # pixels of a PNG for each of the drawing


def save_figures(
    source: Ablation | Training | Dynamics, folder: str | Path, formats: Sequence[str] = ("svg",)
) -> list[Path]:
    """Draw one figure for every quantity that was followed, and of an ablation what its variants are worth.

    Args:
        source: An ablation or sweep, the record of a training, or the dynamics of one's own.
        folder: Where the files go; it is made where it does not exist.
        formats: svg, png or pdf, or several of them.

    Returns:
        The files, by the names of the figures.

    Raises:
        UnknownNameError: If a format is another one.
        ParameterError: If nothing was followed that could be drawn.

    Example:
        >>> import offsphere as osp, tempfile
        >>> from sentence_transformers import SentenceTransformer
        >>> from sentence_transformers.sentence_transformer.modules import StaticEmbedding
        >>> from tokenizers import Tokenizer, models, pre_tokenizers
        >>> words = Tokenizer(models.WordLevel({"?": 0, "red": 1, "cat": 2, "blue": 3, "dog": 4}, unk_token="?"))
        >>> words.pre_tokenizer = pre_tokenizers.Whitespace()
        >>> model = SentenceTransformer(modules=[StaticEmbedding(words, embedding_dim=8)], device="cpu")
        >>> dynamics = osp.Dynamics(osp.TextProbe(["red", "blue"], ["cat", "dog"], []), every=1)
        >>> _ = [dynamics.step(model, step) for step in (0, 1)]
        >>> [path.name for path in osp.save_figures(dynamics, tempfile.mkdtemp())][:2]
        ['cosines.svg', 'scatter.svg']
    """
    for name in formats:
        if name not in FORMATS:
            raise UnknownNameError("format of figures", name, list(FORMATS))
    figures = _figures(source)
    if not figures:
        raise ParameterError("nothing was measured while it was trained, so that there is nothing to draw")
    paths = []
    for figure in figures:
        for name in formats:
            path = Path(folder) / f"{figure.name}.{name}"
            write_whole(path, drawn(figure, name))
            paths.append(path)
    return paths


def drawn(figure: Figure, kind: str) -> bytes:
    """A figure as the bytes of a file: svg, png or pdf."""
    vl_convert = load_extra("vl_convert")
    text = json.dumps(dict(figure.spec) | {"width": WIDTH, "title": figure.title, "background": "white"})
    for name, colour in COLOURS.items():
        text = text.replace(f'"{name}"', f'"{colour}"')
    spec: dict[str, Any] = json.loads(text)
    if kind == "png":
        return bytes(vl_convert.vegalite_to_png(spec, scale=SHARPNESS))
    if kind == "pdf":
        return bytes(vl_convert.vegalite_to_pdf(spec))
    return str(vl_convert.vegalite_to_svg(spec)).encode()


def _figures(source: Ablation | Training | Dynamics) -> list[Figure]:
    """The figures of a source, named without a prefix."""
    if isinstance(source, Ablation):
        return [learn_figures.grid_forest(source), *learn_figures.grid_tracks(source, "")]
    if isinstance(source, Training):
        return learn_figures.training_tracks(source, "")
    rows: Sequence[Mapping[str, Any]] = source.rows
    return learn_figures.tracks_of(rows)
