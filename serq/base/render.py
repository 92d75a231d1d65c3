"""The one place where a diagnostic becomes text."""

from collections.abc import Iterable

from serq.base.diagnostics import Diagnostic
from serq.base.source import SourceFile, Span


def render(source: SourceFile, diagnostic: Diagnostic) -> str:
    """`FILE:LINE:COL: error[CODE]: message`, the source line, carets, notes, and a hint where there is one."""
    span = diagnostic.span
    place = f"{source.name}:{span.line}:{span.column}" if span.line else source.name
    out = [f"{place}: {diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}"]
    out += _excerpt(source, span)
    for note in diagnostic.notes:
        where = f"{source.name}:{note.span.line}:{note.span.column}: " if note.span.line else ""
        out.append(f"{where}note: {note.message}")
        out += _excerpt(source, note.span)
    if diagnostic.hint:
        out.append(f"hint: {diagnostic.hint}")
    return "\n".join(out)


def render_all(source: SourceFile, diagnostics: Iterable[Diagnostic]) -> str:
    """The diagnostics in the order of their places, a blank line between."""
    ordered = sorted(diagnostics, key=lambda d: (d.span, d.code))
    return "\n\n".join(render(source, d) for d in ordered)


_WIDEST = 160
"""A line longer than this is cut around the span: a program may be one line of a megabyte."""


def _excerpt(source: SourceFile, span: Span) -> list[str]:
    if not span.line:
        return []
    text = source.line(span.line).replace("\t", " ")
    start = span.column - 1
    end = span.end_column - 1 if span.end_line == span.line else len(text)
    if len(text) > _WIDEST:
        cut = max(0, start - _WIDEST // 2)
        text, start, end = text[cut : cut + _WIDEST], start - cut, end - cut
    width = max(1, min(end, len(text)) - start)
    margin = f"{span.line:>5} | "
    return [margin + text, " " * (len(margin) - 2) + "| " + " " * start + "^" * width]
