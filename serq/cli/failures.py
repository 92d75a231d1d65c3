"""How a command ends: every error becomes a message on stderr (or JSON on stdout) and an exit status."""

import io
import json
import signal
import sys
import tempfile
import traceback
from types import FrameType

import click

from serq.base.errors import DiagnosedError, LimitError, PlacelessError, SerqError
from serq.base.render import render_all
from serq.base.version import __version__
from serq.cli.streams import discard, to_stderr, to_stdout

INTERRUPTED = 130
TERMINATED = 128 + signal.SIGTERM
INTERNAL = 70
"""serQ itself is at fault: the one status that says nothing about the program."""


class Stops:
    """The signals that ask this process to end, and whether one has: libraries may hide the exception it raised."""

    def __init__(self) -> None:
        self._stop: BaseException | None = None

    def install(self) -> None:
        """Heed the signals; Ctrl-C only where whoever started us has not switched it off."""
        signal.signal(signal.SIGTERM, self.terminate)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self.interrupt)

    def terminate(self, number: int, frame: FrameType | None) -> None:
        """End in order, so that no process of ours goes on alone."""
        self._stop = SystemExit(TERMINATED)
        raise self._stop

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """End as Python does at Ctrl-C."""
        self._stop = KeyboardInterrupt()
        raise self._stop

    def again(self) -> None:
        """Raise what a signal has raised, if one has."""
        if self._stop is not None:
            raise self._stop


def run_and_report(command: click.Command, arguments: list[str], stops: Stops | None = None) -> int:
    """Run the command; return its exit status."""
    try:
        return _run(command, arguments, stops or Stops())
    except (KeyboardInterrupt, click.Abort):
        return _fail("Interrupted", "interrupted", INTERRUPTED, "--json" in arguments)


def _run(command: click.Command, arguments: list[str], stops: Stops) -> int:
    """Run the command without click's own way of ending, which has other statuses than ours."""
    as_json = "--json" in arguments
    try:
        with command.make_context("serq", arguments) as context:
            command.invoke(context)
        to_stdout("")
        return 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except BrokenPipeError:
        return _unread()
    except click.ClickException as error:
        return _usage(error, as_json)
    except SerqError as error:
        return _known(error, as_json)
    except MemoryError:
        return _known(LimitError("there is not enough memory for this"), as_json)
    except Exception:
        stops.again()
        return _internal(as_json)


def _unread() -> int:
    """Nobody reads click's own help any more: that is no failure."""
    discard(sys.stdout)
    return 0


def _usage(error: click.ClickException, as_json: bool) -> int:
    if as_json:
        return _fail("UsageError", error.format_message(), error.exit_code, as_json)
    text = io.StringIO()
    error.show(file=text)
    to_stderr(text.getvalue())
    return error.exit_code


def _known(error: SerqError, as_json: bool) -> int:
    kind = type(error).__name__
    if isinstance(error, DiagnosedError):
        if as_json:
            diagnostics = [d.to_dict(error.source.name) for d in error.diagnostics]
            return _fail(kind, str(error), error.exit_status, as_json, diagnostics=diagnostics)
        to_stderr(render_all(error.source, error.diagnostics))
        return error.exit_status
    if isinstance(error, PlacelessError):
        return _fail(kind, str(error), error.exit_status, as_json, code=error.code, hint=error.hint)
    return _fail(kind, str(error), error.exit_status, as_json)


def _internal(as_json: bool) -> int:
    with tempfile.NamedTemporaryFile("w", prefix="serq-traceback-", suffix=".txt", delete=False) as file:
        traceback.print_exc(file=file)
    last = traceback.format_exc().strip().splitlines()[-1]
    message = f"internal error: this is a bug in serQ, not in your program: {last}"
    return _fail(
        "InternalError", message, INTERNAL, as_json, hint=f"please report it, with the traceback in {file.name}"
    )


def _fail(kind: str, message: str, status: int, as_json: bool, **more: object) -> int:
    """Say what happened, to a person or to a program; return the status."""
    if as_json:
        error = {"kind": kind, "message": message, "exit_status": status} | {k: v for k, v in more.items() if v}
        report = {"serq_version": __version__, "schema": "serq.error/1", "error": error}
        to_stdout(json.dumps(report, indent=2, allow_nan=False) + "\n")
        return status
    code = f"[{more['code']}]" if "code" in more else ""
    prefix = "" if status == INTERRUPTED else f"error{code}: "
    hint = f"\nhint: {more['hint']}" if more.get("hint") else ""
    to_stderr(f"serq: {prefix}{message}{hint}")
    return status
