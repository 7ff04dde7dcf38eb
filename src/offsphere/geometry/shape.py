"""What was measured: every section of the geometry is a field here, with the function that measures it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from offsphere.base.in_notebook import InNotebook, NotebookView
from offsphere.base.plain import plain
from offsphere.geometry.ceiling import Ceiling, measure_ceiling
from offsphere.geometry.dimensions import Dimensions, measure_dimensions
from offsphere.geometry.dual import Dual, measure_dual
from offsphere.geometry.fisher import Fisher, measure_fisher
from offsphere.geometry.frequency import FrequencyBias, measure_frequency
from offsphere.geometry.gradients import Gradients, measure_gradients
from offsphere.geometry.hubness import Hubness, measure_hubness
from offsphere.geometry.isotropy import Isotropy, measure_isotropy
from offsphere.geometry.length import LengthSummary, measure_lengths
from offsphere.geometry.modalities import Modalities, measure_modalities
from offsphere.geometry.negatives import Negatives, measure_negatives
from offsphere.geometry.relevance import Relevance, measure_relevance
from offsphere.geometry.section import section, sections_of
from offsphere.geometry.spread import Spread, measure_spread


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Geometry(InNotebook):
    """What vectors look like. A section that was not asked for, or could not be measured, is empty.

    Printed, it is the sentence of every part. Each section is an attribute: a part, or a list with one a side.

    Example:
        >>> import numpy as np, offsphere as osp
        >>> shape = osp.measure(np.diag([3.0, 4.0, 5.0]).astype(np.float32), sections=["lengths"])
        >>> shape
        Geometry:
          vector: lengths vary by 20.4% of their mean, enough to change rankings
        >>> shape.lengths[0].mean, shape.relevance
        (4.0, None)
    """

    of: Mapping[str, Any]  # the task, or the shape of the vectors
    _: KW_ONLY
    lengths: Sequence[LengthSummary] = field(default=(), metadata=section(measure_lengths))
    relevance: Relevance | None = field(default=None, metadata=section(measure_relevance))
    dual: Dual | None = field(default=None, metadata=section(measure_dual))
    isotropy: Sequence[Isotropy] = field(default=(), metadata=section(measure_isotropy))
    negatives: Negatives | None = field(default=None, metadata=section(measure_negatives))
    dimensions: Sequence[Dimensions] = field(default=(), metadata=section(measure_dimensions))
    hubness: Sequence[Hubness] = field(default=(), metadata=section(measure_hubness))
    modalities: Modalities | None = field(default=None, metadata=section(measure_modalities))
    spread: Spread | None = field(default=None, metadata=section(measure_spread))
    ceiling: Ceiling | None = field(default=None, metadata=section(measure_ceiling))
    fisher: Fisher | None = field(default=None, metadata=section(measure_fisher))
    gradients: Sequence[Gradients] = field(default=(), metadata=section(measure_gradients))
    frequency: Sequence[FrequencyBias] = field(default=(), metadata=section(measure_frequency))
    skipped: Mapping[str, str] = field(default_factory=dict)  # section: why

    @property
    def parts(self) -> dict[str, Any]:
        """The sections that were measured, by name: a part, or a list of parts.

        Returns:
            A dictionary in the order of the sections; what is empty is left out.

        Example:
            >>> import numpy as np, offsphere as osp
            >>> list(osp.measure(np.eye(3, dtype=np.float32), sections=["hubness", "lengths"]).parts)
            ['lengths', 'hubness']
        """
        values = {name: getattr(self, name) for name in SECTIONS}
        return {name: part for name, part in values.items() if part is not None and part != ()}

    @property
    def sentences(self) -> list[str]:
        """What each part says, in plain words.

        Returns:
            A sentence a part, in the order of the sections.

        Example:
            >>> import numpy as np, offsphere as osp
            >>> osp.measure(np.eye(3, dtype=np.float32), sections=["isotropy"]).sentences
            ['vector: no narrow cone (mean cosine 0.000); the variance fills about 2 of 3 dimensions (IsoScore 0.500)']
        """
        return [record["sentence"] for record in self.records()]

    def __str__(self) -> str:
        """The sentences, a line each."""
        return "\n".join(["Geometry:", *(f"  {sentence}" for sentence in self.sentences)])

    def __repr__(self) -> str:
        """The sentences, cut where they are more than a screen."""
        lines = str(self).splitlines()
        cut = [line if len(line) <= WIDEST else f"{line[: WIDEST - 4]} ..." for line in lines[:MOST_LINES]]
        return "\n".join([*cut, *([f"  ... and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else [])])

    def notebook_view(self) -> NotebookView:
        """What each part says, section by section."""
        rows = [[record["section"], record["sentence"]] for record in self.records()]
        return NotebookView(["What the vectors look like"], ["section", "what was found"], rows)

    def records(self) -> list[dict[str, Any]]:
        """Give the sentence of every part, with its section.

        Returns:
            A dictionary a part.

        Example:
            >>> import numpy as np, offsphere as osp
            >>> osp.measure(np.eye(3, dtype=np.float32), sections=["lengths"]).records()[0]["section"]
            'lengths'
        """
        return [
            {"section": name, "sentence": str(part.sentence)}
            for name, parts in self.parts.items()
            for part in (parts if isinstance(parts, list) else [parts])
        ]

    def to_json(self) -> dict[str, Any]:
        """Plain values for machines, with the sentence of each part.

        Returns:
            What was measured, every section that is not empty, and why others were skipped; ``json.dumps`` takes it.

        Example:
            >>> import numpy as np, offsphere as osp
            >>> content = osp.measure(np.eye(3, dtype=np.float32), sections=["lengths"]).to_json()
            >>> content["of"], content["lengths"][0]["mean"]
            ({'vectors': {'vector': [3, 3]}}, 1.0)
        """
        content: dict[str, Any] = {"of": plain(self.of)}
        for name, part in self.parts.items():
            content[name] = [_to_json(each) for each in part] if isinstance(part, list) else _to_json(part)
        return {**content, "skipped": dict(self.skipped)}


def _to_json(part: Any) -> dict[str, Any]:
    return {"sentence": part.sentence, **plain(part)}


MEASURES = sections_of(Geometry)
SECTIONS = tuple(MEASURES)
WIDEST, MOST_LINES = 100, 18  # of what a prompt shows
