"""What is printed of the probe of an ablation: what variants start from, and what each comes to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from offsphere.cli.tables.ablation_table import dynamics_cells, print_ablation, print_dynamics
from offsphere.learning.ablation.ablation import Ablation, VariantResult, VariantRow


def ablation_of(starts, seeds=1):
    """Two steps of a variant for each start, with a row of a layer between, which is not shown."""
    rows = [
        {"variant": name, "step": step, "layer": layer, "document_anisotropy": value + step, "alignment": 0.5}
        for name, value in starts.items()
        for step, layer in ((0, None), (2, 0), (2, None))
    ]
    return Ablation(
        [{"name": "t", "queries": 4}],
        "spearman",
        [],
        untouched=[0.3],
        seeds=seeds,
        trials=1,
        findings=[],
        counts={"pairs": 3, "held_out": 2},
        dynamics=rows,
    )


def test_one_row_tells_what_all_variants_start_from():
    heads, rows = dynamics_cells(ablation_of({"batch 16": 0.25, "batch 64": 0.25}))
    assert heads == ["variant", "anisotropy", "alignment"]
    assert rows == [["before", "0.250", "0.500"], ["batch 16", "2.250", "0.500"], ["batch 64", "2.250", "0.500"]]


def test_variants_that_start_from_different_vectors_have_a_start_each():
    """Of another pooling the same model has other vectors before any training."""
    _, rows = dynamics_cells(ablation_of({"pooling mean": 0.25, "pooling cls": 0.75}))
    assert [row[:2] for row in rows] == [
        ["pooling mean, before", "0.250"],
        ["pooling cls, before", "0.750"],
        ["pooling mean", "2.250"],
        ["pooling cls", "2.750"],
    ]


@pytest.mark.parametrize(("seeds", "told"), [(1, False), (3, True)])
def test_of_several_seeds_it_says_that_the_first_is_shown(capsys, seeds, told):
    print_dynamics(ablation_of({"cosine": 0.25}, seeds))
    printed = " ".join(capsys.readouterr().out.split())  # a title is wrapped where the table is narrow
    assert "The probe at the end" in printed
    assert ("of the first seed" in printed) == told


def test_without_dynamics_there_are_no_rows():
    assert dynamics_cells(ablation_of({})) == (["variant"], [])


def test_no_number_of_a_table_is_cut_however_long_the_names_are(capsys):
    names = [
        f"vrns {weight} + batch {size} + pooling mean + temperature 0.0125" for weight in (0, 30) for size in (16, 256)
    ]
    results = [
        VariantResult(0.7609, 0.7335, 0.7863, 0.0003, 0.0002, -0.001, 0.0015, p) for p in (None, 1.0, 0.0123, 1e-4)
    ]
    rows = [
        VariantRow(name, 0.0125, 0.003, 0.7, [result] * 2, 1.0, (1.0, 1.0), 0.1)
        for name, result in zip(names, results, strict=True)
    ]
    ablation = ablation_of(dict.fromkeys(names, 0.25))
    tasks = [{"name": name, "queries": 4} for name in ("stsb/test", "another task out of the domain")]
    print_ablation(replace(ablation, tasks=tasks, rows=rows, untouched=[0.3, 0.3]))
    print_dynamics(ablation)
    printed = capsys.readouterr().out
    assert "\u2026" not in printed
    assert all(name in printed for name in names)
    assert printed.split().count("0.012") == printed.split().count("0.0001") == 2  # a p on each task
