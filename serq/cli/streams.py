"""Standard output and standard error: a reader that goes away ends nothing, a full disk is an error with a name."""

import io
import os
import sys
from typing import TextIO

from serq.base.output import cannot_write


def to_stdout(text: str) -> None:
    """Print text as it is.

    When the reader has gone (`serq ... | head`), what is left is thrown away and the command goes on to its own exit
    status. LimitError when there is no room, OutputError when the system refuses for another reason.
    """
    try:
        _write(sys.stdout, text)
    except OSError as error:
        raise cannot_write("standard output", error) from error


def to_stderr(text: str) -> None:
    """Print a message and a line end; nothing can be said about a failure to say something."""
    try:
        _write(sys.stderr, text.rstrip("\n") + "\n")
    except OSError:
        return


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        discard(stream)
    except OSError:
        discard(stream)
        raise


def discard(stream: TextIO) -> None:
    """Send the rest to nowhere: the interpreter flushes its streams once more when it ends, and must not complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def prepare_streams() -> None:
    """Make both streams writable whatever they are: closed ones go nowhere, characters they lack are escaped."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.StringIO())
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
