"""Files that appear whole or not at all."""

from __future__ import annotations

import pytest

from offsphere.base.errors import OffsphereError
from offsphere.base.files import write_whole


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "deep" / "file"
    write_whole(path, b"first")
    write_whole(path, b"second")
    assert path.read_bytes() == b"second"
    assert [item.name for item in path.parent.iterdir()] == ["file"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_file_that_cannot_be_written_is_one_line_and_changes_nothing(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OffsphereError, match="folder: it is a folder: choose another name; nothing was changed"):
        write_whole(tmp_path / "folder", b"")
    assert [item.name for item in tmp_path.iterdir()] == ["folder"]
    (tmp_path / "file").write_text("")
    with pytest.raises(OffsphereError, match="choose another folder"):
        write_whole(tmp_path / "file" / "below", b"")
