"""Similarities: formulas in an inner product and the two lengths, one a file. Bigger is better.

Cosine and the dot product have no file of their own: they are points of ``polar``, ``Polar(1, 1)`` and ``Polar(0, 0)``.

The imports between the two marks are the registry: to add a similarity, write its file and import it there.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from offsphere.scoring.similarity.formula import Agreement as Agreement
from offsphere.scoring.similarity.formula import Form as Form
from offsphere.scoring.similarity.formula import Similarity as Similarity
from offsphere.scoring.similarity.formula import Terms as Terms
from offsphere.scoring.similarity.polar import CORNERS as CORNERS
from offsphere.scoring.similarity.polar import COSINE as COSINE
from offsphere.scoring.similarity.polar import DOT as DOT

# in the order in which a user is told of them
# isort: off
from offsphere.scoring.similarity.polar import Polar as Polar
from offsphere.scoring.similarity.euclidean import Euclidean as Euclidean
from offsphere.scoring.similarity.angular import Angular as Angular
from offsphere.scoring.similarity.norm_mix import NormMix as NormMix
from offsphere.scoring.similarity.log_prior import LogPrior as LogPrior
from offsphere.scoring.similarity.length_prior import LengthPrior as LengthPrior
from offsphere.scoring.similarity.norm_gap import NormGap as NormGap
from offsphere.scoring.similarity.overlap import Overlap as Overlap
from offsphere.scoring.similarity.tanh import Tanh as Tanh
from offsphere.scoring.similarity.radial_confidence import RadialConfidence as RadialConfidence
# isort: on

FAMILIES: Mapping[str, type[Similarity]] = MappingProxyType(
    {
        family.kind: family
        for family in tuple(vars().values())
        if isinstance(family, type) and issubclass(family, Similarity) and family is not Similarity
    }
)
