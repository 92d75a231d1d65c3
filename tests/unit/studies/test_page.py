"""The report in a real browser, and its text."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browser import browser
from studies import FRAGILE, QUEUE

import serq

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def study():
    """Two lines, one of which fails where mu is 3."""
    model = serq.loads(FRAGILE, name="a <b> & c.sq")
    grid = {"N": range(1, 8), "mu": (1, 2, 3)}
    return serq.study(model, grid, methods=("exact", "closed", "sim"), engine="reference", replications=2)


@pytest.fixture(scope="module")
def report(study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(study.to_html(), "utf-8")
    return path


class _Names(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action")]


def test_the_file_holds_everything(report: Path) -> None:
    text = report.read_text("utf-8")
    parser = _Names()
    parser.feed(text)
    assert "script" not in parser.tags
    assert parser.links
    assert all(link.startswith("data:") for link in parser.links)
    assert "a &lt;b&gt; &amp; c" in text
    assert "a <b>" not in text
    assert "FAILED at N = 1, mu = 3: line 5: this is no `~exp` law" in text
    assert "Holm" in text


def test_the_report_is_the_same_every_time(study, report: Path) -> None:
    assert study.to_html() == report.read_text("utf-8")


def test_in_a_browser(report: Path) -> None:
    with browser() as page:
        for width in (1280, 400):
            page.open(report, width)
            assert [url[:5] for url in page.requests if not url.startswith("data:")] == ["file:"]
            assert page.messages == []
            assert page.value("document.documentElement.scrollWidth") <= width, "nothing is cut off sideways"
            pictures = (
                "[...document.images].map(i => [i.complete && i.naturalWidth > 0, i.getBoundingClientRect().width])"
            )
            for complete, shown in page.value(pictures):
                assert complete
                assert 330 <= shown <= 620, "a picture of 4.2 inches keeps its letters readable"
            small = "Math.min(...[...document.querySelectorAll('p, td, th, li, pre, summary')]"
            assert page.value(f"{small}.map(e => parseFloat(getComputedStyle(e).fontSize)))") >= 13
            assert page.value("document.querySelectorAll('table').length") >= 6
        columns = "getComputedStyle(document.querySelector('.pictures')).gridTemplateColumns.split(' ').length"
        assert page.value(columns) == 1
        page.open(report, 1280)
        assert page.value(columns) >= 2


def test_the_browser_would_tell_of_errors_and_requests(tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text("<script>console.error('x'); nothing.here</script><img src='http://127.0.0.1:9/x.png'>")
    with browser() as page:
        page.open(bad, 400)
        assert "http://127.0.0.1:9/x.png" in page.requests
        assert len(page.messages) >= 2


def test_a_study_that_failed_everywhere_has_a_report_too() -> None:
    answer = serq.study(serq.loads(FRAGILE), {"mu": (3, 4)})
    text = answer.to_html()
    assert "FAILED at 2 of 2 points" in text
    assert "<img" not in text


def test_a_disagreement_stands_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from serq.studies import tasks

    right = tasks._METHODS["closed"]

    def wrong(program, task):
        return right(serq.loads(QUEUE, mu="0.7").program, task)

    monkeypatch.setitem(tasks._METHODS, "closed", wrong)
    text = serq.study(serq.loads(QUEUE), {"N": (2,)}, methods=("exact", "closed")).to_html()
    assert 'class="verdict bad"' in text
    assert re.search(r"<td class='bad'>DISAGREES</td>", text)
