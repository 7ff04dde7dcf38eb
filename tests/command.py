"""What a run of the command imports, whatever it is asked to do: for ``tests.processes.run_command``."""

from __future__ import annotations

from importlib import import_module

from typer.testing import CliRunner

from offsphere.cli import app

for name in ("altair", "numba", "offsphere.audit.run", "pyarrow.parquet", "scipy.stats"):
    import_module(name)
CliRunner().invoke(app, ["--version"])
