"""A picture for Mermaid, which many places that show Markdown draw."""

from serq.draw.picture import Node, Picture

_BRACKETS = {
    "start": ("((", "))"), "end": ("(((", ")))"), "run": ("[", "]"), "hold": ("[/", "\\]"), "release": ("[\\", "/]"),
    "pool": ("[", "]"), "branch": ("{", "}"), "choose": ("{{", "}}"), "turn": ("([", "])"),
}  # fmt: skip


def mermaid_text(picture: Picture) -> str:
    """The picture as a Mermaid flowchart."""
    lines = ["flowchart TD", "  subgraph deployment"]
    for i, card in enumerate(picture.cards):
        kind = "" if card.kind == "workload" else f"{card.kind} "
        lines.append(f"    c{i}[{_quoted(kind + card.title, *card.lines)}]")
    lines.append("  end")
    lines += [f"  n{i}{_node(node)}" for i, node in enumerate(picture.nodes)]
    for edge in picture.edges:
        label = f"|{_quoted(edge.label)}|" if edge.label else ""
        lines.append(f"  n{edge.source} -->{label} n{edge.target}")
    return "\n".join(lines) + "\n"


def _node(node: Node) -> str:
    left, right = _BRACKETS[node.kind]
    return f"{left}{_quoted(*(node.lines or (' ',)))}{right}"


def _quoted(*lines: str) -> str:
    """A text as Mermaid takes any: in quotes, with entities for what would end it or be read as markup."""
    escapes = {"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;", "#": "&#35;", "`": "&#96;"}
    return '"' + "<br>".join("".join(escapes.get(c, c) for c in line) for line in lines) + '"'
