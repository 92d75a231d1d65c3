"""What can be wrong with a program file, its characters and its brackets, one class for each code.

SQ001-009 files, SQ010-019 characters and words, SQ020-029 brackets and nesting.
"""

from typing import ClassVar

from serq.base.diagnostics import Diagnostic
from serq.base.source import Span

# -- files -----------------------------------------------------------------------------------------------------------


class NoSuchFile(Diagnostic):
    """The path names nothing."""

    code: ClassVar[str] = "SQ001"
    template: ClassVar[str] = "there is no file `{path}`"
    hint_template: ClassVar[str] = "{advice}"

    path: str
    advice: str = ""


class IsDirectory(Diagnostic):
    """The path names a directory."""

    code: ClassVar[str] = "SQ002"
    template: ClassVar[str] = "`{path}` is a directory"
    hint_template: ClassVar[str] = "name one program file, such as `{path}/model.sq`"

    path: str


class Unreadable(Diagnostic):
    """The system refuses to give the file."""

    code: ClassVar[str] = "SQ003"
    template: ClassVar[str] = "`{path}` cannot be read: {reason}"

    path: str
    reason: str


class NotText(Diagnostic):
    """The file holds NUL bytes, which no text does."""

    code: ClassVar[str] = "SQ004"
    template: ClassVar[str] = "`{path}` is no text file: byte {offset} is NUL"
    hint_template: ClassVar[str] = "a program is a text file in UTF-8"

    path: str
    offset: int


class NotUtf8(Diagnostic):
    """The bytes are no UTF-8."""

    code: ClassVar[str] = "SQ005"
    template: ClassVar[str] = "`{path}` is not UTF-8: byte {offset} (0x{byte:02x}), in line {line}, cannot be decoded"
    hint_template: ClassVar[str] = "save the file in UTF-8"

    path: str
    offset: int
    byte: int
    line: int


class TooLarge(Diagnostic):
    """The text is longer than any program that a person writes."""

    code: ClassVar[str] = "SQ006"
    template: ClassVar[str] = "a program of more than {limit} bytes is too large"
    hint_template: ClassVar[str] = (
        "data belongs into a trace file, repetition into a `loop` or an array of pools or stages"
    )

    limit: int


# -- characters and words --------------------------------------------------------------------------------------------


class StrayCharacter(Diagnostic):
    """A character that the language does not use."""

    code: ClassVar[str] = "SQ010"
    template: ClassVar[str] = "{character} is no part of the language"
    hint_template: ClassVar[str] = "{advice}"

    character: str
    advice: str


class BlockComment(Diagnostic):
    """A comment in `/* */`."""

    code: ClassVar[str] = "SQ011"
    template: ClassVar[str] = "a comment does not begin with `/*`"
    hint_template: ClassVar[str] = "a comment runs from `//` to the end of its line"


class UnclosedString(Diagnostic):
    """A file name whose second quotation mark is missing."""

    code: ClassVar[str] = "SQ012"
    template: ClassVar[str] = "this string is not closed before the end of its line"
    hint_template: ClassVar[str] = 'add the closing `"`'


class BadNumber(Diagnostic):
    """A word that begins as a number and is none."""

    code: ClassVar[str] = "SQ013"
    template: ClassVar[str] = "`{text}` is no number"
    hint_template: ClassVar[str] = "numbers look like `8`, `0.25`, `1e-3`; a name begins with a letter or `_`"

    text: str


class NumberOutOfRange(Diagnostic):
    """A number that no double can hold."""

    code: ClassVar[str] = "SQ014"
    template: ClassVar[str] = "the number `{text}` is out of range"
    hint_template: ClassVar[str] = (
        "write `inf` for infinity; other numbers lie between 1e-400 and 1.8e308 and have at most 400 characters"
    )

    text: str


_SUBSTITUTES = {
    "#": "a comment begins with `//`",
    "&": "`and` is written `&&`",
    "|": "`or` is written `||`",
    "^": "a power is written `pow(base, exponent)`",
    "'": 'a file name stands in double quotation marks, `"trace.csv"`',
    '"': "only the name of a trace file stands in quotation marks",
    ".": "a decimal point needs a digit beside it; a file name stands in quotation marks",
}


def stray(span: Span, text: str) -> StrayCharacter:
    """The fault of a character that begins no token, with advice for those that other languages use."""
    if text in _SUBSTITUTES:
        return StrayCharacter(span=span, character=f"`{text}`", advice=_SUBSTITUTES[text])
    if text.isascii() and text.isprintable():
        return StrayCharacter(span=span, character=f"`{text}`", advice="remove it")
    shown = f"`{text[:20]}`" if text.isprintable() else f"the character U+{ord(text[0]):04X}"
    advice = "names consist of the letters a-z and A-Z, digits and `_`; other characters may stand in comments"
    return StrayCharacter(span=span, character=shown, advice=advice)


# -- brackets and nesting --------------------------------------------------------------------------------------------


class Unclosed(Diagnostic):
    """An opening bracket without its closing one."""

    code: ClassVar[str] = "SQ020"
    template: ClassVar[str] = "this `{bracket}` is never closed"
    hint_template: ClassVar[str] = "add the `{closer}` that is missing"

    bracket: str
    closer: str


class Unopened(Diagnostic):
    """A closing bracket without its opening one."""

    code: ClassVar[str] = "SQ021"
    template: ClassVar[str] = "this `{bracket}` closes nothing"
    hint_template: ClassVar[str] = "remove it, or add the bracket that opens here"

    bracket: str


class TooDeep(Diagnostic):
    """Nesting beyond any program that a person writes."""

    code: ClassVar[str] = "SQ022"
    template: ClassVar[str] = "more than {limit} levels of nesting"
    hint_template: ClassVar[str] = (
        "a chain of operators counts as nesting; name parts of an expression with `let` or `set`"
    )

    limit: int
