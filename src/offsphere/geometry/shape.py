"""What was measured: a part a section, and why a section is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from offsphere.base.plain import plain
from offsphere.geometry.dimensions import Dimensions
from offsphere.geometry.dual import Dual
from offsphere.geometry.fisher import Fisher
from offsphere.geometry.frequency import FrequencyBias
from offsphere.geometry.gradients import Gradients
from offsphere.geometry.hubness import Hubness
from offsphere.geometry.isotropy import Isotropy
from offsphere.geometry.length import LengthSummary
from offsphere.geometry.negatives import Negatives
from offsphere.geometry.relevance import Relevance


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Geometry:
    """What vectors look like. A section that was not asked for, or could not be measured, is empty."""

    of: Mapping[str, Any]  # the task, or the shape of the vectors
    lengths: Sequence[LengthSummary] = ()
    relevance: Relevance | None = None
    dual: Dual | None = None
    isotropy: Sequence[Isotropy] = ()
    negatives: Negatives | None = None
    dimensions: Sequence[Dimensions] = ()
    hubness: Sequence[Hubness] = ()
    fisher: Fisher | None = None
    gradients: Sequence[Gradients] = ()
    frequency: Sequence[FrequencyBias] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)  # section: why

    @property
    def sentences(self) -> list[str]:
        """What each section says, in plain words."""
        parts: list[Any] = []
        for name in SECTIONS:
            found = getattr(self, name)
            parts += found if isinstance(found, list) else [found] if found is not None and found != () else []
        return [str(part.sentence) for part in parts]

    def __repr__(self) -> str:
        """The sentences, a line each."""
        return "\n".join(["Geometry:", *(f"  {sentence}" for sentence in self.sentences)])

    def to_json(self) -> dict[str, Any]:
        """Plain values for machines, with the sentence of each part."""
        found: dict[str, Any] = {"of": plain(self.of)}
        for name in SECTIONS:
            part = getattr(self, name)
            if isinstance(part, list):
                found[name] = [{"sentence": each.sentence, **plain(each)} for each in part]
            elif part is not None and part != ():
                found[name] = {"sentence": part.sentence, **plain(part)}
        return {**found, "skipped": dict(self.skipped)}


SECTIONS = (
    "lengths",
    "relevance",
    "dual",
    "isotropy",
    "negatives",
    "dimensions",
    "hubness",
    "fisher",
    "gradients",
    "frequency",
)
