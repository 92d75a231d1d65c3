"""How a command ends: every error becomes a message on stderr (or JSON on stdout) and an exit status."""

import json
import os
import sys
import tempfile
import traceback

import click

from serq.base.errors import DiagnosedError, InputError, SerqError
from serq.base.render import render_all

INTERRUPTED = 130
INTERNAL = 70


def run_and_report(command: click.Command, arguments: list[str]) -> int:
    """Run the command; return its exit status."""
    as_json = "--json" in arguments
    try:
        result = command.main(arguments, prog_name="serq", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        return _usage(error, as_json)
    except SerqError as error:
        return _known(error, as_json)
    except (KeyboardInterrupt, click.Abort):
        print("serq: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone; the interpreter must not complain when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except RecursionError:
        print("serq: error: the input is nested too deeply", file=sys.stderr)
        return 3
    except Exception:
        return _internal()


def _usage(error: click.ClickException, as_json: bool) -> int:
    if as_json:
        _print_json("usage", error.format_message(), error.exit_code)
    else:
        error.show(file=sys.stderr)
    return error.exit_code


def _known(error: SerqError, as_json: bool) -> int:
    if isinstance(error, DiagnosedError):
        if as_json:
            diagnostics = [d.to_dict(error.source.name) for d in error.diagnostics]
            _print_json(type(error).__name__, str(error), error.exit_status, diagnostics)
        else:
            print(render_all(error.source, error.diagnostics), file=sys.stderr)
        return error.exit_status
    code = f"[{error.code}]" if isinstance(error, InputError) else ""
    if as_json:
        _print_json(type(error).__name__, str(error), error.exit_status)
    else:
        print(f"serq: error{code}: {error}", file=sys.stderr)
        if isinstance(error, InputError) and error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)
    return error.exit_status


def _print_json(kind: str, message: str, status: int, diagnostics: list[dict[str, object]] | None = None) -> None:
    error: dict[str, object] = {"kind": kind, "message": message, "exit_status": status}
    if diagnostics is not None:
        error["diagnostics"] = diagnostics
    print(json.dumps({"error": error}, allow_nan=False))


def _internal() -> int:
    with tempfile.NamedTemporaryFile("w", prefix="serq-traceback-", suffix=".txt", delete=False) as file:
        traceback.print_exc(file=file)
    last = traceback.format_exc().strip().splitlines()[-1]
    print(f"serq: internal error: this is a bug in serQ, not in your program: {last}", file=sys.stderr)
    print(f"the full traceback is in {file.name}; please report it", file=sys.stderr)
    return INTERNAL
