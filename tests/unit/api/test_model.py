"""A loaded program answers in Python as the command line does."""

import json
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import serq as run

import serq
from serq.api.model import Model
from serq.base.errors import InputError, LoadError, OutsideFragmentError, RunError, UsageError

TEXT = """let N = 3;  let mu = 1.0;
stage svc : fifo;
stage think : delay;
workload { arrive closed(N); }
session { loop { set t0 = now; run svc (~exp(1 / mu)); observe response = now - t0; run think (~exp(4)); } }
run { horizon 400; warmup 10; seed 1; }
"""
SHORT = {"horizon": 400, "warmup": 10}


@pytest.fixture
def p() -> Model:
    return serq.loads(TEXT)


def test_public_names_are_there_and_no_others() -> None:
    assert all(hasattr(serq, name) for name in serq.__all__)
    assert dir(serq) == sorted(serq.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        serq.nothing  # noqa: B018


# -- loading ---------------------------------------------------------------------------------------------------------


def test_a_path_and_a_shipped_name(tmp_path: Path) -> None:
    file = tmp_path / "m.sq"
    file.write_text(TEXT, "utf-8")
    assert serq.load(file).name == serq.load(str(file)).name == "m"
    assert serq.load("mm1n", N=2).let("N") == 2


def test_constants_are_numbers_or_expressions(p: Model) -> None:
    assert p.let("mu") == 1
    assert p.having(mu=0.8).let("mu") == Fraction(4, 5)
    assert p.having(mu="1 / N", N=4).let("mu") == Fraction(1, 4)
    assert p.having(N=4).having(mu=2).constants == {"N": 4, "mu": 2}


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: serq.load("nowhere.sq"), InputError, "nowhere.sq"),
        (lambda: serq.load("mm1m"), InputError, "mm1m"),
        (lambda: serq.loads(TEXT, M=2), UsageError, "no `let M`"),
        (lambda: serq.loads(TEXT).simulate(horizn=1), UsageError, "did you mean `horizon`"),
        (lambda: serq.loads(TEXT).solve(seed=1), UsageError, "no option 'seed'"),
        (lambda: serq.loads(TEXT).simulate(confidence=2), UsageError, "confidence must be between 0 and 1, not 2"),
        (lambda: serq.loads(TEXT).simulate(seed=-1), UsageError, "seed must be a whole number, at least 0, not -1"),
        (lambda: serq.loads(TEXT).check(jobs=-3), UsageError, "jobs must be a whole number, at least 1"),
        (lambda: serq.loads(TEXT).simulate(horizon="x"), UsageError, "horizon must be a number, not 'x'"),  # type: ignore[arg-type]
        (lambda: serq.loads(TEXT).solve(states=0), UsageError, "states must be a whole number, at least 1"),
        (lambda: serq.loads(TEXT).solve(unlumped=("dead",)), UsageError, "unlumped is some of symmetry, dead_values,"),
        (lambda: serq.loads(TEXT).solve(unlumped=5), UsageError, "unlumped must be names, not 5"),
        (lambda: serq.loads(TEXT).solve(exact="no"), UsageError, "exact must be True or False, not 'no'"),
        (lambda: serq.loads(TEXT).check(false_alarm=2), UsageError, "false_alarm must be between 0 and 1, not 2"),
        (lambda: serq.loads(TEXT).check(until_power="1%"), UsageError, "until_power must be between 0 and 1"),
        (
            lambda: serq.loads(TEXT).simulate(engine="fast"),
            UsageError,
            "engine must be one of auto, compiled",
        ),
        (lambda: serq.loads(TEXT).transient(until=5), UsageError, "until must be a text, not int"),
        (lambda: serq.loads(TEXT).export("prism", 5), UsageError, "keep_open must be names, not 5"),
        (lambda: serq.loads(TEXT).check(sede=1), UsageError, "did you mean `seed`"),
        (lambda: serq.loads(TEXT).export("prisma"), UsageError, "there is prism, jani"),
        (lambda: serq.loads(TEXT).export("prism", keep_open={"M"}), UsageError, "M"),
        (lambda: serq.loads(TEXT).solve()["stage.svc.numbr"], UsageError, "stage.svc.number"),
        (lambda: serq.loads(TEXT).solve()[3], UsageError, "there is no measure 3"),
        (lambda: serq.loads(TEXT).let("m"), UsageError, "there is no `let m`; did you mean `mu`"),
        (lambda: serq.loads(TEXT).let(3), UsageError, "there is no `let 3`; the constants are"),
        (lambda: serq.loads(TEXT).price("mu=2"), UsageError, "to must be a mapping of names of constants"),
        (lambda: serq.loads(TEXT).price(None), UsageError, "to must be a mapping"),
        (lambda: serq.loads(TEXT).price({1: 2}), UsageError, "to must be a mapping"),
        (lambda: serq.loads(TEXT).price({"mu": 2}, ["mu"]), UsageError, "start must be a mapping"),
        (lambda: serq.loads(TEXT).price({"mu": True}), UsageError, "a value is a number or the text"),
        (lambda: serq.loads(TEXT).price({"mu": 2})["stage.svc.numbr"], UsageError, "stage.svc.number"),
        (lambda: serq.loads(TEXT).price_event("work := 0", methods=3), UsageError, "methods are some of"),
        (lambda: serq.loads(TEXT).solve(metastability="no"), UsageError, "metastability must be True or False"),
        (lambda: serq.loads(TEXT).simulate(**SHORT).observations("response"), UsageError, "keep_samples"),
    ],
)
def test_what_is_wrong_is_said(call: Callable[[], object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    plain = serq.loads(TEXT).simulate(**SHORT, seed=3)
    assert serq.loads(TEXT).simulate(**SHORT, seed=np.int64(3)).to_dict() == plain.to_dict()  # type: ignore[arg-type]
    assert serq.loads(TEXT, N=np.int64(3)).solve().to_dict()["states"] == serq.loads(TEXT, N=3).solve().states


def test_an_error_shows_the_line_and_the_caret() -> None:
    with pytest.raises(LoadError) as caught:
        serq.loads(TEXT.replace("run svc", "run svd"), name="m.sq")
    (note,) = caught.value.__notes__
    assert note == caught.value.rendered
    assert note.startswith("m.sq:5:36: error[SQ")
    assert "run svd" in note.splitlines()[1]
    assert note.splitlines()[2].strip("| ") == "^^^"


def test_errors_while_running_and_outside_of_the_fragment() -> None:
    with pytest.raises(RunError, match="SQ5"):
        serq.loads(TEXT.replace("~exp(4)", "-1")).simulate()
    fixed = serq.loads(TEXT.replace("~exp(4)", "4"))
    with pytest.raises(OutsideFragmentError, match="SQ601"):
        fixed.solve()
    reasons = fixed.explain()
    assert not reasons.markov
    assert "^" in str(reasons)


# -- answers ---------------------------------------------------------------------------------------------------------


def report(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(run(capsys, *arguments, "--json", "--quiet").out)
    return data


QUESTIONS: dict[str, tuple[Callable[[Model], Any], tuple[object, ...]]] = {
    "run": (lambda p: p.simulate(**SHORT, seed=3), ("--horizon", 400, "--warmup", 10, "--seed", 3)),
    "solve": (lambda p: p.solve(exact=True), ("--exact",)),
    "check": (lambda p: p.check(**SHORT, replications=2), ("--horizon", 400, "--warmup", 10, "--replications", 2)),
    "explain": (lambda p: p.explain(), ()),
    "closed-form": (lambda p: p.closed_forms(), ()),
    "price": (lambda p: p.price({"mu": "0.8"}, {"N": "2"}), ("--from", "N=2", "--to", "mu=0.8")),
}


@pytest.mark.parametrize("verb", QUESTIONS)
def test_the_same_as_the_command_line_says(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    ask, options = QUESTIONS[verb]
    expected = report(capsys, verb, "mm1n", "--set", "N=3", *options)
    found = ask(serq.load("mm1n", N=3))
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == expected


def test_an_export_is_what_the_command_line_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_verb, by_call = tmp_path / "verb", tmp_path / "call"
    expected = report(capsys, "export", "mm1n", "--prism", "--const-open", "N", "--out", by_verb)
    result = serq.load("mm1n").export("prism", keep_open=frozenset({"N"}))
    files = result.write(by_call)
    assert [f.name for f in files] == [Path(f).name for f in expected["files"]]
    assert [f.read_text("utf-8") for f in files] == [(by_verb / f.name).read_text("utf-8") for f in files]
    assert result.symbolic
    assert result.to_dict(by_verb) == expected


def test_values_by_name(p: Model) -> None:
    solved = p.solve()
    assert isinstance(solved["stage.svc.number"], Fraction)
    assert solved["stage.svc.number"] == p.closed_forms()["stage.svc.number"]
    assert sum(solved.distribution().values()) == 1
    assert p.check(**SHORT).row("stage.svc.number").exact.value == solved["stage.svc.number"]
    assert set(p.measures) == {e.measure for e in p.solve(distributions=False).estimates}
    assert {e.measure for e in solved.estimates} - set(p.measures) == {
        f"observe.response.{x}" for x in ("second", "p50", "p90", "p95", "p99")
    }


def test_observations(p: Model) -> None:
    seen = p.simulate(**SHORT, keep_samples=True, replications=2).observations("response")
    assert {row["replication"] for row in seen} == {0, 1}
    assert all(row["value"] > 0 and row["time"] >= 10 for row in seen)


def test_the_price_of_a_change(p: Model) -> None:
    priced = p.price({"mu": 0.8})
    numbers = [q.solve()["stage.svc.number"] for q in (p, p.having(mu=0.8))]
    assert priced.prices == {"svc": numbers[1] - numbers[0]}
    assert {row["measure"]: row["difference"] for row in priced.rows()}["stage.svc.number"] == float(
        priced.prices["svc"]
    )
    assert priced["stage.svc.number"].difference == priced.prices["svc"]
    with pytest.raises(UsageError, match="no `let nu`"):
        p.price({"nu": 1})


def test_the_price_of_an_event(capsys: pytest.CaptureFixture[str]) -> None:
    model = serq.load("lru", N=3, C=2)
    line = next(i for i, text in enumerate(model.source.lines, 1) if "run svc" in text)
    column = model.source.line(line).index("run svc") + 1
    words = ("--do", "work := ~exp(s_miss)", "--at", f"{line}:{column}")
    expected = report(capsys, "price", "lru", "--set", "N=3", "--set", "C=2", *words)
    priced = model.price_event("work := ~exp(s_miss)", at=f"{line}:{column}")
    assert json.loads(json.dumps(priced.to_dict())) == expected
    assert priced.price > 0
    assert priced.rows()
    assert "do(work" in priced._repr_html_()


def test_closed_forms_have_latex(p: Model) -> None:
    assert "=" in next(iter(p.closed_forms().latex()["mm1n"].values()))


ANSWERS = {**{verb: ask for verb, (ask, _) in QUESTIONS.items()}, "export": lambda p: p.export("drn")}


@pytest.mark.parametrize("verb", ANSWERS)
def test_frames_and_notebooks(verb: str, p: Model) -> None:
    pandas = pytest.importorskip("pandas")
    answer = ANSWERS[verb](p)
    frame = answer.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == len(answer.rows())
    html = answer._repr_html_()
    assert html.startswith("<table><caption>program")
    assert html.count("<tr>") == html.count("</tr>") >= 1


def test_notebooks_are_shown_text_not_markup() -> None:
    fixed = serq.loads(TEXT.replace("~exp(4)", "4"), name="a<b.sq")
    assert "a&lt;b" in fixed.explain()._repr_html_()
    assert "<td>N</td><td>3</td>" in fixed._repr_html_()


def test_a_frame_without_pandas(p: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match=r"serq\[frames\]"):
        p.solve().to_frame()


def test_answers_are_frozen(p: Model) -> None:
    with pytest.raises(FrozenInstanceError):
        p.solve().program = p.program  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        p.program = p.program  # type: ignore[misc]


def test_lumpings_are_named_as_on_the_command_line_too(p: Model) -> None:
    sizes = [p.solve(unlumped=names).states for names in ((), ("symmetry",), "dead-values", ["dead_values"])]
    assert sizes == [4, 1 + 3 + 6 + 6, 4, 4]  # who is thinking and who queues in which order
