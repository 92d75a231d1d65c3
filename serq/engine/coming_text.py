"""What sessions draw from when they come, as restricted Python: their streams, begun for a block of them at once."""

from serq.codegen.blocks import BLOCK
from serq.engine.ahead import Ahead
from serq.engine.expressions import Expressions, Surroundings
from serq.engine.streams import place_of
from serq.ir import expr as e

_COMING = {"session": "coming", "workload": "coming_work"}
"""The fields with the words of the next sessions."""
_AT_ONCE = ("exp", "h2")
"""The laws of which `serq.codegen.blocks` draws a block."""


class ComingText:
    """Writes what makes a block of sessions ready, and how each takes its part. `ahead` is what they draw at once."""

    def __init__(self, expressions: Expressions, streams: tuple[str, ...], ahead: Ahead) -> None:
        self.expressions = expressions
        self.lines = expressions.lines
        self.streams = streams
        self.ahead = ahead
        self.drawn = _all_that_is_drawn(ahead)
        self.begun = tuple(x for x in streams if x != "session" or self.drawn is None)

    def prepare(self) -> None:
        """A function that begins the streams of the next block of sessions, or draws what is all that they draw."""
        lines, drawn = self.lines, self.drawn
        if not self.streams:
            return
        lines.add("@cold")
        with lines.block("def prepare(s: Sim, serial: i64) -> None:"):
            for purpose in self.begun:
                key = 4 * ("session", "workload").index(purpose)
                lines.add(f"begin_block(s.keys, {key}, serial, s.{_COMING[purpose]})")
            if drawn is not None:
                args = ", ".join(map(self.expressions.value, drawn.args))
                lines.add(f"block_{drawn.law}(s.keys, serial, s.drawn, s.room, {args})")
                with (
                    lines.block(f"for i in range({BLOCK} if has_odd(s.room) else 0):"),
                    lines.block("if s.room[i] <= 0.0:"),
                ):
                    lines.add("begin_alone(s, serial + i)", f"s.drawn[i] = draw_{drawn.law}(s.alone, 0, {args})")
        lines.add("")

    def take(self) -> None:
        """The session that comes takes the words of its streams, or what has been drawn from them."""
        lines = self.lines
        if not self.streams:
            return
        lines.add(f"lane = s.serial[slot] & {BLOCK - 1}")
        for purpose in self.begun:
            lines.add(f"take_words(s, s.{_COMING[purpose]}, lane, {place_of(self.streams, purpose, 'slot')})")
        if self.drawn is not None:
            lines.add("s.ahead[slot] = s.drawn[lane]")
            return
        stream = place_of(self.streams, "session", "slot")
        self.expressions.here = Surroundings("slot", stream, ahead=self.ahead)
        self.expressions.draw_ahead()

    def prepare_next(self) -> None:
        """The next block of sessions is made ready when their turn comes."""
        if self.streams:
            self.lines.add(f"if s.next_serial & {BLOCK - 1} == 0:", "    prepare(s, s.next_serial)")


def _all_that_is_drawn(ahead: Ahead) -> e.Draw | None:
    """What a session draws from its stream, if that is one draw of a law that is drawn in blocks."""
    draw = ahead.following
    return draw if draw is not None and ahead.last and draw.law in _AT_ONCE else None
