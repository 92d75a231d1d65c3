"""What the command line can ask Python can ask, and both get the same answer; what is no question is refused."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from command_line import serq as run

import serq
from serq.api.model import Model
from serq.base.errors import UsageError

QUEUE = ("mm1n", "--set", "N=3")
QUESTIONS: dict[str, tuple[Callable[[], Any], tuple[object, ...]]] = {
    "derivatives, conditions, lumping": (
        lambda: queue().solve(derivative=("mu", "Z"), metastability=True, lumping=True),
        ("solve", *QUEUE, "--derivative", "mu", "--derivative", "Z", "--metastability", "--lumping", "report"),
    ),
    "phases": (
        lambda: serq.loads(CONSTANT, name="constant.sq").solve(phase_type=4),
        ("solve", "constant.sq", "--phase-type", 4),
    ),
    "a time": (
        lambda: queue().transient(time=2, initial="stage.svc.number >= 2"),
        ("solve", *QUEUE, "--transient", 2, "--initial", "stage.svc.number >= 2"),
    ),
    "a passage": (
        lambda: queue().transient(until="stage.svc.number <= 1", time=5.0),
        ("solve", *QUEUE, "--until", "stage.svc.number <= 1", "--transient", 5),
    ),
    "formulas": (
        lambda: queue().symbolic(["mu"]),
        ("solve", *QUEUE, "--symbolic", "--const-open", "mu"),
    ),
    "precision": (
        lambda: queue().simulate(horizon=300, warmup=10, until="15%", watch=("stage.svc.number",), most_work=20),
        ("run", *QUEUE, "--horizon", 300, "--warmup", 10, "--until", "15%", "--measure", "stage.svc.number",
         "--most-work", 20),
    ),
    "a replay": (lambda: serq.load("vllm_request").replay(strict=True), ("replay", "vllm_request", "--strict-vllm")),
    "a price by simulation": (
        lambda: serq.load("lru", N=2, C=1).price_event(
            "reuse := 0", methods=("exact", "sim", "closed"), pairs=3, seed=7, horizon=900.0, warmup=50.0, follow=20
        ),
        ("price", "lru", "--set", "N=2", "--set", "C=1", "--do", "reuse := 0", "--methods", "exact,sim,closed",
         "--pairs", 3, "--seed", 7, "--horizon", 900, "--warmup", 50, "--follow", 20, "--jobs", 1),
    ),
    "conditions over a grid": (
        lambda: serq.study(queue(), {"mu": (1, 2)}, methods=("exact",), metastability=True),
        ("study", *QUEUE, "--vary", "mu=1,2", "--methods", "exact", "--metastability", "--jobs", 1),
    ),
}  # fmt: skip
CONSTANT = """stage svc : fifo;
stage think : delay;
workload { arrive closed(2); }
session { loop { set t0 = now; run svc (1); observe response = now - t0; run think (~exp(4)); } }
run { horizon 100; }
"""


def queue() -> Model:
    return serq.load("mm1n", N=3)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_same_as_the_command_line_says(
    question: str, capsys: pytest.CaptureFixture[str], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "constant.sq").write_text(CONSTANT)
    monkeypatch.chdir(tmp_path)
    ask, words = QUESTIONS[question]
    expected = json.loads(run(capsys, *words, "--json", "--quiet").out)
    found = json.loads(json.dumps(ask().to_dict(), allow_nan=False))
    for data in (expected, found):
        for policy in data.get("policies", ()):
            del policy["sets"]  # texts as they were written
    assert found == expected


def test_every_answer_is_one_line_and_has_rows_and_a_table() -> None:
    answers = [ask() for question, (ask, _) in QUESTIONS.items() if question not in ("precision", "phases")]
    for answer in answers:
        text = repr(answer)
        assert text.startswith(f"<{type(answer).__name__} ")
        assert "\n" not in text
        assert answer._repr_html_().startswith("<table>")
        rows = answer.rows()
        assert len({tuple(row) for row in rows}) <= 1
        assert len(answer.to_frame()) == len(rows)


def test_what_is_in_them() -> None:
    solved = queue().solve(derivative="mu")
    assert solved.derivatives[0].constant == "mu"
    assert queue().transient(until="stage.svc.number <= 1").mean_time > 0
    assert queue().transient(time=1.0, until="stage.svc.number <= 1").chance < 1
    assert queue().symbolic().formulas["stage.svc.throughput"].text
    replayed = serq.load("vllm_request").replay()
    assert replayed.summary["requests"] == len(replayed.rows())
    assert replayed.stuck == ()
    assert queue().simulate(horizon=300, warmup=10, until=0.3).reached.enough
    assert queue().simulate(horizon=300, warmup=10).reached is None


WRONG: dict[str, Callable[[], object]] = {
    "a value is a number or the text of an expression, not None": lambda: serq.load("mm1n", N=None),
    "a value is a number or the text of an expression, not \\[1\\]": lambda: queue().having(N=[1]),
    "the program must be a text, not bytes": lambda: serq.loads(b"stage s : fifo;"),
    "name must be a text, not int": lambda: serq.loads("", name=3),
    "derivative must be names, not 3": lambda: queue().solve(derivative=3),
    "say which time, or until which states": lambda: queue().transient(),
    "time must be a number, not 'x'": lambda: queue().transient(time="x"),
    "opened must be names, not 1": lambda: queue().symbolic(1),
    "give until": lambda: queue().simulate(longer=True),
    "until takes a relative error such as 0.5%, not '2'": lambda: queue().simulate(until="2"),
    "most_work must be at least 1": lambda: queue().simulate(until="1%", most_work=0.5),
    "never says `turn;`": lambda: queue().replay(),
    "engine must be one of": lambda: serq.load("vllm_request").replay(engine="fast"),
    "there is no option 'sed'": lambda: serq.load("vllm_request").replay(sed=1),
    "the event must be a text, not int": lambda: queue().price_event(3),
    "methods are some of exact, sim, closed": lambda: queue().price_event("work := 1", methods=("magic",)),
    "pairs must be a whole number": lambda: queue().price_event("work := 1", pairs=1),
    "a grid is a mapping": lambda: serq.study(queue(), {"N": 3}),
    "a study is about models": lambda: serq.study("mm1n", {"N": (1, 2)}),
    "policies are models by name": lambda: serq.study(queue(), {"N": (1,)}, [queue()]),
    "methods are some of": lambda: serq.study(queue(), {"N": (1,)}, methods=("exakt",)),
}


@pytest.mark.parametrize("said", WRONG)
def test_what_is_no_question(said: str) -> None:
    with pytest.raises(UsageError, match=said):
        WRONG[said]()
