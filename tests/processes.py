"""Other processes in tests: the environment they get, and how long one waits for them on a busy machine."""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PATIENCE = 1_800  # seconds: a limit against hanging for ever, far from what any process takes on a loaded machine
COMMAND = "from offsphere.cli import main; main()"
COMMAND_IMPORTS = ("tests.command",)


def environment_with(*folders: str | Path) -> dict[str, str]:
    """The environment of this process, with some more folders to import from."""
    known = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([*map(str, folders), *([known] if known else [])])
    return {**os.environ, "PYTHONPATH": path}


def run_warm(code, *arguments, imports, cwd=None, env=None):
    """Run a script in a process of its own that need not import again what is slow to import.

    It is forked from a process that has ``imports`` already; all else is as if it had been started by ``python -c``,
    but for the seed of hashes, which it shares with others of its kind.
    """
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder) / name for name in ("stdout", "stderr")]
        for stream in streams:
            stream.touch()
        job = {
            "code": code,
            "arguments": [str(argument) for argument in arguments],
            "folder": str(cwd or Path.cwd()),
            "environment": dict(os.environ if env is None else env),
            "stdout": str(streams[0]),
            "stderr": str(streams[1]),
        }
        returncode = _ask(_warm_process(imports), json.dumps(job))
        stdout, stderr = (stream.read_text() for stream in streams)
    return subprocess.CompletedProcess(job["arguments"], returncode, stdout, stderr)


def run_command(*arguments, **more):
    """Run ``offsphere`` with arguments in a process of its own: exit code, standard output and standard error."""
    return run_warm(COMMAND, *arguments, imports=COMMAND_IMPORTS, **more)


@cache
def _warm_process(imports):
    """The process that children are forked from; it ends when this one does."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.warm", *imports],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment_with(ROOT),
        start_new_session=True,
    )
    atexit.register(process.stdin.close)
    return process


def _ask(process, job):
    print(job, file=process.stdin, flush=True)
    if not select.select([process.stdout], [], [], PATIENCE)[0]:
        os.killpg(process.pid, 9)
    return int(process.stdout.readline())
