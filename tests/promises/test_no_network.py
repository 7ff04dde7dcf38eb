"""The commands on local data open no connection: Python's own watch sees none, and the kernel counts none."""

from __future__ import annotations

import os

import pytest

from tests.kills.commands import write_ranking
from tests.processes import COMMAND, run_warm

IMPORTS = ("tests.command",)
SAW_ONE = 99
WATCH = """
import ctypes, os, sys

def forbid(event, arguments):
    if event in {events!r}:
        sys.stderr.write(f"{{event}} {{arguments!r}}")
        sys.stderr.flush()
        os._exit({saw_one})

sys.addaudithook(forbid)
"""
EVENTS = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.sendto"}
EVENTS |= {
    "socket.sendmsg",
    "socket.bind",
    "urllib.Request",
    "http.client.connect",
    "ftplib.connect",
    "smtplib.connect",
}

# a network of its own that leads nowhere; what compiled code tries there the kernel counts
ALONE = """
NEW_NETWORK, NEW_USER = 0x40000000, 0x10000000
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(NEW_NETWORK) and libc.unshare(NEW_NETWORK | NEW_USER):
    os._exit({no_namespaces})

def tried():
    counts = {{}}
    for name in ("snmp", "snmp6"):
        lines = [line.split() for line in open(f"/proc/self/net/{{name}}") if line.strip()]
        if name == "snmp":
            for names, numbers in zip(lines[::2], lines[1::2]):
                counts |= {{names[0] + key: int(number) for key, number in zip(names[1:], numbers[1:])}}
        else:
            counts |= {{key: int(number) for key, number in lines}}
    wanted = ("Ip:OutRequests", "Ip:OutNoRoutes", "Tcp:ActiveOpens", "Udp:OutDatagrams", "Ip6OutNoRoutes")
    return {{name: counts[name] for name in wanted if counts.get(name)}}

import atexit

@atexit.register
def report():
    if tried():
        sys.stderr.write(f"the kernel saw {{tried()}}")
        sys.stderr.flush()
        os._exit({saw_one})
"""
NO_NAMESPACES = 98
WATCHED = WATCH.format(events=EVENTS, saw_one=SAW_ONE)
COUNTED = "import ctypes, os, sys\n" + ALONE.format(saw_one=SAW_ONE, no_namespaces=NO_NAMESPACES)

TYPED = {
    "audit": "audit {data} --format html --out {out}/audit.html --save {out}/scorer",
    "audit, JSON": "audit {data} --json",
    "compare": "compare {data}",
    "measure": "measure {data}",
    "embed": "embed {data} --model wordllama --out {out}/vectors",
    "adapt": "adapt {data} --out {out} --epochs 1",
    "data": "data info {data}",
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranking")
    write_ranking(folder)
    return folder


def run(setting, name, data, out):
    arguments = TYPED[name].format(data=data, out=out).split()
    # as a user has it: nothing tells the hub's packages to stay offline
    kept = {key: value for key, value in os.environ.items() if key not in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")}
    settings = {**kept, "XDG_CACHE_HOME": str(out / "cache")}
    return run_warm(setting + COMMAND, *arguments, imports=IMPORTS, env=settings, cwd=out)


@pytest.mark.parametrize("name", TYPED)
def test_no_connection_is_opened_from_python(name, data, tmp_path):
    result = run(WATCHED, name, data, tmp_path)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", TYPED)
def test_no_connection_is_tried_by_compiled_code(name, data, tmp_path):
    result = run(COUNTED, name, data, tmp_path)
    if result.returncode == NO_NAMESPACES:
        pytest.skip("this system allows no network of one's own")
    assert result.returncode == 0, result.stderr


def test_the_watch_sees_a_connection():
    code = "import socket\nsocket.create_connection(('127.0.0.1', 9), 1)"
    assert run_warm(WATCHED + code, imports=IMPORTS).returncode == SAW_ONE


@pytest.mark.parametrize("kind", ["SOCK_STREAM", "SOCK_DGRAM"])
def test_the_kernel_counts_a_connection_that_python_does_not_see(kind):
    code = f"import _socket\nprobe = _socket.socket(_socket.AF_INET, _socket.{kind})\n"
    code += "libc.connect(probe.fileno(), b'\\x02\\0\\0\\x50\\x08\\x08\\x08\\x08' + bytes(8), 16)"
    result = run_warm(COUNTED + code, imports=IMPORTS)
    if result.returncode == NO_NAMESPACES:
        pytest.skip("this system allows no network of one's own")
    assert result.returncode == SAW_ONE, result.stderr
