"""Pages that are made of the code stay in step with it. Set `SERQ_UPDATE_GOLDENS=1` to write them anew."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from pages import blocks

from serq.base.codes import diagnostic_classes
from serq.check import resolve, scopes
from serq.ir import measures
from serq.ir.expr import BinaryOp, UnaryOp
from serq.models import find
from serq.pipeline import load, solve

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
MARK = re.compile(r"^<!-- made of .*: (?:everything|the block) below -->\n", re.MULTILINE)


def holds(page: Path, made: str) -> None:
    """The page, below its mark, is what is made."""
    text = page.read_text("utf-8")
    mark = MARK.search(text)
    assert mark, "the page says where the made part begins"
    if os.environ.get("SERQ_UPDATE_GOLDENS"):
        page.write_text(text[: mark.end()] + made, "utf-8")
    assert page.read_text("utf-8")[mark.end() :] == made


# -- errors ----------------------------------------------------------------------------------------------------------

RANGES = {
    0: "Files, characters, brackets, grammar", 1: "Names and linking", 2: "Scopes and draws",
    3: "Loops, holds, pools, stages", 4: "Warnings", 5: "Run time", 6: "Markov fragment and chains",
    7: "Traces and input files", 8: "Usage, output and export", 9: "Limits",
}  # fmt: skip


def index_of_errors() -> Iterator[str]:
    at = -1
    for page in sorted((REFERENCE / "errors").glob("SQ*.md")):
        code, title = page.read_text("utf-8").split("\n", 1)[0].removeprefix("# ").split(": ", 1)
        if int(code[2]) != at:
            at = int(code[2])
            yield f"\n## {RANGES[at]}\n\n"
        yield f"* [{code}]({page.name}): {title}\n"


def test_the_index_of_errors() -> None:
    holds(REFERENCE / "errors" / "index.md", "".join(index_of_errors()))


def test_the_index_names_every_class() -> None:
    index = (REFERENCE / "errors" / "index.md").read_text("utf-8")
    assert all(f"[{cls.code}]" in index for cls in diagnostic_classes())


# -- measures --------------------------------------------------------------------------------------------------------


OBSERVE_STATISTICS = {"mean": ("mean of the observed values", ""), "rate": ("observations per unit of time", "1/time")}


def tables_of_measures() -> Iterator[str]:
    kinds = (
        ("stage.NAME", measures.STAGE_STATISTICS, "of every stage; those marked * of `fifo` stages only"),
        ("pool.NAME", measures.POOL_STATISTICS, "of every pool"),
        ("sessions", measures.SESSION_STATISTICS, "of the whole"),
        ("observe.NAME", OBSERVE_STATISTICS, "of every name that is observed"),
        ("observe.NAME of a time", measures.DISTRIBUTION_STATISTICS, "of every observe of the time since one moment"),
        ("gauge.NAME", {"mean": ("time average", "")}, "of every gauge"),
        ("metastability.sessions", measures.CONDITION_STATISTICS, "of the chain at every point of a study"),
    )  # fmt: skip
    for kind, statistics, whose in kinds:
        yield f"\n## {kind}\n\nThese {whose}.\n\n| statistic | meaning | unit |\n|---|---|---|\n"
        for name, (meaning, unit) in statistics.items():
            star = " *" if kind.startswith("stage") and name in measures.FIFO_ONLY else ""
            yield f"| `{name}`{star} | {meaning} | {unit} |\n"


def test_the_page_of_measures() -> None:
    holds(REFERENCE / "measures.md", "".join(tables_of_measures()))


# -- the language ----------------------------------------------------------------------------------------------------

LANGUAGE = REFERENCE / "language.md"


def grammar() -> str:
    """The rules of the grammar file, without what only the parser needs."""
    text = (ROOT / "serq" / "syntax" / "grammar.lark").read_text("utf-8")
    text = text[text.index("program:") : text.index("%ignore")]
    text = re.sub(r" *-> \w+$", "", text, flags=re.MULTILINE)
    return re.sub(r"^\?", "", text, flags=re.MULTILINE).rstrip() + "\n"


def test_the_grammar_is_all_of_it() -> None:
    holds(LANGUAGE, f"```text\n{grammar()}```\n")


def rows(heading: str) -> list[list[str]]:
    """The cells of the tables below a heading."""
    section = LANGUAGE.read_text("utf-8").split(f"### {heading}\n", 1)[1]
    section = re.split(r"^##", section, maxsplit=1, flags=re.MULTILINE)[0]
    lines = [line for line in section.splitlines() if line.startswith("|") and not line.startswith("|--")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def called(heading: str) -> set[str]:
    return {name for row in rows(heading) for name in re.findall(r"`~?(\w+)\(", row[0])}


def test_functions_laws_and_observables() -> None:
    assert called("Functions") == set(resolve.FUNCTIONS)
    assert called("Draws") == set(resolve.LAWS)
    assert called("What can be observed") == {*resolve.STAGE_FACTS, *resolve.POOL_FACTS, "price"}


def test_built_in_names_and_context_variables() -> None:
    table = rows("Built-in names")
    named = [row for row in table if row[0].startswith("`")]
    context = {row[0].strip("`"): row for row in named if len(row) == 4}
    assert {row[0].strip("`") for row in named if len(row) == 2} == set(scopes.BUILTINS)
    assert set(context) == set(scopes.CONTEXT_NAMES.values())
    longs = {row[1].strip("`"): short for short, row in context.items() if row[1]}
    assert longs == scopes.LONG_NAMES
    for short, row in context.items():
        assert row[2] == scopes.where_readable(short).replace("the rate of a `ps` stage", row[2])


def test_every_keyword_and_operator_is_explained() -> None:
    text = LANGUAGE.read_text("utf-8").split("## The grammar")[0]
    shown = "".join(re.findall(r"`[^`\n]+`", text)) + "".join(b.text for b in blocks(text))
    words = set(re.findall(r'"([a-z]+)"', grammar()))
    assert sorted(word for word in words if not re.search(rf"\b{word}\b", shown)) == []
    for operator in (*get_args(UnaryOp), *get_args(BinaryOp)):
        assert operator in shown


# -- the reports -----------------------------------------------------------------------------------------------------

FILES = (REFERENCE / "files.md").read_text("utf-8")


def members(heading: str) -> set[str]:
    section = FILES.split(f"{heading}\n", 1)[1].split("\n#", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return {name for line in lines for name in re.findall(r"`(\w+)`", line.split("|")[1])}


COMMON = {"serq_version", "schema", "tools"}
PROGRAM = {"program", "file", "program_hash", "constants"}
REPORTS = {
    "run": ("run", "mm1n", "--horizon", "50", "--warmup", "0"),
    "solve": ("solve", "mm1n", "--states"),
    "transient": ("solve", "mm1n", "--transient", "2"),
    "symbolic": ("solve", "mm1n", "--set", "N=2", "--symbolic"),
    "check": ("check", "mm1n", "--horizon", "50", "--warmup", "0", "--jobs", "1"),
    "closed-form": ("closed-form", "mm1n"),
    "price": ("price", "mm1n", "--to", "mu=0.8"),
    "price-event": ("price", "mm1n", "--set", "N=3", "--do", "work := ~exp(3)", "--at", "15"),
    "study": ("study", "mm1n", "--vary", "N=2", "--methods", "closed", "--jobs", "1"),
    "export": ("export", "mm1n", "--prism"),
    "draw": ("draw", "mm1n", "--format", "dot"),
    "editor": ("editor", "vim"),
    "lift": ("lift", str(ROOT / "models" / "textbook" / "mm1n.sq")),
    "lint": ("lint", "mm1n"),
    "models": ("models",),
    "fmt": ("fmt", "--check", "--stdout", str(ROOT / "models" / "textbook" / "mm1n.sq")),
    "replay": ("replay", "vllm_replay", "--horizon", "50", "--quiet"),
}


FORMS = {"run": 2}
"""Numbers of forms other than 1: members of theirs have changed their meaning."""

ONLY_SOMETIMES = {"run": {"stopped", "until"}}


def report(run, *command: str) -> dict[str, object]:
    import json

    _, out = run([*command, "--json"])
    return json.loads(out)


@pytest.mark.parametrize("verb", REPORTS)
def test_the_members_of_each_report(verb: str, run) -> None:
    data = report(run, *REPORTS[verb])
    form = f"serq.{verb}/{FORMS.get(verb, 1)}"
    expected = COMMON | members(f"### {form}")
    if verb not in ("lint", "models", "fmt", "lift", "editor"):
        expected |= PROGRAM
    assert data["schema"] == form
    assert set(data) == expected - ONLY_SOMETIMES.get(verb, set())


def test_the_members_of_an_explanation_and_of_an_error(run) -> None:
    yes, no = report(run, "explain", "mm1n"), report(run, "explain", "mm1")
    assert set(yes) | set(no) == COMMON | PROGRAM | members("### serq.explain/1")
    assert set(report(run, "run", "nowhere.sq")) == COMMON - {"tools"} | members("### serq.error/1")


def test_the_common_members() -> None:
    assert members("## JSON") == COMMON | PROGRAM


def test_the_columns_of_the_tables() -> None:
    from serq.semantics.dump import COLUMNS as OBSERVED
    from serq.semantics.replay_tables import STEP_COLUMNS
    from serq.semantics.request_log import COLUMNS as REQUESTS
    from serq.studies.tables import ROW

    for columns in (OBSERVED, REQUESTS, STEP_COLUMNS, ROW):
        assert f"`{','.join(columns)}`" in FILES


def test_the_power_that_is_stated() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for measure, most in (("stage.svc.throughput", 1.0), ("observe.response.mean", 1.7)):
        row = re.search(rf"^{re.escape(measure)} .* (\S+)%", readme, re.MULTILINE)
        assert row, measure
        assert float(row[1]) < most
    right, wrong = (
        next(e.value for e in solve(load(find("mm1n").path, {"mu": mu}).program).estimates if e.measure == measure)
        for mu in ("1", "1.01")
    )
    assert round(100 * abs(float(wrong / right) - 1), 1) == 1.7
