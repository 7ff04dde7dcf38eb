"""Transforms: maps fitted on the documents and applied to both sides, one a file.

A transform such as ``Whiten(0.5)`` is a plain value; ``fit`` turns it, given the documents' moments, into a map. The
imports between the two marks are the registry: to add a transform, write its file and import it there.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from offsphere.scoring.transforms.maps import AffineMap as AffineMap
from offsphere.scoring.transforms.maps import FittedMap as FittedMap
from offsphere.scoring.transforms.maps import Side as Side
from offsphere.scoring.transforms.maps import join_maps as join_maps
from offsphere.scoring.transforms.maps import parts_of as parts_of
from offsphere.scoring.transforms.transform import Transform as Transform
from offsphere.scoring.transforms.transform import fit_chain as fit_chain

# in the order in which a user is told of them
# isort: off
from offsphere.scoring.transforms.center import Center as Center
from offsphere.scoring.transforms.project_mean import ProjectMean as ProjectMean
from offsphere.scoring.transforms.temper import Temper as Temper
from offsphere.scoring.transforms.layer_norm import LayerNorm as LayerNorm
from offsphere.scoring.transforms.standardize import Standardize as Standardize
from offsphere.scoring.transforms.whiten import Whiten as Whiten
from offsphere.scoring.transforms.drop_top import DropTop as DropTop
from offsphere.scoring.transforms.linear import Linear as Linear
from offsphere.scoring.transforms.adapter_map import AdapterMap as AdapterMap
# isort: on

TRANSFORMS: Mapping[str, type[Transform]] = MappingProxyType(
    {
        transform.kind: transform
        for transform in tuple(vars().values())
        if isinstance(transform, type) and issubclass(transform, Transform) and transform is not Transform
    }
)
