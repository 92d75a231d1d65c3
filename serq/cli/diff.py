"""`serq diff`: where two recordings of a run part."""

from collections.abc import Sequence
from pathlib import Path

import click

from serq.cli.common import emit
from serq.cli.tables import table
from serq.compare.divergence import CONTEXT, TOLERANCE, Comparison, Divergence, compare_recordings
from serq.compare.recorded import Cell, Row, read_recording
from serq.ir.provenance import versions

_WIDEST = 60


@click.command("diff")
@click.argument("left", metavar="A")
@click.argument("right", metavar="B")
@click.option(
    "--tolerance", type=click.FloatRange(min=0), metavar="X", default=TOLERANCE, show_default=True, help="Relative."
)
@click.option(
    "--context",
    type=click.IntRange(min=0),
    metavar="N",
    default=CONTEXT,
    show_default=True,
    help="Rows shown around it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON on stdout and nothing else there.")
@click.option("--out", metavar="PATH", help="Write to PATH instead of stdout.")
@click.pass_context
def command(
    ctx: click.Context, left: str, right: str, tolerance: float, context: int, as_json: bool, out: str | None
) -> None:
    """Find where two runs first differ.

    That is the first request, step or observation in which A and B differ; both states around it are shown.

    A and B are dumps (directories of `serq replay --dump` or `serq run --dump`), tables of requests or steps, or a
    scenario recorded from the vLLM scheduler (JSON). Compared is what both have. The exit status is 1 when they differ.
    """
    results = compare_recordings(read_recording(Path(left)), read_recording(Path(right)), tolerance, context)
    text = "\n".join(_text(result, left, right) for result in results)
    emit(text, versions("diff") | {"comparisons": [_data(result) for result in results]}, as_json, out)
    if any(result.divergence is not None for result in results):
        ctx.exit(1)


def _text(result: Comparison, left: str, right: str) -> str:
    count = f"{result.rows[0]} and {result.rows[1]}" if result.rows[0] != result.rows[1] else f"{result.rows[0]}"
    lines = [f"{result.name}: {count} rows, compared in {', '.join(result.columns)}"]
    if result.remark:
        lines.append(result.remark)
    found = result.divergence
    if found is None:
        return "\n".join([*lines, "the same", ""])
    lines.append(f"{found.total} rows differ; the first is {found.what}, at time {found.time!r}")
    if found.differences:
        values = [(d.column, _shown(d.left), _shown(d.right)) for d in found.differences]
        lines.append(table(values, ("", "A", "B")).rstrip("\n"))
    else:
        lines.append("only A has it" if found.place[1] is None else "only B has it")
    for side, name, rows, place in (("A", left, found.left, found.place[0]), ("B", right, found.right, found.place[1])):
        lines += ["", f"{side}: {name}", _state(rows, place)]
    return "\n".join(lines)


def _state(rows: Sequence[Row], place: int | None) -> str:
    """The rows of one side, the one that differs marked."""
    if not rows:
        return "(nothing)\n"
    columns = [name for name in rows[0] if any(row[name] not in ((), None) for row in rows)]
    cells = [(">" if at == place else "", *(_shown(row[name]) for name in columns)) for at, row in enumerate(rows)]
    return table(cells, ("", *columns))


def _shown(cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, tuple):
        text = " ".join(x if isinstance(x, str) else f"{x[0]}:{x[1]:g}" for x in cell) or "-"
        return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."
    if isinstance(cell, float):
        return f"{cell:.0f}" if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    return cell


def _data(result: Comparison) -> dict[str, object]:
    return {
        "kind": result.kind,
        "name": result.name,
        "rows": list(result.rows),
        "columns": list(result.columns),
        "remark": result.remark or None,
        "same": result.divergence is None,
        "divergence": None if result.divergence is None else _divergence(result.divergence),
    }


def _divergence(found: Divergence) -> dict[str, object]:
    return {
        "what": found.what,
        "time": found.time,
        "total": found.total,
        "differences": [{"column": d.column, "left": d.left, "right": d.right} for d in found.differences],
        "left": [dict(row) for row in found.left],
        "right": [dict(row) for row in found.right],
        "place": list(found.place),
    }
