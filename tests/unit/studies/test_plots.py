"""Pictures: what is drawn, and that it can be read."""

import re
from pathlib import Path

import pytest
from studies import QUEUE

import serq
from serq.base.errors import SerqError
from serq.studies.bounded import bounds_of
from serq.studies.plots import _figure, check_plot, panel_svg, write_plot
from serq.studies.shown import shown

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def one():
    """One line by three methods."""
    text = QUEUE.replace("let N = 3;", "let N = 3;  // sessions\n")
    methods = ("exact", "closed", "sim")
    return serq.study(serq.loads(text), {"N": range(1, 10)}, methods=methods, engine="reference").result


def panel(result, name: str):
    measure = next(m for m in shown(result.plan) if m.name == name)
    (axes,) = _figure(result, [measure]).axes
    return axes


def test_a_panel_names_its_axes_with_their_units(one) -> None:
    axes = panel(one, "stage.svc.throughput")
    assert axes.get_xlabel() == "N (sessions)"
    assert axes.get_ylabel() == "completed jobs per unit of time [1/time]"
    assert axes.get_title("left") == "stage.svc.throughput"
    assert panel(one, "observe.response.mean").get_ylabel() == "mean of observe response [time]"


def test_methods_bounds_knee_and_saturation_are_in_the_legend(one) -> None:
    names = set(panel(one, "stage.svc.throughput").get_legend_handles_labels()[1])
    assert {"exact", "closed form", "simulated", "balanced bounds", "asymptotic bounds"} <= names
    assert "saturation: N = 3" in names
    assert any(name.startswith("knee: N = ") for name in names)


def test_the_values_are_those_of_the_study(one) -> None:
    axes = panel(one, "stage.svc.number")
    line = next(x for x in axes.lines if x.get_label() == "exact")
    expected = [float(p.row("stage.svc.number").exact.value) for p in one.points]
    assert list(line.get_ydata()) == expected
    assert list(line.get_xdata()) == list(range(1, 10))
    (container,) = axes.containers
    assert container.has_yerr


def test_what_is_observed_has_the_bounds_of_the_stay_that_it_measures(one) -> None:
    found = bounds_of(one.points, "N", "observe.response.mean")
    assert found == bounds_of(one.points, "N", "stage.svc.sojourn")
    for kind in ("asymptotic", "balanced"):
        for (x, low, high), point in zip(found[kind], one.points, strict=True):
            assert x == point.values["N"]
            assert low <= float(point.row("observe.response.mean").exact.value) * (1 + 1e-12)
            assert float(point.row("observe.response.mean").exact.value) <= high * (1 + 1e-12)
    assert bounds_of(one.points, "N", "observe.response.rate") == {}


def test_several_lines_are_named_by_their_constants() -> None:
    grid = {"mu": ("0.1", "1", "10"), "N": (2, 5)}
    result = serq.study(serq.loads(QUEUE), grid, methods=("closed",)).result
    axes = panel(result, "stage.svc.number")
    assert set(axes.get_legend_handles_labels()[1]) == {"N = 2", "N = 5"}
    assert axes.get_xscale() == "log"


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_files(one, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "new" / f"f{suffix}"
    write_plot(one, shown(one.plan)[:1], path)
    assert path.stat().st_size > 5000
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_picture_is_the_same_every_time(one) -> None:
    measure = shown(one.plan)[0]
    first = panel_svg(one, measure)
    assert panel_svg(one, measure) == first
    assert not re.search(r"<dc:date>", first)


def test_names_that_are_no_pictures(tmp_path: Path) -> None:
    with pytest.raises(SerqError, match=r"\.svg, \.png, \.pdf"):
        check_plot(tmp_path / "f.jpg")
    (tmp_path / "d.svg").mkdir()
    with pytest.raises(SerqError, match="is a directory"):
        check_plot(tmp_path / "d.svg")


def test_no_process_wide_setting_is_left(one) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    panel_svg(one, shown(one.plan)[0])
    assert dict(matplotlib.rcParams) == before
