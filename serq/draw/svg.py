"""A picture as SVG: the deployment on the left, the session on the right. No other program takes part."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

from serq.draw.layout import Placed, Point, place
from serq.draw.picture import Card, Edge, Node, Picture

LETTER = 6.6
"""Width of a letter at the size of the text: an upper estimate of the mean over usual typefaces."""
LINE = 15.0
PAD = 10.0
MARGIN = 18.0
_PALETTE = ("#cfe3f7", "#fbe0c3", "#d5edd2", "#ecd6ee", "#f9d5d5", "#fdf1bd", "#d2eceb", "#e4dccf")
_PLAIN = {"branch": "#ffffff", "choose": "#ffffff", "turn": "#eeeeee", "start": "#444444", "end": "#444444"}

_STYLE = (
    "text{font:12px Helvetica,Arial,sans-serif;fill:#1a1a1a}"
    ".title{font-weight:bold}.head{font-size:14px;font-weight:bold}.edge{fill:none;stroke:#555;stroke-width:1.2}"
    ".box{stroke:#555;stroke-width:1}.small{font-size:11px;fill:#444}"
    ".label{font-size:11px;fill:#444;paint-order:stroke;stroke:#fff;stroke-width:4px}"
)


def svg_text(picture: Picture) -> str:
    """The picture as a document of SVG."""
    return "\n".join(_Drawing(picture).document()) + "\n"


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


class _Drawing:
    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        names = [card.title.split("[")[0] for card in picture.cards if card.kind != "workload"]
        self.colours = {name: _PALETTE[i % len(_PALETTE)] for i, name in enumerate(dict.fromkeys(names))}
        self.cards_wide = max(_widest((card.title, *card.lines)) for card in picture.cards) + 2 * PAD
        sizes = [_size(node) for node in picture.nodes]
        self.sizes = sizes
        self.placed: Placed = place(sizes, [(e.source, e.target, e.back) for e in picture.edges])
        self.left = MARGIN + self.cards_wide + 2.5 * MARGIN
        self.top = MARGIN + 26

    def document(self) -> Iterator[str]:
        """The lines of the document."""
        cards = list(self._cards())
        tall = max(self.bottom, self.top + self.placed.height) + MARGIN
        wide = self.left + self.placed.width + MARGIN + self._label_room()
        w, h = _number(wide), _number(tall)
        yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img">'
        yield f"<title>{escape(self.picture.name)}</title>"
        yield f"<style>{_STYLE}</style>"
        yield (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            '<path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>'
        )
        yield f'<rect width="{w}" height="{h}" fill="#fff"/>'
        yield _text(MARGIN, MARGIN + 8, self.picture.name, "head")
        yield _text(self.left, MARGIN + 8, "session", "head")
        yield from cards
        edges = list(zip(self.picture.edges, self.placed.routes, strict=True))
        for edge, route in edges:
            yield self._edge(edge, route)
        for node, size, centre in zip(self.picture.nodes, self.sizes, self.placed.centres, strict=True):
            yield from self._node(node, size, centre)
        yield from (self._label(edge.label, edge.back, route) for edge, route in edges if edge.label)
        yield "</svg>"

    def _label_room(self) -> float:
        """How far labels reach beyond the graph on the right."""
        reach = [
            route[0][0] + 8 + _widest((edge.label,)) - self.placed.width
            for edge, route in zip(self.picture.edges, self.placed.routes, strict=True)
            if edge.label
        ]
        return max([0.0, *reach])

    def _cards(self) -> Iterator[str]:
        y = self.top
        for card in self.picture.cards:
            tall = LINE * (1 + len(card.lines)) + PAD
            colour = self.colours.get(card.title.split("[")[0], "#f4f4f4")
            yield _box(MARGIN, y, self.cards_wide, tall, colour, 4 if card.kind == "stage" else 10)
            yield from self._card_texts(card, y)
            y += tall + 12
        self.bottom = y

    def _card_texts(self, card: Card, y: float) -> Iterator[str]:
        yield _text(MARGIN + PAD, y + LINE, card.title, "title")
        for i, line in enumerate(card.lines):
            yield _text(MARGIN + PAD, y + LINE * (i + 2), line)

    def _node(self, node: Node, size: tuple[float, float], centre: Point) -> Iterator[str]:
        x, y = self.left + centre[0], self.top + centre[1]
        w, h = size
        colour = self.colours.get(node.resource, _PLAIN.get(node.kind, "#f4f4f4"))
        if node.kind in ("start", "end"):
            yield f'<circle cx="{_number(x)}" cy="{_number(y)}" r="6" fill="{colour}"/>'
            if node.kind == "end":
                yield f'<circle cx="{_number(x)}" cy="{_number(y)}" r="9" class="edge"/>'
            lines = node.lines[1:]  # the first says what the circle says
            x += 14
        elif node.kind in ("branch", "choose"):
            corner = 8.0 if node.kind == "branch" else 14.0
            yield _diamond(x, y, w, h, colour) if not node.lines else _hexagon(x, y, w, h, corner, colour)
            lines = node.lines
        else:
            slant = {"hold": 8.0, "release": -8.0}.get(node.kind, 0.0)
            yield _trapezium(x, y, w, h, slant, colour) if slant else _box(x - w / 2, y - h / 2, w, h, colour, 4)
            lines = node.lines
        first = y - LINE * (len(lines) - 1) / 2 + 4
        for i, line in enumerate(lines):
            small = line.startswith("observe ") or i > 0
            middle = node.kind not in ("start", "end")
            yield _text(x, first + LINE * i, line, "small" if small else "title", middle=middle)

    def _edge(self, edge: Edge, route: Sequence[Point]) -> str:
        points = [(self.left + x, self.top + y) for x, y in route]
        return f'<path class="edge" d="{_back(points) if edge.back else _curve(points)}" marker-end="url(#tip)"/>'

    def _label(self, label: str, back: bool, route: Sequence[Point]) -> str:
        """The label, where the edge begins."""
        x, y = self.left + route[0][0], self.top + route[0][1]
        toward = route[1][0] - route[0][0]
        if back:
            return _text(x + 6, y - 5, label, "label")
        if toward < -1:
            return _text(x + toward * 0.3 - 5, y + 14, label, "label", end=True)
        return _text(x + toward * 0.3 + 5, y + 14, label, "label")


def _size(node: Node) -> tuple[float, float]:
    if node.kind in ("start", "end"):
        return 20.0, 20.0
    if node.kind == "branch" and not node.lines:
        return 26.0, 20.0
    extra = 28.0 if node.kind in ("branch", "choose", "hold", "release") else 0.0
    return _widest(node.lines) + 2 * PAD + extra, LINE * len(node.lines) + PAD


def _widest(lines: Sequence[str]) -> float:
    return LETTER * max((len(line) for line in lines), default=0)


def _text(x: float, y: float, text: str, kind: str = "", middle: bool = False, end: bool = False) -> str:
    anchor = ' text-anchor="middle"' if middle else ' text-anchor="end"' if end else ""
    style = f' class="{kind}"' if kind else ""
    return f'<text x="{_number(x)}" y="{_number(y)}"{style}{anchor}>{escape(text)}</text>'


def _box(x: float, y: float, w: float, h: float, colour: str, corner: float) -> str:
    place = f'x="{_number(x)}" y="{_number(y)}" width="{_number(w)}" height="{_number(h)}"'
    return f'<rect {place} rx="{_number(corner)}" class="box" fill="{colour}"/>'


def _polygon(points: Sequence[Point], colour: str) -> str:
    listed = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
    return f'<polygon points="{listed}" class="box" fill="{colour}"/>'


def _diamond(x: float, y: float, w: float, h: float, colour: str) -> str:
    return _polygon([(x - w / 2, y), (x, y - h / 2), (x + w / 2, y), (x, y + h / 2)], colour)


def _hexagon(x: float, y: float, w: float, h: float, corner: float, colour: str) -> str:
    left, right, top, bottom = x - w / 2, x + w / 2, y - h / 2, y + h / 2
    upper = [(left, y), (left + corner, top), (right - corner, top)]
    return _polygon([*upper, (right, y), (right - corner, bottom), (left + corner, bottom)], colour)


def _trapezium(x: float, y: float, w: float, h: float, slant: float, colour: str) -> str:
    """Wider below where units are taken, wider above where they are given back."""
    above, below = max(slant, 0.0), max(-slant, 0.0)
    left, right, top, bottom = x - w / 2, x + w / 2, y - h / 2, y + h / 2
    return _polygon(
        [(left + above, top), (right - above, top), (right - below, bottom), (left + below, bottom)], colour
    )


def _curve(points: Sequence[Point]) -> str:
    """A path through the points that leaves and reaches each of them downwards."""
    out = [f"M{_number(points[0][0])} {_number(points[0][1])}"]
    for (x0, y0), (x1, y1) in pairwise(points):
        if abs(x0 - x1) < 0.5:
            out.append(f"L{_number(x1)} {_number(y1)}")
        else:
            half = _number((y0 + y1) / 2)
            out.append(f"C{_number(x0)} {half} {_number(x1)} {half} {_number(x1)} {_number(y1)}")
    return "".join(out)


def _back(points: Sequence[Point]) -> str:
    """A path along straight lines with round corners."""
    n = _number
    if points[0][1] == points[-1][1]:  # a loop at one node
        (x, y), far = points[0], n(points[1][0] + 12)
        return f"M{n(x)} {n(y + 4)}C{far} {n(y + 14)} {far} {n(y - 14)} {n(x)} {n(y - 4)}"
    out = [f"M{n(points[0][0])} {n(points[0][1])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        (x0, y0), (x1, y1) = _toward(corner, before), _toward(corner, after)
        out.append(f"L{n(x0)} {n(y0)}Q{n(corner[0])} {n(corner[1])} {n(x1)} {n(y1)}")
    return "".join(out) + f"L{n(points[-1][0])} {n(points[-1][1])}"


def _toward(start: Point, goal: Point, most: float = 8.0) -> Point:
    """The point a little way from one point to another."""
    dx, dy = goal[0] - start[0], goal[1] - start[1]
    far = max(abs(dx) + abs(dy), 1e-9)
    part = min(most, far / 2) / far
    return start[0] + dx * part, start[1] + dy * part
