"""A process that has imported what is slow to import, and forks a child of itself for every job that it is sent.

``python -m tests.warm MODULE...`` reads a job a line, as JSON, from its standard input, and answers each with a line:
the exit code of the child. ``tests.processes.run_warm`` is how tests use it.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import sys
import traceback
from importlib import import_module
from types import ModuleType


def main():
    for name in sys.argv[1:]:
        import_module(name)
    gc.freeze()  # or children would copy every page that their collector looks at
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if not child:
            become(job)
            end(run(job["code"]))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def become(job):
    """Take on everything by which a script that was started in the usual way would differ from this process."""
    for descriptor, path in enumerate((os.devnull, job["stdout"], job["stderr"])):
        os.dup2(os.open(path, os.O_RDWR), descriptor)
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["environment"])
    sys.path[:0] = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder not in sys.path]
    sys.argv = ["-c", *job["arguments"]]
    sys.modules["__main__"] = ModuleType("__main__")


def run(code):
    """Run a script and give the exit code that it asks for."""
    try:
        exec(compile(code, "<job>", "exec"), sys.modules["__main__"].__dict__)
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        sys.stderr.write(f"{stop.code}\n")
        return 1
    except BaseException:  # noqa: BLE001  # as an interpreter does
        traceback.print_exc()
        return 1
    return 0


def end(code):
    """End as an interpreter does, but for taking all modules apart, which is what takes it long."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
