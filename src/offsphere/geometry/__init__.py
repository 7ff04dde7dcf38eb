"""What vectors look like: lengths, isotropy, dimensions, hubs, tokens. One topic a file."""

from offsphere.geometry.change import correlate_changes, self_similarity_change
from offsphere.geometry.layers import measure_layers
from offsphere.geometry.measure import measure
from offsphere.geometry.scan import Scan, scan
from offsphere.geometry.shape import SECTIONS, Geometry

__all__ = [
    "SECTIONS",
    "Geometry",
    "Scan",
    "correlate_changes",
    "measure",
    "measure_layers",
    "scan",
    "self_similarity_change",
]
