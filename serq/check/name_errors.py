"""SQ1xx: names that mean nothing, the wrong thing or two things; parts that are missing; constants that cannot be."""

from typing import ClassVar

from serq.base.diagnostics import Diagnostic


class UnknownName(Diagnostic):
    """A name in an expression that nothing defines."""

    code: ClassVar[str] = "SQ101"
    template: ClassVar[str] = "unknown name `{name}`"
    hint_template: ClassVar[str] = "{advice}"

    name: str
    advice: str


class UnknownResource(Diagnostic):
    """A pool or a stage is named that there is none of."""

    code: ClassVar[str] = "SQ102"
    template: ClassVar[str] = "there is no {kind} `{name}`"
    hint_template: ClassVar[str] = "{advice}"

    kind: str
    name: str
    advice: str


class NameClash(Diagnostic):
    """One name for two things."""

    code: ClassVar[str] = "SQ103"
    template: ClassVar[str] = "`{name}` is the name of {second} and of {first}"
    hint_template: ClassVar[str] = "{advice}"

    name: str
    first: str
    second: str
    advice: str = "a name is one thing: rename one of the two"


class ReservedName(Diagnostic):
    """A built-in name is given to something else."""

    code: ClassVar[str] = "SQ104"
    template: ClassVar[str] = "`{name}` is built in and cannot name {kind}"
    hint_template: ClassVar[str] = "choose another name; built in are `now serial turn_no cached computed inf`"

    name: str
    kind: str


class UnknownFunction(Diagnostic):
    """A call of something that is neither a function nor an observable."""

    code: ClassVar[str] = "SQ105"
    template: ClassVar[str] = "unknown function `{name}`"
    hint_template: ClassVar[str] = "{advice}"

    name: str
    advice: str


class UnknownLaw(Diagnostic):
    """A draw from a law that there is none of."""

    code: ClassVar[str] = "SQ106"
    template: ClassVar[str] = "unknown law `~{name}`"
    hint_template: ClassVar[str] = "{advice}"

    name: str
    advice: str


class WrongArgumentCount(Diagnostic):
    """Too many or too few arguments."""

    code: ClassVar[str] = "SQ107"
    template: ClassVar[str] = "`{name}` takes {takes}, not {given}"
    hint_template: ClassVar[str] = "write {usage}"

    name: str
    takes: str
    given: int
    usage: str


class NotAValue(Diagnostic):
    """A pool, a stage or a gauge stands where a number should."""

    code: ClassVar[str] = "SQ108"
    template: ClassVar[str] = "`{name}` is {kind}, not a number"
    hint_template: ClassVar[str] = "{advice}"

    name: str
    kind: str
    advice: str


class NotAResource(Diagnostic):
    """An observable is asked about something that is no name of a pool or stage."""

    code: ClassVar[str] = "SQ109"
    template: ClassVar[str] = "`{function}` asks about a {kind}; this is an expression"
    hint_template: ClassVar[str] = "write `{function}(NAME)`, or `{function}(NAME[index])` for a member of an array"

    function: str
    kind: str


class MissingIndex(Diagnostic):
    """An array is used like a single pool or stage."""

    code: ClassVar[str] = "SQ110"
    template: ClassVar[str] = "`{name}` is an array of {size} {kind}s"
    hint_template: ClassVar[str] = "say which: `{name}[0]`, or `{name}[x]` with an attribute x"

    name: str
    kind: str
    size: int


class NotAnArray(Diagnostic):
    """A single pool or stage is used with an index."""

    code: ClassVar[str] = "SQ111"
    template: ClassVar[str] = "the {kind} `{name}` is no array"
    hint_template: ClassVar[str] = "write `{name}` without an index, or declare `{kind} {name}[SIZE]`"

    name: str
    kind: str


class IndexOutOfRange(Diagnostic):
    """A constant index that no member has."""

    code: ClassVar[str] = "SQ112"
    template: ClassVar[str] = "index {value} is out of range: `{name}` has {size} members"
    hint_template: ClassVar[str] = "indices are the whole numbers from 0 to {last}"

    name: str
    value: str
    size: int
    last: int


class UnequalArrays(Diagnostic):
    """An array refers to another array that it cannot be paired with, member by member."""

    code: ClassVar[str] = "SQ113"
    template: ClassVar[str] = "`{name}` has {size} members and cannot be paired with `{owner}`, which {owner_size}"
    hint_template: ClassVar[str] = "member i goes with member i: use arrays of one size, or a single {kind}"

    name: str
    kind: str
    size: int
    owner: str
    owner_size: str


class CyclicLet(Diagnostic):
    """A constant that is defined by itself."""

    code: ClassVar[str] = "SQ114"
    template: ClassVar[str] = "`{name}` is defined by itself: {cycle}"
    hint_template: ClassVar[str] = "give one of them a value of its own"

    name: str
    cycle: str


class NotConstant(Diagnostic):
    """Something that changes stands in a constant."""

    code: ClassVar[str] = "SQ115"
    template: ClassVar[str] = "{what} is calculated before the run and cannot depend on {thing}"
    hint_template: ClassVar[str] = "use numbers and the names of `let` constants"

    what: str
    thing: str


class ConstantIsNaN(Diagnostic):
    """A constant that is no number."""

    code: ClassVar[str] = "SQ116"
    template: ClassVar[str] = "{what} is not a number (NaN)"
    hint_template: ClassVar[str] = "a constant is a number or `inf`; `0 / 0` and `inf - inf` are neither"

    what: str


class ConstantOutOfRange(Diagnostic):
    """A constant that no double comes near to."""

    code: ClassVar[str] = "SQ121"
    template: ClassVar[str] = "{what} is calculated from numbers that are out of range"
    hint_template: ClassVar[str] = (
        "write `inf` for infinity; other numbers, also those on the way, lie between 5e-324 and 1.8e308"
    )

    what: str


class WrongConstant(Diagnostic):
    """A constant outside of what its place allows."""

    code: ClassVar[str] = "SQ117"
    template: ClassVar[str] = "{what} must be {need}, not {value}"
    hint_template: ClassVar[str] = "{advice}"

    what: str
    need: str
    value: str
    advice: str = ""


class WrongLaw(Diagnostic):
    """A law whose constant parameters make no law."""

    code: ClassVar[str] = "SQ118"
    template: ClassVar[str] = "this is no `~{law}` law: {problem}"
    hint_template: ClassVar[str] = "write {usage}"

    law: str
    problem: str
    usage: str


class MissingPart(Diagnostic):
    """A program without a session or a workload, a workload without arrivals, a step stage without a budget."""

    code: ClassVar[str] = "SQ119"
    template: ClassVar[str] = "{owner} has no {part}"
    hint_template: ClassVar[str] = "add {usage}"

    owner: str
    part: str
    usage: str


class RepeatedPart(Diagnostic):
    """A block or an option that may stand once stands again."""

    code: ClassVar[str] = "SQ120"
    template: ClassVar[str] = "{owner} says {part} twice"
    hint_template: ClassVar[str] = "keep one of them"

    owner: str
    part: str
