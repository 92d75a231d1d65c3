"""A picture for Graphviz."""

from serq.draw.picture import Card, Node, Picture

_SHAPES = {
    "start": "circle", "end": "doublecircle", "run": "box", "hold": "house", "release": "invhouse", "pool": "box",
    "branch": "diamond", "choose": "hexagon", "turn": "ellipse",
}  # fmt: skip


def dot_text(picture: Picture) -> str:
    """The picture in the language of Graphviz: `dot -Tsvg NAME.dot`."""
    lines = [f"digraph {_quoted(picture.name)} {{", '  node [fontname="Helvetica", fontsize=11];']
    lines += ["  subgraph cluster_deployment {", '    label="deployment";']
    lines += [f"    c{i} [{_card(card)}];" for i, card in enumerate(picture.cards)]
    lines += ["  }"]
    lines += [f"  n{i} [{_node(node)}];" for i, node in enumerate(picture.nodes)]
    for edge in picture.edges:
        label = f" [label={_quoted(edge.label)}]" if edge.label else ""
        lines.append(f"  n{edge.source} -> n{edge.target}{label};")
    return "\n".join([*lines, "}"]) + "\n"


def _card(card: Card) -> str:
    title = card.title if card.kind == "workload" else f"{card.kind} {card.title}"
    return f"shape=box, style=rounded, label={_quoted(chr(10).join((title, *card.lines)))}"


def _node(node: Node) -> str:
    return f"shape={_SHAPES[node.kind]}, label={_quoted(chr(10).join(node.lines))}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
