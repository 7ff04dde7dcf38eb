"""How points of Qdrant are named: as the standard library names them."""

from __future__ import annotations

import uuid

from hypothesis import given
from hypothesis import strategies as st

from offsphere.engines.qdrant_parameters import _NAMESPACE, point_id


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_id_of_a_point_is_the_uuid_of_its_name(name):
    assert point_id(name) == str(uuid.uuid5(_NAMESPACE, name))
