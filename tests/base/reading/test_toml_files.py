"""Settings: what a person writes is read, and a few lines that unfold into millions of values are not."""

from __future__ import annotations

import pytest

from offsphere.base.errors import DataError
from offsphere.base.reading.toml_files import read_settings

yaml = pytest.importorskip("yaml")
STEPS = list(zip("abcdefgh", "bcdefghi", strict=True))
LAUGHS = ["a: &a [" + "ha, " * 9 + "ha]", *(f"{new}: &{new} [{f'*{old}, ' * 9}]" for old, new in STEPS)]
MERGES = ["a: &a {one: 1, two: 2}", *(f"{new}: &{new} {{<<: [{f'*{old}, ' * 9}]}}" for old, new in STEPS)]


def settings(folder, text, name="settings.yaml"):
    (folder / name).write_text(text)
    return read_settings(folder / name)


@pytest.mark.parametrize("lines", [LAUGHS, MERGES, ["a: &a [*a]"], ["a: &a {b: *a}"]])
def test_aliases_that_unfold_without_end_are_refused(tmp_path, lines):
    with pytest.raises(DataError, match=r"settings\.yaml is no YAML file: its aliases make more than 100,000 values"):
        settings(tmp_path, "\n".join(lines))


def test_a_value_that_is_used_twice_is_read(tmp_path):
    text = "usual: &usual {batch: 16, scale: [1, 0.5]}\nmine: {<<: *usual, batch: 8}\nother: *usual\n"
    assert settings(tmp_path, text) == yaml.safe_load(text)
    assert settings(tmp_path, text)["mine"] == {"batch": 8, "scale": [1, 0.5]}


@pytest.mark.parametrize("text", ["", "# nothing\n", "3", "[1, {a: null}]", "a: 2020-01-01", "? [1, 2]\n: 3"])
def test_whatever_else_stands_there_is_read_as_the_package_reads_it(tmp_path, text):
    try:
        expected = yaml.safe_load(text)
    except yaml.YAMLError:
        with pytest.raises(DataError):
            settings(tmp_path, text)
    else:
        assert settings(tmp_path, text) == expected


@pytest.mark.parametrize("value", ["!!int ''", "!!timestamp x", "!!bool x", "!!binary é", "2020-13-45", "!!float x"])
def test_a_value_that_is_none_of_its_kind_is_one_line(tmp_path, value):
    with pytest.raises(DataError, match=r"settings\.yaml is no YAML file: "):
        settings(tmp_path, f"a: {value}")


@pytest.mark.parametrize("name", ["settings.yaml", "settings.toml"])
def test_a_file_larger_than_settings_are_is_refused(tmp_path, name):
    with pytest.raises(DataError, match="is larger than 1,048,576 bytes"):
        settings(tmp_path, "# a long word\n" * 100_000, name)
