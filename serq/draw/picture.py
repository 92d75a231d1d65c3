"""What a picture shows, before anybody decides where: cards for the deployment, a graph for the session.

A node is something that happens to a session (a run, a hold and its release, a branch, a choice). A `set` is left out,
and an observe is a line of the node behind which it stands, or of the edge. Texts are those of the program.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["start", "run", "hold", "release", "pool", "branch", "choose", "turn", "end"]


@dataclass(frozen=True)
class Card:
    """A part of the deployment: its name, and a line for each option."""

    kind: Literal["workload", "stage", "pool"]
    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Node:
    """A node of the session's graph. `resource` is the name of the stage or pool that it is about."""

    kind: Kind
    lines: tuple[str, ...]
    resource: str = ""


@dataclass(frozen=True)
class Edge:
    """A way from node to node. `back`: it closes a loop."""

    source: int
    target: int
    label: str
    back: bool


@dataclass(frozen=True)
class Picture:
    """All of it; node 0 is where a session begins."""

    name: str
    cards: tuple[Card, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
