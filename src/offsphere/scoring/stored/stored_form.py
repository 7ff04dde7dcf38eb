"""Stored forms, as a user names them: ``int8``, ``dim=128``, ``dim=128+int8``, ``binary+rerank=8``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from offsphere.base.errors import ParameterError
from offsphere.base.known_names import known_name, plain_name
from offsphere.scoring.stored.codes import CODES

OVERSAMPLING = 4  # as many times k documents are re-ranked, as sentence-transformers does
MOST_OVERSAMPLING = 1_000
WRITTEN = [code for code in CODES if code != "float32"]  # which every scorer is compared in anyway
PARTS = [*WRITTEN, "dim=N", "sliced", "hamming", "float-query", "rerank", "rerank=C"]
# what others call these
ELSEWHERE = {
    **dict.fromkeys(("fp16", "f16", "half", "halfvec", "float-16", "sqfp16"), "float16"),
    **dict.fromkeys(("bf16", "bfloat", "bfloat-16"), "bfloat16"),
    **dict.fromkeys(("i8", "uint8", "sq8", "sq", "scalar", "qt-8bit", "byte", "8bit"), "int8"),
    **dict.fromkeys(("bit", "bits", "bq", "ubinary", "b1", "1bit", "sign"), "binary"),
    **dict.fromkeys(("matryoshka", "mrl", "dim", "dims", "truncate", "truncated"), "dim=128"),
    **dict.fromkeys(("rescore", "re-rank", "oversampling", "refine"), "rerank=4"),
    **dict.fromkeys(("float32", "f32", "float", "full"), "float16 (float32 is what all others are held against)"),
}
_NUMBERED = re.compile(r"(dim|rerank)=(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class StoredForm:
    """What of a vector is stored, and how it is searched.

    Attributes:
        code: how a number is written: a name of ``CODES``.
        dimensions: how many numbers of the model's vector are kept; all where nothing is said.
        sliced: whether numbers are cut from the vector as it would be stored whole, and nothing is normalised again.
        float_query: whether the query keeps its numbers where documents are bits.
        oversampling: how many times k documents are found so and then ranked by their whole vectors; none are where
            nothing is said.

    Example:
        >>> StoredForm("int8", dimensions=128).name
        'dim=128+int8'
    """

    code: str = "float32"
    dimensions: int | None = None
    sliced: bool = False
    float_query: bool = False
    oversampling: int | None = None

    @property
    def name(self) -> str:
        """Its parts, joined by plus signs, as ``parse_stored`` reads them."""
        hamming = self.code == "binary" and not self.float_query and self.oversampling is None
        parts = [
            f"dim={self.dimensions}" if self.dimensions is not None else "",
            "sliced" if self.sliced else "",
            self.code if self.code != "float32" else "",
            "float-query" if self.float_query else "",
            "hamming" if hamming else "",
            f"rerank={self.oversampling}" if self.oversampling is not None else "",
        ]
        return "+".join(filter(None, parts))

    @property
    def first_step(self) -> StoredForm:
        """The form whose search finds what is then re-ranked; itself where nothing is."""
        return replace(self, oversampling=None)

    @property
    def phrase(self) -> str:
        """What it is, in plain words, without a capital or a full stop."""
        cut = f"the first {self.dimensions:,} numbers" if self.dimensions is not None else ""
        if cut:
            cut += " of what would be stored whole" if self.sliced else ", and lengths taken anew"
        code = _PHRASES[self.code]
        if self.code == "binary":
            code += ", " + ("asked with whole queries" if self.float_query else "compared with those of the query")
        again = f"{self.oversampling} times as many results as asked for, ranked again by their whole vectors"
        return "; ".join(filter(None, (cut, code, again if self.oversampling is not None else "")))

    def stored_bytes(self, width: int) -> int:
        """Count the bytes of a stored vector of that many numbers, whole bytes alone.

        Example:
            >>> StoredForm("binary").stored_bytes(100), StoredForm("int8").stored_bytes(100)
            (13, 100)
        """
        return -(-width * CODES[self.code].bits // 8)


_PHRASES = {
    "float32": "",
    "float16": "two bytes a number, of half precision",
    "bfloat16": "two bytes a number, of the range of float32",
    "int8": "a byte a number, one of 256 steps over the range of its dimension; queries stay whole",
    "binary": "signs alone, a bit a number",
}


def parse_stored(names: str | Sequence[str]) -> list[StoredForm]:
    """Read the names of stored forms.

    Args:
        names: forms, joined by commas or as a list. ``binary`` alone stands for bits compared with bits, bits asked
            with whole queries, and bits with re-ranking; ``dim=N`` for a cut with lengths taken anew and for one
            without.

    Returns:
        The forms in their order.

    Raises:
        UnknownNameError: where a part is none, with what was probably meant.
        ParameterError: where a number is none, parts do not go together, or a form stands there twice.

    Example:
        >>> [form.name for form in parse_stored("int8, binary")]
        ['int8', 'binary+hamming', 'binary+float-query', 'binary+rerank=4']
        >>> parse_stored(["int9"])
        Traceback (most recent call last):
            ...
        offsphere.base.errors.UnknownNameError: unknown stored form 'int9': did you mean int8?
    """
    listed = names.split(",") if isinstance(names, str) else [part for name in names for part in name.split(",")]
    if not any(name.strip() for name in listed):
        raise ParameterError(f"no stored form is named: write {', '.join(WRITTEN)} or dim=N, joined by commas")
    forms: dict[StoredForm, str] = {}
    for name in listed:
        for form in _parse_form(name):
            if form in forms:
                raise ParameterError(f"stored form {form.name} stands there twice: in {forms[form]!r} and {name!r}")
            forms[form] = name
    return list(forms)


def check_width(forms: Sequence[StoredForm], width: int) -> None:
    """Refuse to cut vectors to as many numbers as they have, or more.

    Raises:
        ParameterError: where a form keeps more numbers than a vector has, or all of them.

    Example:
        >>> check_width(parse_stored("dim=128"), 64)
        Traceback (most recent call last):
            ...
        offsphere.base.errors.ParameterError: stored form dim=128: the vectors have 64 dimensions, cut to fewer
    """
    for form in forms:
        if form.dimensions is not None and form.dimensions >= width:
            raise ParameterError(f"stored form {form.name}: the vectors have {width:,} dimensions, cut to fewer")


def _parse_form(text: str) -> list[StoredForm]:
    """Read one name, which may stand for several forms."""
    form, words = StoredForm(), set[str]()
    for typed in text.split("+"):
        word, number = _part(typed.strip())
        kind = "code" if word in CODES else word
        if kind in words:
            twice = "two codes" if kind == "code" else f"{word} twice"
            raise ParameterError(f"stored form {text.strip()!r} has {twice}: name it once")
        words.add(kind)
        form = _with_part(form, word, number)
    _check_parts(text.strip(), form, words)
    if form.code == "binary" and words.isdisjoint({"hamming", "float-query", "rerank"}):
        return [form, replace(form, float_query=True), replace(form, oversampling=OVERSAMPLING)]
    return [form, replace(form, sliced=True)] if words == {"dim"} else [form]


def _part(typed: str) -> tuple[str, int]:
    """Read one part: its word, and its number where it has one."""
    numbered = _NUMBERED.fullmatch(plain_name(typed))
    if numbered is None:
        return known_name("stored form", typed, PARTS, ELSEWHERE), OVERSAMPLING
    word, text = numbered.groups()
    most = MOST_OVERSAMPLING if word == "rerank" else 2**31
    if not re.fullmatch(r"[0-9]{1,10}", text) or not 1 <= int(text) <= most:
        end = f" to {most:,}" if word == "rerank" else ""
        raise ParameterError(f"stored form {typed!r}: {word} is a whole number from 1 on{end}")
    return word, int(text)


def _with_part(form: StoredForm, word: str, number: int) -> StoredForm:
    """Add one part to a form; that bits are compared with bits is what a form without other words says."""
    if word in CODES:
        return replace(form, code=word)
    if word == "dim":
        return replace(form, dimensions=number)
    if word == "rerank":
        return replace(form, oversampling=number)
    return replace(form, sliced=form.sliced or word == "sliced", float_query=form.float_query or word == "float-query")


def _check_parts(text: str, form: StoredForm, words: set[str]) -> None:
    """Refuse parts that do not go together."""
    if form.sliced and form.dimensions is None:
        raise ParameterError(f"stored form {text!r}: sliced needs a width, write dim=128+sliced")
    if words & {"hamming", "float-query"} and form.code != "binary":
        raise ParameterError(f"stored form {text!r}: hamming and float-query are ways to search binary")
    if {"hamming", "float-query"} <= words:
        raise ParameterError(f"stored form {text!r}: hamming and float-query exclude each other")
    if form.oversampling is not None and form.first_step == StoredForm():
        raise ParameterError(f"stored form {text!r}: say what finds the results that are re-ranked: binary+rerank")
