"""serQ for VS Code and other editors that read TextMate grammars: an extension, as texts by file name."""

import json
import re
from collections.abc import Iterable, Mapping

from serq.base.version import __version__
from serq.editors import words as w

_NAME = r"[A-Za-z_]\w*"


def _any(listed: Iterable[str]) -> str:
    return "|".join(sorted(re.escape(word) for word in listed))


def _pair(before: str, keyword: str, name: str) -> dict[str, object]:
    """A keyword and the name behind it."""
    captures = {"1": {"name": keyword}, "2": {"name": name}}
    return {"match": rf"\b({before})\s+({_NAME})", "captures": captures}


def _match(pattern: str, name: str) -> dict[str, object]:
    return {"match": pattern, "name": name}


def grammar() -> dict[str, object]:
    """The TextMate grammar."""
    functions = {**w.FUNCTIONS, **w.OBSERVABLES}
    draws = {"1": {"name": "keyword.operator.draw.serq"}, "2": {"name": "support.function.draw.serq"}}
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "serQ",
        "scopeName": "source.serq",
        "fileTypes": ["sq"],
        "patterns": [
            _match("//.*$", "comment.line.double-slash.serq"),
            _match('"[^"\\n]*"', "string.quoted.double.serq"),
            _match(r"\b\d(?:_?\d)*(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?", "constant.numeric.serq"),
            _pair("let", "storage.type.serq", "variable.other.constant.serq"),
            _pair("pool|stage|gauge", "storage.type.serq", "entity.name.type.serq"),
            _pair("set|observe|choose", "keyword.control.serq", "variable.other.serq"),
            _pair("run|hold|grow|drop|growing|via|memory", "keyword.control.serq", "entity.name.type.serq"),
            {"match": rf"(~)\s*({_NAME})", "captures": draws},
            _match(rf"\b(?:{_any(functions)})\b(?=\s*\()", "support.function.serq"),
            _match(rf"\b(?:{_any(w.ITEMS)})\b", "storage.type.serq"),
            _match(rf"\b(?:{_any(w.KINDS)})\b", "support.type.serq"),
            _match(rf"\b(?:{_any({**w.STATEMENTS, **w.CLAUSES, **w.OPTIONS})})\b", "keyword.control.serq"),
            _match(rf"\b(?:{_any(w.ATTRIBUTES)})\b", "variable.language.serq"),
            _match(r"&&|\|\||[=!<>]=|[-+*/%<>=!?~]", "keyword.operator.serq"),
        ],
    }


def _package() -> dict[str, object]:
    return {
        "name": "serq",
        "displayName": "serQ",
        "description": "The language of serving deployments",
        "version": __version__,
        "publisher": "serq",
        "license": "Apache-2.0",
        "engines": {"vscode": "^1.60.0"},
        "categories": ["Programming Languages"],
        "contributes": {
            "languages": [
                {
                    "id": "serq",
                    "aliases": ["serQ"],
                    "extensions": [".sq"],
                    "configuration": "./language-configuration.json",
                }
            ],
            "grammars": [{"language": "serq", "scopeName": "source.serq", "path": "./syntaxes/serq.tmLanguage.json"}],
        },
    }


def _configuration() -> dict[str, object]:
    pairs = [["{", "}"], ["[", "]"], ["(", ")"]]
    return {
        "comments": {"lineComment": "//"},
        "brackets": pairs,
        "autoClosingPairs": [*pairs, ['"', '"']],
        "surroundingPairs": [*pairs, ['"', '"']],
    }


def files() -> Mapping[str, str]:
    """The files of the extension: a folder `serq` among those of VS Code's extensions."""
    documents = {
        "package.json": _package(),
        "language-configuration.json": _configuration(),
        "syntaxes/serq.tmLanguage.json": grammar(),
    }
    return {name: json.dumps(document, indent=2) + "\n" for name, document in documents.items()}
