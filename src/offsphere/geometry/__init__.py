"""What vectors look like: lengths, isotropy, dimensions, hubs, tokens. One topic a file."""

from offsphere.geometry.change import correlate_changes, self_similarity_change
from offsphere.geometry.layers import measure_layers
from offsphere.geometry.measurement import check_sections, measure
from offsphere.geometry.scanning import Scan, scan
from offsphere.geometry.shape import SECTIONS, Geometry
from offsphere.geometry.words import measure_words

__all__ = [
    "SECTIONS",
    "Geometry",
    "Scan",
    "check_sections",
    "correlate_changes",
    "measure",
    "measure_layers",
    "measure_words",
    "scan",
    "self_similarity_change",
]
