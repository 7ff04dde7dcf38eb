"""``import offsphere`` under 0.05 s and ``offsphere --help`` under 0.3 s, the interpreter's own start included."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from harness import Clock, Goals, quick


def main() -> None:
    rounds = 2 if quick(__doc__) else 8
    command = str(Path(sys.executable).with_name("offsphere"))
    clock = Clock()
    clock.run(
        {
            "python -c pass": lambda: subprocess.run([sys.executable, "-c", "pass"], check=True),
            "import offsphere": lambda: subprocess.run([sys.executable, "-c", "import offsphere"], check=True),
            "offsphere --help": lambda: subprocess.run([command, "--help"], check=True, stdout=subprocess.DEVNULL),
        },
        rounds,
    )
    clock.show()
    goals = Goals()
    goals.at_most("import offsphere, s", clock.wall["import offsphere"], 0.05)
    goals.at_most("offsphere --help, s", clock.wall["offsphere --help"], 0.3)
    goals.finish()


if __name__ == "__main__":
    main()
