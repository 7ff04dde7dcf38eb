"""Words that explain themselves: each term of the glossary where it stands first in a section of a page."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from offsphere.wording.glossary import GLOSSARY, Term

_NUMBERS = re.compile(r"(?<=\s)(?:\((?:[^()]|\([^()]*\))*\d(?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\d[^\[\]]*\])")


@dataclass(slots=True)
class MarkedTerms:
    """Marks the terms of one section; a new one is made for every section.

    Attributes:
        used: The terms of the whole page, in the order in which they come; shared by its sections.
    """

    used: dict[str, Term]
    _here: set[str] = field(default_factory=set)

    def __call__(self, text: str, numbers: str = "") -> Any:
        """Escape a text, and let each term that is new in this section explain itself.

        Args:
            text: Plain text; nothing in it becomes markup.
            numbers: ``small`` where what stands in brackets is to be set small, if there are digits in it.

        Returns:
            Markup.
        """
        from markupsafe import Markup

        if not numbers:
            return self._marked(text)
        parts, start = [], 0
        for match in _NUMBERS.finditer(text):
            parts += [self._marked(text[start : match.start()])]
            parts += [Markup('<small class="numbers">{}</small>').format(self._marked(match.group()))]
            start = match.end()
        return Markup("").join([*parts, self._marked(text[start:])])

    def _marked(self, text: str) -> Any:
        """Escape a text and mark the terms in it."""
        from markupsafe import Markup, escape

        parts, start = [], 0
        for match in _pattern().finditer(text):
            term = GLOSSARY[int(str(match.lastgroup).removeprefix("term"))]
            if term.name in self._here:
                continue
            self._here.add(term.name)
            self.used.setdefault(term.name, term)
            parts += [escape(text[start : match.start()]), _explained(match.group(), term)]
            start = match.end()
        return Markup("").join([*parts, escape(text[start:])])


def _explained(written: str, term: Term) -> Any:
    """One word with its meaning, which shows when it is pointed at, tapped or reached by keyboard."""
    from markupsafe import Markup

    return Markup('<dfn class="term" tabindex="0">{}<span class="tip" role="tooltip">{}</span></dfn>').format(
        written, term.meaning
    )


@cache
def _pattern() -> re.Pattern[str]:
    """One expression for all terms; what is written longer comes first, and a word is never cut."""
    forms = [(form, number) for number, term in enumerate(GLOSSARY) for form in term.written_as]
    together: dict[int, list[str]] = {}
    for form, number in forms:
        together.setdefault(number, []).append(form)
    ordered = sorted(together, key=lambda number: -max(map(len, together[number])))
    groups = [f"(?P<term{number}>{'|'.join(sorted(together[number], key=len, reverse=True))})" for number in ordered]
    return re.compile(rf"(?<![\w@'-])(?:{'|'.join(groups)})(?![\w@'])")
