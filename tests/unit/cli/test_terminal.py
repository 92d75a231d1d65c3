"""What a terminal shows and what a file gets: a bar only where somebody looks, control characters nowhere else."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x9b]")
"""Everything that is neither text nor a tab or a line end."""


def on_a_terminal(*command: str, ctrl_c_at: bytes = b"", **env: str) -> tuple[int, str, str]:
    """Run with stderr on a terminal and stdout in a pipe: status, stdout, what the terminal got. Ctrl-C is pressed
    when the terminal shows `ctrl_c_at`.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "serq", *command],
        stdout=subprocess.PIPE, stderr=theirs, text=True, env=os.environ | {"TERM": "xterm"} | env,
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([ours], [], [], 0.1)
        try:
            piece = os.read(ours, 1 << 16) if ready else b""
        except OSError:  # the other end is closed
            break
        seen += piece
        if ctrl_c_at and ctrl_c_at in seen:
            process.send_signal(signal.SIGINT)
            ctrl_c_at = b""
    out, _ = process.communicate(timeout=60)
    os.close(ours)
    return process.returncode, out, seen.decode(errors="replace")


@pytest.mark.parametrize("verb", ["run", "solve", "check", "lint"])
def test_no_control_characters_where_there_is_no_terminal(process, write, verb) -> None:
    done = process(verb, write("let unused = 1;" + write().read_text()), env={"TERM": "xterm", "FORCE_COLOR": "1"})
    assert done.status == 0
    assert not CONTROL.search(done.out + done.err)


def test_a_bar_on_a_terminal(write) -> None:
    status, out, seen = on_a_terminal("run", str(write()), "--horizon", "30000")
    assert status == 0
    assert "simulating" in seen
    assert "\x1b[" in seen
    assert not CONTROL.search(out)


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "dumb"])
def test_no_control_characters_where_they_are_not_wanted(write, env) -> None:
    status, _, seen = on_a_terminal("run", str(write()), "--horizon", "30000", **env)
    assert (status, seen) == (0, "")


def test_quiet_means_no_bar_and_no_warnings(write) -> None:
    path = write("let unused = 1;" + write().read_text())
    assert on_a_terminal("run", str(path), "--quiet", "--horizon", "30000")[2] == ""


def test_ctrl_c_gives_the_terminal_its_cursor_back(write) -> None:
    status, _, seen = on_a_terminal("run", str(write()), "--horizon", "1e9", ctrl_c_at=b"simulating")
    assert status == 130
    assert seen.index("\x1b[?25l") < seen.index("\x1b[?25h")
    assert seen.endswith("serq: interrupted\r\n")


def test_the_bar_of_an_exploration_counts_states(write) -> None:
    path = write(
        "stage a : fifo; stage b : fifo; stage c : delay; workload { arrive closed(45); }\n"
        "session { loop { run a (~exp(1)); run b (~exp(2)); run c (~exp(3)); observe x = 1; } }"
    )
    status, _, seen = on_a_terminal("solve", str(path))
    assert status == 0
    assert re.search(r"exploring: \d+ states, \d+ to do", seen)


def test_characters_that_the_terminal_lacks_are_escaped(process, write) -> None:
    path = write("// Takács\nlet a = Takács;\n")
    done = process("lint", path, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.status == 1
    assert "\\xe1" in done.out
