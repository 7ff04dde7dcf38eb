"""Everything the command imports when it first works, imported at once: what a warm process of the tests has."""

from __future__ import annotations

from importlib import import_module

from typer.testing import CliRunner

from offsphere.cli import app

for name in ("altair", "numba", "offsphere.auditing.run", "pyarrow.parquet", "scipy.stats"):
    import_module(name)
CliRunner().invoke(app, ["--version"])
