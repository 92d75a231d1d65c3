"""The JANI target: the counter model as a CTMC with one automaton, its rewards as transient variables.

Format: Budde, Dehnert, Hahn, Hartmanns, Junges, Turrini, JANI: Quantitative Model and Tool Interaction (TACAS 2017).
A command with several ways out becomes an edge for each, because a rate belongs to an edge. Step rewards are earned
after the assignments in JANI and before them in PRISM; ours are rates of states, which all tools read alike.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from serq.exporters.counters import Command, CounterModel, Reward, Variable
from serq.exporters.jani_expressions import JaniExpressions, Tree
from serq.exporters.prism import Prism, PrismExport
from serq.ir import program as p

_PLACE = "running"


@dataclass(frozen=True)
class Jani:
    """JANI with the constants that `prism` leaves open as parameters."""

    prism: Prism = field(default_factory=Prism)
    name: str = "jani"
    suffixes: tuple[str, ...] = (".jani", ".map.json")

    def emit(self, subject: p.Program, stem: str) -> Mapping[str, str]:
        """The texts by file name; NotSymbolicError names what no counters can express."""
        return jani_texts(self.prism.export(subject), stem)


def jani_texts(export: PrismExport, stem: str) -> dict[str, str]:
    """The files of an export of counters."""
    ending = ".map.json"
    return {f"{stem}.jani": jani_text(export.counters, stem), stem + ending: export.texts(stem)[stem + ending]}


def jani_text(model: CounterModel, name: str) -> str:
    """The model as JANI, with the long-run average of every reward as a property."""
    return json.dumps(_Writer(model).document(name), indent=1, ensure_ascii=False) + "\n"


class _Writer:
    def __init__(self, model: CounterModel) -> None:
        self.model = model
        self.expressions = JaniExpressions(dict(model.formulas))

    def document(self, name: str) -> dict[str, object]:
        model = self.model
        return {
            "jani-version": 1,
            "name": name,
            # What calls other tools on the PRISM text is of no use here.
            "metadata": {"description": "\n".join(r for r in model.remarks if not r.startswith(("prism ", "storm ")))},
            "type": "ctmc",
            "features": ["derived-operators"],
            "constants": [self._constant(c.kind, c.name, c.value) for c in model.constants],
            "variables": [
                *(self._variable(variable) for variable in model.variables),
                *(_transient(label, "bool", False) for label, _ in model.labels),
                *(_transient(reward.identifier, "real", 0) for reward in model.rewards),
            ],
            **self._restricted(),
            "automata": [self._automaton()],
            "system": {"elements": [{"automaton": "sessions"}]},
            "properties": [_property(reward) for reward in model.rewards],
        }

    def _restricted(self) -> dict[str, object]:
        """No initial state where the constants are not those that the model is for."""
        if not self.model.requires:
            return {}
        return {"restrict-initial": {"exp": self.expressions.tree(" & ".join(self.model.requires))}}

    def _constant(self, kind: str, name: str, value: str | None) -> dict[str, Tree]:
        out: dict[str, Tree] = {"name": name, "type": "int" if kind == "int" else "real"}
        return out if value is None else out | {"value": self.expressions.tree(value)}

    def _variable(self, variable: Variable) -> dict[str, Tree]:
        largest = self.expressions.tree(variable.largest)
        return {
            "name": variable.name,
            "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": largest},
            "initial-value": self.expressions.tree(variable.initial),
            "comment": variable.note,
        }

    def _automaton(self) -> dict[str, object]:
        values = [(name, self.expressions.tree(text)) for name, text in self.model.labels]
        values += [(reward.identifier, self._earned(reward)) for reward in self.model.rewards]
        return {
            "name": "sessions",
            "locations": [{"name": _PLACE, "transient-values": [{"ref": n, "value": v} for n, v in values]}],
            "initial-locations": [_PLACE],
            "edges": [edge for command in self.model.commands for edge in self._edges(command)],
        }

    def _earned(self, reward: Reward) -> Tree:
        """The sum over the items whose guard holds."""
        out: Tree = 0
        for guard, value in reward.items:
            tree = self.expressions.tree(value.text)
            term: Tree = tree
            if guard != "true":
                term = {"op": "ite", "if": self.expressions.tree(guard), "then": tree, "else": 0}
            out = term if out == 0 else {"op": "+", "left": out, "right": term}
        return out

    def _edges(self, command: Command) -> list[dict[str, object]]:
        guard = {"exp": self.expressions.tree(" & ".join(command.guards) or "true")}
        return [
            {
                "location": _PLACE,
                "guard": guard,
                "rate": {"exp": self.expressions.tree(branch.rate)},
                "destinations": [
                    {
                        "location": _PLACE,
                        "assignments": [
                            {"ref": name, "value": self.expressions.tree(text)} for name, text in branch.updates
                        ],
                    }
                ],
            }
            for branch in command.branches
        ]


def _transient(name: str, kind: str, value: Tree) -> dict[str, Tree]:
    return {"name": name, "type": kind, "transient": True, "initial-value": value}


def _property(reward: Reward) -> dict[str, object]:
    long_run = {"op": "Smin", "exp": reward.identifier, "accumulate": ["time"]}
    return {
        "name": f"longrun_{reward.identifier}",
        "comment": reward.meaning,
        "expression": {"op": "filter", "fun": "values", "values": long_run, "states": {"op": "initial"}},
    }
