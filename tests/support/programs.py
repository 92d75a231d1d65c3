"""Hypothesis strategies for everything the grammar can say: well-formed trees, whether they mean something or not."""

import re
from fractions import Fraction

from hypothesis import strategies as st

from serq.base.source import SourceFile
from serq.syntax import ast
from serq.syntax.automaton import automaton
from serq.syntax.shape import ONLY_LAWS

KEYWORDS = sorted(word for word in automaton().terminals if word.isalpha())
"""All words of the grammar. Each may be a name."""

names = st.sampled_from(KEYWORDS) | st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True)
value_names = names.filter(lambda name: name != "inf")
function_names = value_names.filter(lambda name: name not in ONLY_LAWS)
law_names = names.filter(lambda name: name != "choice")

literals = st.from_regex(re.compile(automaton().pattern("NUMBER"), re.ASCII), fullmatch=True).filter(
    lambda text: len(text) < 20 and not re.search(r"[eE].*\d{3}", text)
)
numbers = literals.map(lambda text: ast.Number(Fraction(text.replace("_", "")), text)) | st.just(
    ast.Number(None, "inf")
)


def _tuples(of, least=0, most=3):
    return st.lists(of, min_size=least, max_size=most).map(tuple)


def _larger(inner):
    """Expressions made of smaller ones: one strategy for each production."""
    operators = sorted(automaton().terminals.keys() & {*"+-*/%<>", "<=", ">=", "==", "!=", "&&", "||"})
    pairs = st.lists(st.tuples(inner, inner), min_size=1, max_size=3)
    return st.one_of(
        st.builds(ast.Unary, st.sampled_from("-!"), inner),
        st.builds(ast.Binary, st.sampled_from(operators), inner, inner),
        st.builds(ast.Ternary, inner, inner, inner),
        st.builds(ast.Call, function_names, _tuples(inner | st.builds(ast.Member, value_names, inner))),
        st.builds(ast.Draw, law_names, _tuples(inner)),
        pairs.map(lambda found: ast.Draw("choice", tuple(part for pair in found for part in pair))),
    )


expressions = st.recursive(numbers | st.builds(ast.Name, value_names), _larger, max_leaves=8)
small = st.recursive(numbers | st.builds(ast.Name, value_names), _larger, max_leaves=3)
optional = st.none() | small
references = st.builds(ast.Reference, names, optional)


def _larger_statement(inner):
    blocks = _tuples(inner).map(ast.Block)
    parts = _tuples(st.builds(ast.HoldPart, references, small, optional), 1)
    return st.one_of(
        st.builds(ast.Hold, parts, optional, blocks, optional),
        st.builds(ast.Branch, small, blocks, st.none() | blocks),
        st.builds(ast.Loop, blocks),
    )


simple_statements = st.one_of(
    st.builds(ast.Turn),
    st.builds(ast.End),
    st.builds(ast.Set, names, expressions),
    st.builds(ast.Observe, names, small),
    st.builds(ast.Grow, references, small),
    st.builds(ast.Drop, references),
    st.builds(ast.Run, references, st.sampled_from([None, "prefill", "decode"]), small, st.none() | references),
    st.builds(ast.Choose, names, small, _tuples(small, 1)),
)
statements = st.recursive(simple_statements, _larger_statement, max_leaves=6)
blocks = _tuples(statements, most=4).map(ast.Block)


def _pool_word(option, *words):
    return st.builds(ast.PoolOption, st.just(option), st.sampled_from(words), st.just(()))


pool_options = st.one_of(
    st.builds(ast.PoolOption, st.sampled_from(["cap", "block"]), st.none(), st.tuples(small)),
    st.builds(ast.PoolOption, st.sampled_from(["evict", "queue", "preempt"]), st.just("by"), _tuples(small, 1)),
    _pool_word("evict", "lru"),
    _pool_word("preempt", "none", "lifo"),
    _pool_word("queue", "fifo"),
    _pool_word("pin", "waiting"),
    st.builds(ast.PoolOption, st.just("admit"), names, st.just(())),
    st.builds(ast.SpillOption, references, references, small, small),
)
step_options = st.one_of(
    st.builds(ast.StepOption, st.sampled_from(["budget", "cost", "chunk"]), small),
    st.builds(ast.StepOption, st.just("exclusive"), st.none(), st.just("prefill")),
    st.builds(ast.StepOption, st.just("decode"), st.none(), st.just("first")),
    st.builds(ast.StepOption, st.just("plan"), st.none(), st.just("ahead")),
    st.builds(ast.StepOption, st.just("memory"), st.none(), names),
)
paths = st.text(st.characters(blacklist_characters='"\n', blacklist_categories=["Cs"]), max_size=9)
workload_items = st.one_of(
    st.builds(ast.Arrive, st.sampled_from(["poisson", "renewal"]), small, optional),
    st.builds(ast.Arrive, st.sampled_from(["closed", "batch"]), small, st.none()),
    st.builds(ast.Arrive, st.sampled_from(["none", "trace"]), st.none(), st.none()),
    st.builds(ast.Trace, paths, st.booleans(), _tuples(st.builds(ast.Name, names))),
    st.builds(ast.WorkloadBlock, st.sampled_from(["init", "turn"]), blocks),
)
items = st.one_of(
    st.builds(ast.Let, names, expressions),
    st.builds(ast.Pool, names, optional, _tuples(pool_options, most=4)),
    st.builds(ast.Stage, names, optional, st.just("fifo"), optional),
    st.builds(ast.Stage, names, optional, st.just("ps"), small),
    st.builds(ast.Stage, names, optional, st.just("delay")),
    st.builds(ast.Stage, names, optional, st.just("step"), st.none(), _tuples(step_options, most=4)),
    st.builds(ast.Gauge, names, small),
    st.builds(ast.Workload, _tuples(workload_items)),
    st.builds(ast.Session, blocks),
    _tuples(st.builds(ast.RunOption, st.sampled_from(["horizon", "warmup", "seed"]), small)).map(ast.RunBlock),
)
modules = _tuples(items, most=5).map(ast.Module)
"""Any program that can be written, without comments."""
parts = (expressions, statements, pool_options, step_options, workload_items, items)
"""What `modules` is made of, for a test that looks at each."""

_TOKEN = re.compile(r'"[^"\n]*"|//[^\n]*|\s+|\w+(?:\.\w*)?|[^\w\s]')


@st.composite
def commented(draw, text):
    """The text of a program with comments and blank lines thrown between its tokens; the number of comments."""
    gaps = [match.start() for match in _TOKEN.finditer(text) if match.group().isspace()] + [len(text)]
    places = draw(st.lists(st.sampled_from(gaps), max_size=6))
    pieces, last = [], 0
    for number, place in enumerate(sorted(places)):
        before, after = draw(st.sampled_from([" ", "\n", "\n\n", "\n  "])), draw(st.sampled_from(["\n", "\n\n"]))
        pieces += [text[last:place], f"{before}// comment {number}{after}"]
        last = place
    return SourceFile("commented.sq", "".join([*pieces, text[last:]])), len(places)
