"""What can be wrong with the grammar of a program, one class for each code (SQ030-059)."""

from typing import ClassVar

from serq.base.diagnostics import Diagnostic


class MissingSemicolon(Diagnostic):
    """A statement, item or option that does not end."""

    code: ClassVar[str] = "SQ030"
    template: ClassVar[str] = "`;` is missing after `{after}`"
    hint_template: ClassVar[str] = "statements and options end in `;`"

    after: str


class UnknownItem(Diagnostic):
    """A word that begins no part of a program."""

    code: ClassVar[str] = "SQ031"
    template: ClassVar[str] = "no part of a program begins with `{word}`"
    hint_template: ClassVar[str] = "{advice}"

    word: str
    advice: str


class UnknownStatement(Diagnostic):
    """A word that begins no statement."""

    code: ClassVar[str] = "SQ032"
    template: ClassVar[str] = "no statement begins with `{word}`"
    hint_template: ClassVar[str] = "{advice}"

    word: str
    advice: str


class UnknownOption(Diagnostic):
    """A word that begins no option of a pool, a step stage, the workload or the run."""

    code: ClassVar[str] = "SQ033"
    template: ClassVar[str] = "{owner} has no option `{word}`"
    hint_template: ClassVar[str] = "{advice}"

    owner: str
    word: str
    advice: str


class UnknownWord(Diagnostic):
    """A word where one of a few is wanted."""

    code: ClassVar[str] = "SQ034"
    template: ClassVar[str] = "`{word}` cannot stand after `{after}`"
    hint_template: ClassVar[str] = "{advice}"

    word: str
    after: str
    advice: str


class StatementOutside(Diagnostic):
    """A statement that stands in no session."""

    code: ClassVar[str] = "SQ035"
    template: ClassVar[str] = "the statement `{word}` stands outside of `session {{ ... }}`"
    hint_template: ClassVar[str] = "move it into the session; is there a `}}` too many above?"

    word: str


class ItemInBlock(Diagnostic):
    """A part of the program that stands inside of a block."""

    code: ClassVar[str] = "SQ036"
    template: ClassVar[str] = "`{word}` cannot stand inside of a block"
    hint_template: ClassVar[str] = "{advice}"

    word: str
    advice: str


class AssignmentInExpression(Diagnostic):
    """`=` where two values are compared."""

    code: ClassVar[str] = "SQ037"
    template: ClassVar[str] = "`=` gives a name its value; it is no comparison"
    hint_template: ClassVar[str] = "equality is written `==`"


class ComparisonAsAssignment(Diagnostic):
    """`==` or `:=` where a name is given a value."""

    code: ClassVar[str] = "SQ038"
    template: ClassVar[str] = "`{word}` gives its name a value with `=`, not with `{found}`"
    hint_template: ClassVar[str] = "write `{word} NAME = EXPR;`"

    word: str
    found: str


class MissingParentheses(Diagnostic):
    """An expression that stands bare where parentheses belong around it."""

    code: ClassVar[str] = "SQ039"
    template: ClassVar[str] = "parentheses are missing around the {what} of `{owner}`"
    hint_template: ClassVar[str] = "write `{form}`"

    what: str
    owner: str
    form: str


class ClauseAlone(Diagnostic):
    """`else`, `cache` and their like without the statement that they belong to."""

    code: ClassVar[str] = "SQ040"
    template: ClassVar[str] = "this `{word}` belongs to no `{owner}`"
    hint_template: ClassVar[str] = "{advice}"

    word: str
    owner: str
    advice: str


class DrawWithoutTilde(Diagnostic):
    """A law called like a function."""

    code: ClassVar[str] = "SQ041"
    template: ClassVar[str] = "`{law}` is a law to draw from, not a function"
    hint_template: ClassVar[str] = "a draw is marked: `~{law}(...)`"

    law: str


class ChoiceNeedsPairs(Diagnostic):
    """`~choice` with values that have no weights."""

    code: ClassVar[str] = "SQ042"
    template: ClassVar[str] = "`~choice` takes a weight with every value"
    hint_template: ClassVar[str] = "write `~choice(value: weight, value: weight)`"


class ChainedComparison(Diagnostic):
    """`a < b < c`."""

    code: ClassVar[str] = "SQ043"
    template: ClassVar[str] = "comparisons do not chain: `{operator}` follows a comparison"
    hint_template: ClassVar[str] = "write `a < b && b < c`, or put one comparison in parentheses"

    operator: str


class MissingExpression(Diagnostic):
    """Nothing, or something else, where a value is wanted."""

    code: ClassVar[str] = "SQ044"
    template: ClassVar[str] = "an expression is missing before {found}"
    hint_template: ClassVar[str] = "{advice}"

    found: str
    advice: str


class IndexOutside(Diagnostic):
    """`name[index]` where it is no argument."""

    code: ClassVar[str] = "SQ045"
    template: ClassVar[str] = "`{name}[...]` names a pool or a stage and has no value of its own"
    hint_template: ClassVar[str] = (
        "a member of an array stands in an observable: `queue({name}[...])`, `free({name}[...])`"
    )

    name: str


class MissingName(Diagnostic):
    """Something else where a name is wanted."""

    code: ClassVar[str] = "SQ046"
    template: ClassVar[str] = "`{after}` is followed by a name, not by {found}"
    hint_template: ClassVar[str] = "{advice}"

    after: str
    found: str
    advice: str


class StraySemicolon(Diagnostic):
    """A `;` that ends nothing."""

    code: ClassVar[str] = "SQ047"
    template: ClassVar[str] = "this `;` ends nothing"
    hint_template: ClassVar[str] = "remove it: there is no empty statement, and a block ends with its `}}`"


class MissingBlock(Diagnostic):
    """A body without braces."""

    code: ClassVar[str] = "SQ048"
    template: ClassVar[str] = "braces are missing around the {what} of `{owner}`"
    hint_template: ClassVar[str] = "{advice}"

    what: str
    owner: str
    advice: str


class TextAfterExpression(Diagnostic):
    """A single expression that goes on after its end."""

    code: ClassVar[str] = "SQ049"
    template: ClassVar[str] = "the expression ends before {found}"
    hint_template: ClassVar[str] = "give one expression, without `;`"

    found: str


class Unexpected(Diagnostic):
    """Anything else that cannot stand where it stands."""

    code: ClassVar[str] = "SQ059"
    template: ClassVar[str] = "{found} cannot stand here"
    hint_template: ClassVar[str] = "here may stand {expected}"

    found: str
    expected: str
