"""A study as one HTML file: it works without a network, runs no script, and reads on a wide screen and on a telephone.

Pictures are SVG within the file. The policy in its head forbids every request: nothing can be fetched by mistake.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from html import escape

from serq.ir.measures import Measure
from serq.studies import words
from serq.studies.plots import panel_svg
from serq.studies.results import StudyResult
from serq.studies.shown import shown

_STYLE = """
:root { --ink: #1b1b1b; --pale: #5a5a5a; --line: #d9d9d9; --good: #1a7f37; --bad: #b42318; --back: #f6f8fa; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1320px; padding: 16px; color: var(--ink); background: #fff;
  font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0 0 4px; } h2 { font-size: 1.2rem; margin: 32px 0 8px; }
h3 { font-size: 1rem; margin: 20px 0 6px; font-weight: 600; }
p { margin: 4px 0; } .pale { color: var(--pale); }
.verdict { border-left: 6px solid var(--good); background: var(--back); padding: 8px 12px; margin: 12px 0; }
.verdict.bad { border-color: var(--bad); }
.pictures { display: grid; gap: 12px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 380px), 1fr)); }
figure { margin: 0; } figure img { width: 100%; max-width: 560px; height: auto; display: block; }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 4px; }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th, td { padding: 3px 10px; text-align: left; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { background: var(--back); } td.n, th.n { text-align: right; } td.bad { color: var(--bad); font-weight: 600; }
pre { overflow-x: auto; background: var(--back); padding: 10px; font-size: 0.8125rem; line-height: 1.4; }
summary { cursor: pointer; margin: 8px 0; } li { margin: 2px 0; }
"""
_NOTHING_ELSE = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_HEAD = (
    '<meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    f'<meta http-equiv="Content-Security-Policy" content="{_NOTHING_ELSE}">'
    '<link rel="icon" href="data:,">'
)


def page(study: StudyResult, provenance: Mapping[str, object]) -> str:
    """The HTML text. `provenance` are the facts to print at its end, by name."""
    measures = shown(study.plan)
    name = escape(study.plan.policies[0].base.name)
    return "".join(
        [
            f'<!doctype html>\n<html lang="en"><head>{_HEAD}<title>Study of {name}</title>',
            f"<style>{_STYLE}</style></head>\n<body><main><h1>Study of {name}</h1>\n",
            f'<p class="pale">{escape(words.head(study))}</p>\n',
            _verdict(study),
            *_list("Points that failed", words.failed_lines(study)),
            *_pictures(study, measures),
            *_list("Where it bends", words.bend_lines(study, measures)),
            *_tables(study, measures),
            *_list(
                "To know",
                [*words.silent_lines(study), *words.missing_lines(study, measures), *words.remark_lines(study)],
            ),
            *_sources(study),
            *_facts(provenance),
            "</main></body></html>\n",
        ]
    )


def _verdict(study: StudyResult) -> str:
    kind = "verdict" if study.sound else "verdict bad"
    lines = "".join(f"<p>{escape(line)}</p>" for line in words.verdict_lines(study))
    return f'<div class="{kind}" role="status">{lines}</div>\n'


def _list(title: str, lines: Iterable[str]) -> Iterator[str]:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    if items:
        yield f"<h2>{title}</h2><ul>{items}</ul>\n"


def _pictures(study: StudyResult, measures: Iterable[Measure]) -> Iterator[str]:
    """Every measure over the first constant, if something can be drawn."""
    if not study.axis or all(point.faults for point in study.points):
        return
    yield '<h2>Pictures</h2><div class="pictures">\n'
    for measure in measures:
        data = b64encode(panel_svg(study, measure).encode()).decode()
        what = escape(f"{measure.name}, {measure.meaning}, over {study.axis}", quote=True)
        yield f'<figure><img alt="{what}" src="data:image/svg+xml;base64,{data}"></figure>\n'
    yield "</div>\n"


def _tables(study: StudyResult, measures: tuple[Measure, ...]) -> Iterator[str]:
    yield "<h2>Tables</h2>\n"
    for table in words.tables(study, measures):
        yield f'<h3>{escape(table.title)}</h3><div class="scroll" tabindex="0">{_table(table)}</div>\n'


def _table(table: words.Table) -> str:
    def cell(tag: str, place: int, text: str) -> str:
        kind = "n" if place in table.right else "bad" if text == "DISAGREES" else ""
        return f"<{tag} class={kind!r}>{escape(text)}</{tag}>" if kind else f"<{tag}>{escape(text)}</{tag}>"

    head = "".join(cell("th", i, text) for i, text in enumerate(table.header))
    rows = ("".join(cell("td", i, text) for i, text in enumerate(row)) for row in table.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{r}</tr>' for r in rows)}</tbody></table>"


def _sources(study: StudyResult) -> Iterator[str]:
    """The programs, to be unfolded."""
    yield "<h2>Programs</h2>\n"
    for name, text in {p.source.name: p.source.text for p in study.plan.policies}.items():
        yield f"<details><summary>{escape(name)}</summary><pre>{escape(text)}</pre></details>\n"


def _facts(provenance: Mapping[str, object]) -> Iterator[str]:
    rows = (f"<tr><th>{escape(k)}</th><td>{escape(_fact(v))}</td></tr>" for k, v in provenance.items())
    yield f'<h2>How it was made</h2><div class="scroll" tabindex="0"><table>{"".join(rows)}</table></div>\n'


def _fact(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {v}" for k, v in value.items())
    return "as the program says" if value is None else str(value)
