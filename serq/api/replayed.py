"""The answer of a replay: what became of every request of a trace."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from serq.api.keywords import refuse_unknown, value_from
from serq.api.tabular import Tabular, html_table
from serq.base.diagnostics import Diagnostic
from serq.base.errors import UsageError
from serq.engines import Engine
from serq.ir.numbers import short
from serq.ir.program import Program, Turn
from serq.ir.provenance import provenance
from serq.semantics.replay import Replayed, ReplayOptions
from serq.semantics.replay_tables import as_dict


@dataclass(frozen=True, repr=False)
class ReplayResult(Tabular):
    """A replayed trace: a row for every request, with when it was sent, served and done, and what it hit."""

    program: Program
    replayed: Replayed

    @property
    def summary(self) -> dict[str, int | float | None]:
        """Counts, and the mean times from sending to the first and the last token of the requests that are done."""
        return self.replayed.summary()

    @property
    def stuck(self) -> tuple[Diagnostic, ...]:
        """Who waits for ever; nobody where everything came to an end."""
        return () if self.replayed.stuck is None else self.replayed.stuck.diagnostics

    def rows(self) -> list[dict[str, object]]:
        """A row per request, with the columns of `requests.csv`."""
        return [as_dict(request) for request in self.replayed.requests]

    def to_dict(self) -> dict[str, object]:
        """What `serq replay --json` prints."""
        replayed = self.replayed
        return provenance(self.program, "replay") | {
            "time": replayed.time,
            "events": replayed.events,
            "engine": replayed.engine,
            "why_reference": replayed.why,
            "summary": self.summary,
            "stuck": [d.message for d in self.stuck],
            "requests": self.rows(),
        }

    def _repr_html_(self) -> str:
        title = f"{self.program.name}: replayed until time {self.replayed.time:g}, {self.replayed.events} events"
        rows = [(name, "" if x is None else short(x, 12)) for name, x in self.summary.items()]
        return html_table(title, ("", "value"), rows)


def check_requests(program: Program) -> None:
    """UsageError for a program that sends no requests."""
    if not any(isinstance(instruction, Turn) for instruction in program.code):
        raise UsageError(f"{program.name} never says `turn;`, so that it sends no requests: `serq run` simulates it")


def replay_options(program: Program, given: Mapping[str, Any]) -> tuple[ReplayOptions, Engine]:
    """The options of a replay and the engine. UsageError for what is no option, and for a program without turns."""
    check_requests(program)
    known = [f.name for f in fields(ReplayOptions)]
    refuse_unknown(given, [*known, "engine"])
    rest = {name: value_from(name, value) for name, value in given.items()}
    engine: Engine = rest.pop("engine", "auto")
    return ReplayOptions(**rest), engine
