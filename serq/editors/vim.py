"""serQ for Vim and Neovim: a syntax file and the ending by which it is found, as texts by file name."""

from collections.abc import Iterable, Mapping
from textwrap import wrap

from serq.editors import words as w

_HEAD = """\
" Vim syntax file
" Language: serQ, the language of serving deployments

if exists("b:current_syntax")
  finish
endif

"""
_TAIL = """\
syntax match serqOperator "[-+*/%<>=!?]\\|&&\\|||"
syntax match serqDraw "\\~\\s*\\h\\w*"
syntax match serqNumber "\\<\\d[0-9_]*\\(\\.\\d*\\)\\?\\([eE][-+]\\?\\d\\+\\)\\?"
syntax region serqString start=+"+ end=+"+ oneline
syntax match serqComment "//.*$" contains=@Spell

highlight default link serqItem Structure
highlight default link serqStatement Statement
highlight default link serqKind Type
highlight default link serqFunction Function
highlight default link serqAttribute Identifier
highlight default link serqOperator Operator
highlight default link serqDraw Special
highlight default link serqNumber Number
highlight default link serqString String
highlight default link serqComment Comment

let b:current_syntax = "serq"
"""


def _keywords(group: str, listed: Iterable[str]) -> str:
    return "".join(f"syntax keyword {group} {line}\n" for line in wrap(" ".join(sorted(listed)), 80))


def syntax() -> str:
    """The syntax file."""
    groups = {
        "serqItem": w.ITEMS,
        "serqKind": w.KINDS,
        "serqStatement": {**w.STATEMENTS, **w.CLAUSES, **w.OPTIONS},
        "serqFunction": {**w.FUNCTIONS, **w.OBSERVABLES},
        "serqAttribute": w.ATTRIBUTES,
    }
    return _HEAD + "".join(_keywords(group, listed) for group, listed in groups.items()) + _TAIL


def files() -> Mapping[str, str]:
    """The files, in the folders where Vim looks for them."""
    found = "autocmd BufNewFile,BufRead *.sq setfiletype serq\n"
    options = "setlocal commentstring=//\\ %s\nsetlocal expandtab shiftwidth=2\n"
    return {"syntax/serq.vim": syntax(), "ftdetect/serq.vim": found, "ftplugin/serq.vim": options}
