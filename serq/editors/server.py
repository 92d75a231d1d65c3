"""The language server: what `serq.editors.document` knows, in the Language Server Protocol over standard streams."""

import os
import sys
from collections.abc import Sequence
from pathlib import PurePosixPath

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from serq.base.diagnostics import Diagnostic, Note
from serq.base.errors import LoadError
from serq.base.source import SourceFile, Span
from serq.base.version import __version__
from serq.editors.document import Document
from serq.syntax.parser import parse
from serq.syntax.printer import format_module

_SEVERITIES = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}
_KINDS = {
    "keyword": lsp.CompletionItemKind.Keyword,
    "function": lsp.CompletionItemKind.Function,
    "draw": lsp.CompletionItemKind.Function,
    "constant": lsp.CompletionItemKind.Constant,
    "attribute": lsp.CompletionItemKind.Variable,
    "pool": lsp.CompletionItemKind.Class,
    "stage": lsp.CompletionItemKind.Class,
    "gauge": lsp.CompletionItemKind.Variable,
}


def server() -> LanguageServer:
    """A server that has not begun to listen."""
    out = LanguageServer("serq", __version__)
    out.feature(lsp.TEXT_DOCUMENT_DID_OPEN)(_opened)
    out.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)(_changed)
    out.feature(lsp.TEXT_DOCUMENT_HOVER)(_hover)
    out.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["~"]))(_complete)
    out.feature(lsp.TEXT_DOCUMENT_DEFINITION)(_define)
    out.feature(lsp.TEXT_DOCUMENT_FORMATTING)(_format)
    return out


def serve() -> None:
    """Serve over standard input and output until the client goes away."""
    # Copies, since the streams that are served are closed at the end, and ours are needed still.
    with (
        os.fdopen(os.dup(sys.stdin.fileno()), "rb") as reading,
        os.fdopen(os.dup(sys.stdout.fileno()), "wb") as writing,
    ):
        server().start_io(reading, writing)


# -- positions: the protocol counts from 0 and, in a line, units of UTF-16 -------------------------------------------


def _document(ls: LanguageServer, uri: str) -> Document:
    text = ls.workspace.get_text_document(uri).source
    return Document(SourceFile(PurePosixPath(uri).name, text))


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _range(source: SourceFile, span: Span) -> lsp.Range:
    if not span.line:
        return lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    start = _units(source.line(span.line)[: span.column - 1])
    end = _units(source.line(span.end_line)[: span.end_column - 1])
    return lsp.Range(lsp.Position(span.line - 1, start), lsp.Position(span.end_line - 1, end))


def _place(source: SourceFile, position: lsp.Position) -> tuple[int, int]:
    """Line and column, from 1, of a position of the protocol."""
    text = source.line(position.line + 1)
    column = next((i for i in range(len(text)) if _units(text[:i]) >= position.character), len(text))
    return position.line + 1, column + 1


# -- diagnostics -----------------------------------------------------------------------------------------------------


def _opened(ls: LanguageServer, params: lsp.DidOpenTextDocumentParams) -> None:
    _publish(ls, params.text_document.uri)


def _changed(ls: LanguageServer, params: lsp.DidChangeTextDocumentParams) -> None:
    _publish(ls, params.text_document.uri)


def _publish(ls: LanguageServer, uri: str) -> None:
    document = _document(ls, uri)
    found = [_diagnostic(document.source, d, uri) for d in document.diagnostics()]
    ls.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found))


def _diagnostic(source: SourceFile, d: Diagnostic, uri: str) -> lsp.Diagnostic:
    return lsp.Diagnostic(
        range=_range(source, d.span),
        message=f"{d.message}\nhint: {d.hint}" if d.hint else d.message,
        severity=_SEVERITIES[d.severity],
        code=d.code,
        source="serq",
        related_information=_related(source, d.notes, uri),
    )


def _related(source: SourceFile, notes: Sequence[Note], uri: str) -> list[lsp.DiagnosticRelatedInformation]:
    return [
        lsp.DiagnosticRelatedInformation(lsp.Location(uri, _range(source, note.span)), note.message)
        for note in notes
        if note.span.line
    ]


# -- what is asked about a place -------------------------------------------------------------------------------------


def _hover(ls: LanguageServer, params: lsp.HoverParams) -> lsp.Hover | None:
    document = _document(ls, params.text_document.uri)
    word, span = document.word_at(*_place(document.source, params.position))
    about = document.about(word) if word else ""
    if not about:
        return None
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, about), _range(document.source, span))


def _complete(ls: LanguageServer, params: lsp.CompletionParams) -> lsp.CompletionList:
    document = _document(ls, params.text_document.uri)
    found = document.suggestions(*_place(document.source, params.position))
    items = [
        lsp.CompletionItem(s.text, kind=_KINDS[s.kind], detail=s.about, sort_text=f"{place:04}")
        for place, s in enumerate(found)
    ]
    return lsp.CompletionList(is_incomplete=False, items=items)


def _define(ls: LanguageServer, params: lsp.DefinitionParams) -> lsp.Location | None:
    document = _document(ls, params.text_document.uri)
    word, _ = document.word_at(*_place(document.source, params.position))
    declared = document.declarations.get(word)
    return None if declared is None else lsp.Location(params.text_document.uri, _range(document.source, declared.span))


def _format(ls: LanguageServer, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
    source = _document(ls, params.text_document.uri).source
    try:
        text = format_module(parse(source))
    except LoadError:
        return []
    whole = Span(1, 1, len(source.lines), len(source.lines[-1]) + 1)
    return [lsp.TextEdit(_range(source, whole), text)]
