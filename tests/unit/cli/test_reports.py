"""What the verbs print for a person: the numbers that were promised, and only the digits that are known."""

from fractions import Fraction
from pathlib import Path

import pytest

from serq.cli.tables import table
from serq.compare import laws
from serq.ir.numbers import cut, rational, short, with_interval
from serq.ir.results import Estimate

MM1N = Path(__file__).parents[3] / "models" / "textbook" / "mm1n.sq"


def test_exact_rationals_of_the_finite_source_queue(serq) -> None:
    done = serq("solve", "--exact", MM1N, "--set", "N=8", "--set", "mu=1", "--set", "Z=4")
    assert done.status == 0
    rows = {line.split()[0]: line.split()[-1] for line in done.out.splitlines() if line.startswith(("stage", "obs"))}
    assert rows["stage.svc.number"] == "69372/16831"
    assert rows["stage.svc.throughput"] == "16319/16831"
    assert rows["observe.response.mean"] == "69372/16319"


def test_quantiles_and_second_moment_of_the_response(serq) -> None:
    measures = serq("solve", MM1N, "--set", "N=8", "--set", "mu=1", "--set", "Z=4", "--json").data["measures"]
    assert measures["observe.response.second"]["exact"] == "412136/16319"
    for name, right in (("p50", 3.847566936), ("p95", 9.247727764), ("p99", 12.087391339)):
        assert measures[f"observe.response.{name}"]["value"] == pytest.approx(right, abs=5.1e-10)
        assert measures[f"observe.response.{name}"]["bound"] < 1e-10
    assert "observe.response.p99" not in serq("solve", MM1N, "--no-distributions").out


def test_laws_of_a_larger_chain_are_there_for_the_asking(serq, monkeypatch) -> None:
    monkeypatch.setattr(laws, "LARGEST_UNASKED", 10)
    unasked, asked = serq("solve", MM1N), serq("solve", MM1N, "--distributions", "--json").data["measures"]
    assert "observe.response.p99: the tagged-session chain of response has more than 10 states; ask for" in unasked.out
    assert asked["observe.response.p99"]["value"] > asked["observe.response.p95"]["value"] > 0


def test_the_verdict_about_two_conditions(serq) -> None:
    done = serq("solve", MM1N, "--metastability")
    assert "verdict" in done.out
    assert "one condition" in done.out
    data = serq("solve", MM1N, "--metastability", "--json").data["metastability"]
    assert data["verdict"] == "one condition"
    assert data["relaxation"] == pytest.approx(1 / data["rates"][0])


def test_derivatives_are_printed(serq) -> None:
    done = serq("solve", MM1N, "--set", "N=4", "--set", "Z=2", "--derivative", "mu", "--derivative", "Z")
    assert "d/dmu" in done.out
    assert "-614/441" in done.out
    data = serq("solve", MM1N, "--set", "N=4", "--set", "Z=2", "--derivative", "Z", "--json").data["derivatives"]
    assert data["Z"]["stage.svc.number"]["exact"] == "-307/441"
    assert serq("solve", MM1N, "--derivative", "N").status == 2


EXTRAPOLATED = ["observe.response.mean", "1.931833"]


IN_STEP = """
let N = 3; stage s : fifo; stage t : delay;
workload { arrive closed(N); }
session { loop { set t0 = now; set x = ~exp(1); run s (x + 1); observe r = now - t0; run t (~det(4)); } }
"""


def test_errors_that_do_not_halve_are_said_to_be_large(serq, write) -> None:
    """Fixed think times keep sessions in step: 2.802 by simulation of 176 364 responses."""
    done = serq("solve", write(IN_STEP), "--phase-type", 4)
    assert "does not halve with twice the phases" in done.out
    found = serq("solve", write(IN_STEP), "--phase-type", 4, "--json").data["phase_type"]["observe.r.mean"]
    assert found["regular"] is False
    assert found["error"] is None or found["error"] > abs(found["extrapolated"] - 2.802)


def test_fixed_work_is_extrapolated(serq, write) -> None:
    """M/D/1//5 with think times of mean 4: R = 1.905283209 by Takacs' formula."""
    path = write(MM1N.read_text().replace("~exp(1 / mu)", "1 / mu"))
    sets = ("--set", "N=5", "--set", "mu=1", "--set", "Z=4")
    done = serq("solve", path, *sets, "--phase-type", 16)
    row = next(line.split() for line in done.out.splitlines() if line.split()[:2] == EXTRAPOLATED)
    assert row[2:] == ["1.91869", "1.905546", "0.013"]
    data = serq("solve", path, *sets, "--phase-type", 16, "--json").data["phase_type"]["observe.response.mean"]
    assert abs(data["extrapolated"] - 1.905283209) < abs(data["fine"] - 1.905283209) < data["error"] * 1.03
    assert serq("solve", MM1N, "--phase-type", 16, "--json").data["phase_type"] == {}


def test_the_price_of_an_event_is_printed(serq, write) -> None:
    text = """
        stage svc : fifo;  stage think : delay;
        workload { arrive closed(1); }
        session { loop { run svc (~exp(1)); run think (~exp(4)); } }
    """
    done = serq("price", write(text), "--do", "work := ~exp(3)", "--at", "4:26")
    assert "price of one: 8/5 = 1.6 of session-time" in done.out
    data = serq("price", write(text), "--do", "work := ~exp(3)", "--at", "4:26", "--json").data
    assert (data["price"]["exact"], data["measures"]["stage.svc.sojourn"]["exact"]) == ("8/5", "2")
    assert serq("price", write(text), "--do", "work := 3", "--from", "N=1").status == 2


def test_a_mean_that_needs_the_law(serq, write) -> None:
    """What only some of the passes observe has a mean by the tagged session, if not by Little's law."""
    text = MM1N.read_text().replace("observe response", "branch (0.5) { observe some = now - t0; } observe response")
    measures = serq("solve", write(text), "--set", "N=3", "--json").data["measures"]
    assert measures["observe.some.mean"]["exact"] == measures["observe.response.mean"]["exact"]


def test_the_whole_distribution_adds_up(serq) -> None:
    data = serq("solve", MM1N, "--set", "N=3", "--states", "--json").data
    assert sum(Fraction(s["exact"]) for s in data["distribution"]) == 1
    assert len(data["distribution"]) == data["states"] == 4
    shown = serq("solve", MM1N, "--set", "N=3", "--states").out
    assert all(s["state"] in shown and s["exact"] in shown for s in data["distribution"])


@pytest.mark.parametrize(("n", "price"), [(2, "292/3029"), (8, "36073623352516/50516600209397")])
def test_price_of_longer_work(serq, n, price) -> None:
    done = serq("price", MM1N, "--set", f"N={n}", "--set", "Z=4", "--from", "mu=1", "--to", "mu=0.8")
    assert done.status == 0
    assert f"price at svc: {price} = " in done.out
    assert "the closed form agrees" in done.out


def test_export_leaves_the_constants_open(serq, tmp_path) -> None:
    done = serq("export", "--prism", MM1N, "--out", tmp_path)
    assert done.status == 0
    text = (tmp_path / "mm1n.prism").read_text()
    assert "const int N;" in text
    assert "const double mu;" in text
    assert "// RESULT (N=8,mu=1,Z=4): 69372/16831\n" in (tmp_path / "mm1n.props").read_text()
    closed = serq("export", "--prism", MM1N, "--out", tmp_path / "closed", "--const-open", "mu")
    assert closed.status == 0
    assert "const int N = 8;" in (tmp_path / "closed" / "mm1n.prism").read_text()


FIXED = """
let D = 4; let N = D / 2; let mu = 3 / 2; let Z = 4; let m = 1 / mu; let unused = 1;
stage s : fifo; stage t : delay;
workload { arrive closed(N); }
session { loop { run s (~exp(m)); run t (~exp(Z)); } }
"""


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ("mu,D", "`D` cannot: the structure depends on it, or nothing does"),
        ("m", "`m` follows from mu, which would have to be open"),
        ("mu,unused", "`unused` cannot: the structure depends on it, or nothing does"),
    ],
)
@pytest.mark.parametrize("target", ["--prism", "--jani"])
def test_what_cannot_be_left_open_is_refused(serq, write, tmp_path, asked: str, reason: str, target: str) -> None:
    done = serq("export", target, write(FIXED), "--out", tmp_path / "refused", "--const-open", asked)
    assert done.status == 2
    assert f"--const-open: {reason}" in done.err
    assert serq("export", target, write(FIXED), "--out", tmp_path, "--const-open", "mu,m").status == 0


def test_closed_form_by_name(serq) -> None:
    assert "33/16" in serq("closed-form", "mm1n", "N=3", "mu=1", "Z=1").out
    assert "Kleinrock" in serq("closed-form", MM1N).out
    assert "\\frac" in serq("closed-form", "mm1n", "--latex").out


def test_explain_says_yes(serq) -> None:
    done = serq("explain", MM1N)
    assert done.status == 0
    assert done.out.startswith("mm1n is a finite Markov chain: 9 states, 16 transitions.\n")


def test_fmt_writes_back_once_and_then_nothing(serq, write) -> None:
    path = write("let N=3;// kept\nstage svc:fifo;")
    assert serq("fmt", path).err == f"changed {path}\n"
    first = path.read_text()
    assert "let N = 3;" in first
    assert "// kept" in first
    assert serq("fmt", path).err == ""
    assert path.read_text() == first
    assert serq("fmt", "--check", path).status == 0


def test_fmt_to_another_file(serq, write, tmp_path) -> None:
    path = write("let N=3;")
    assert serq("fmt", path, "--out", tmp_path / "new.sq").status == 0
    assert path.read_text() == "let N=3;"
    assert (tmp_path / "new.sq").read_text() == "let N = 3;\n"


def test_a_dump_has_a_file_for_each_observe(serq, write, tmp_path) -> None:
    assert serq("run", write(), "--dump", tmp_path / "dump").status == 0
    lines = (tmp_path / "dump" / "response.csv").read_text().splitlines()
    assert lines[0] == "time,session,turn,value"
    assert len(lines) > 20


def test_shipped_models_are_found_by_name_and_by_group(serq) -> None:
    assert serq("lint", "mm1n").status == 0
    assert serq("lint", "textbook/mm1n").status == 0
    listed = serq("models").out
    assert "textbook:" in listed
    assert "serving:" in listed
    assert max(map(len, listed.splitlines())) <= 100


@pytest.mark.parametrize(
    ("value", "half", "shown"),
    [(4.2468, 0.0312, "4.247 +- 0.031"), (1234.5, 120.0, "1234 +- 120"), (0.5, 0.0, "0.5 +- 0"), (3.0, None, "3")],
)
def test_only_the_digits_that_the_interval_supports(value, half, shown) -> None:
    assert with_interval(Estimate("m", "simulation", value, "test", half)) == shown


def test_numbers_and_tables() -> None:
    assert short(Fraction(4)) == "4"
    assert short(Fraction(1, 3), 4) == "0.3333"
    assert short(None) == "-"
    assert rational(Fraction(1, 3)) == "1/3"
    assert rational(0.5) == ""
    assert cut("1234567890", 7) == "12...90"
    assert table([("a", "10"), ("bb", "9")], ("x", "n"), right=(1,)) == "x    n\n--  --\na   10\nbb   9\n"


def test_closed_forms_for_a_person(serq, write) -> None:
    assert "mm1n" in serq("closed-form", "--list").out
    assert "\\frac" in serq("closed-form", MM1N, "--latex").out
    several = serq("closed-form", "closed-network", "N=2", "V=1,1", "S=1,4", "c=1,inf")
    assert several.status == 0
    assert "[" in several.out
    queue = write().read_text()
    near = serq(
        "closed-form", write(queue.replace("run svc (~exp(1))", "run svc (~det(1))").replace(": fifo", ": fifo(2)"))
    )
    assert (near.status, near.out.startswith("no formula fits: ")) == (1, True)


def test_storm_gives_the_same_rationals(serq) -> None:
    ours = serq("solve", MM1N, "--set", "N=3", "--exact", "--json").data
    storm = serq("solve", MM1N, "--set", "N=3", "--exact", "--method", "storm", "--json").data
    assert "Storm" in storm["method"]
    assert {n: m.get("exact") for n, m in storm["measures"].items()} == {
        n: m.get("exact") for n, m in ours["measures"].items()
    }


def test_every_form_of_export_is_written_and_named(serq, tmp_path) -> None:
    for target, suffixes in {"drn": "drn", "dot": "dot", "explicit": "tra sta lab srew"}.items():
        done = serq("export", f"--{target}", MM1N, "--out", tmp_path / target)
        assert done.status == 0
        files = [Path(line) for line in done.out.splitlines() if line.startswith(str(tmp_path))]
        assert all(file.is_file() for file in files)
        assert set(suffixes.split()) <= {file.suffix[1:] for file in files}


def test_a_picture_of_many_states_is_a_limit(serq, tmp_path) -> None:
    done = serq("export", "--dot", MM1N, "--set", "N=300", "--out", tmp_path)
    assert done.status == 4
    assert "cannot be read" in done.err
