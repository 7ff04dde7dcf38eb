"""What we save carries digests: a changed byte is noticed, and what was saved before there were digests is read."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress

import pytest

from offsphere.base.errors import DataError
from offsphere.base.reading.sealed_json import read_sealed, write_sealed

VALUES = {"name": "é", "numbers": [1, 2.5, 1e-07, None], "inner": {"flag": True}}


@pytest.fixture
def path(tmp_path):
    write_sealed(tmp_path / "what.json", VALUES, {"numbers.bin": b"12345"})
    return tmp_path / "what.json"


def test_it_comes_back_as_it_was(path):
    assert read_sealed(path) == VALUES


def test_it_says_the_digests_of_the_files_beside_it(path):
    assert json.loads(path.read_bytes())["files"] == {"numbers.bin": hashlib.sha256(b"12345").hexdigest()}


def test_every_flipped_bit_is_noticed_or_changes_nothing(path):
    content = path.read_bytes()
    for position in range(len(content)):
        for bit in range(0, 8, 3):
            path.write_bytes(content[:position] + bytes([content[position] ^ 1 << bit]) + content[position + 1 :])
            with suppress(DataError):
                assert read_sealed(path) == VALUES


def test_a_file_beside_it_that_was_changed_or_is_missing_is_named(path):
    (path.parent / "numbers.bin").write_bytes(b"12346")
    with pytest.raises(DataError, match=r"numbers.bin is not the file that .*what.json describes"):
        read_sealed(path)
    (path.parent / "numbers.bin").unlink()
    with pytest.raises(DataError, match=r"numbers.bin does not exist"):
        read_sealed(path)


def test_white_space_and_order_do_not_matter(path):
    values = json.loads(path.read_bytes())
    path.write_text(json.dumps(dict(reversed(values.items()))))
    assert read_sealed(path) == VALUES


def test_what_has_no_format_is_of_the_first(tmp_path):
    (tmp_path / "old.json").write_text('{"name": "x"}')
    assert read_sealed(tmp_path / "old.json") == {"name": "x"}


@pytest.mark.parametrize("form", [0, 3, "2", None, 2.0, True, [2]])
def test_other_formats_are_refused(path, form):
    values = json.loads(path.read_bytes())
    path.write_text(json.dumps({**values, "format": form}))
    with pytest.raises(DataError, match=r"this version reads 2|is damaged"):
        read_sealed(path)


@pytest.mark.parametrize("files", [None, [], ["numbers.bin"], "numbers.bin", 5, {"../numbers.bin": "a"}, {"": "a"}])
def test_a_list_of_files_that_is_none_is_refused_even_where_the_digest_was_made_of_it(path, files):
    values = {**json.loads(path.read_bytes()), "files": files}
    del values["digest"]
    if files is None:
        del values["files"]
    digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps({**values, "digest": digest}))
    with pytest.raises(DataError, match=r"what\.json is damaged: it does not say"):
        read_sealed(path)
