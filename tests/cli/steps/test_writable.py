"""What cannot be written is refused before the work, whichever command would write it."""

from __future__ import annotations

import os

import pytest

from offsphere.base.errors import OffsphereError
from offsphere.cli.steps.writable import check_writable
from tests.cli.running import run_here


@pytest.fixture
def device(tmp_path):
    (tmp_path / "report.html").symlink_to("/dev/null")
    return tmp_path / "report.html"


def test_a_device_a_pipe_and_a_folder_are_refused(tmp_path, device):
    os.mkfifo(tmp_path / "pipe")
    for path in (device, tmp_path / "pipe"):
        with pytest.raises(OffsphereError, match="it is a device or pipe, no regular file: choose another name"):
            check_writable(path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(OffsphereError, match="it is a folder: choose another name"):
        check_writable(tmp_path / "folder")
    with pytest.raises(OffsphereError, match="File name too long"):
        check_writable(tmp_path / ("x" * 300) / "file")


def test_behind_a_symlink_it_is_the_other_folder_that_counts(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "far" / "report.html")
    check_writable(tmp_path / "link")
    assert (tmp_path / "far").is_dir()
    assert (tmp_path / "link").is_symlink()


def test_an_audit_onto_a_device_ends_before_it_begins(tmp_path, device):
    (tmp_path / "pairs.csv").write_text("sentence1,sentence2,score\na,b,1\nc,d,2\n")
    with pytest.raises(OffsphereError, match="it is a device or pipe, no regular file"):
        run_here("audit", tmp_path / "pairs.csv", "--model", "nowhere", "--out", device)
    assert device.is_symlink()


def test_an_export_onto_a_device_is_one_line(tmp_path):
    import numpy as np

    np.save(tmp_path / "v.npy", np.ones((3, 2), np.float32))
    run_here("data", "import", tmp_path / "v.npy", tmp_path / "store")
    (tmp_path / "out.npy").symlink_to("/dev/null")
    with pytest.raises(OffsphereError, match="it is a device or pipe, no regular file"):
        run_here("data", "export", tmp_path / "store", tmp_path / "out.npy")
    assert (tmp_path / "out.npy").is_symlink()
    assert not (tmp_path / "out.ids").exists()
