"""Amounts of work as one draw."""

from collections.abc import Callable

from serq.exporters.partial import times
from serq.ir import expr as e


def scaled_draw(work: e.Expr) -> e.Draw | None:
    """The work as one draw, a factor without draws put into its mean; None when it is not of that form."""
    match work:
        case e.Draw():
            return work
        case e.Binary(op="*", left=e.Draw() as draw, right=factor) if not e.draws(factor):
            return _with_mean(draw, lambda mean: times(mean, factor))
        case e.Binary(op="*", left=factor, right=e.Draw() as draw) if not e.draws(factor):
            return _with_mean(draw, lambda mean: times(factor, mean))
        case e.Binary(op="/", left=e.Draw() as draw, right=factor) if not e.draws(factor):
            return _with_mean(draw, lambda mean: e.Binary("/", mean, factor))
        case _:
            return None


def size(work: e.Expr) -> e.Expr:
    """What is 0 exactly when the amount is: the mean of a draw of phases, else the amount itself."""
    match scaled_draw(work):
        case e.Draw(law="exp" | "h2", args=(mean, *_)) | e.Draw(law="erlang", args=(_, mean)):
            return mean
        case _:
            return work


def _with_mean(draw: e.Draw, change: Callable[[e.Expr], e.Expr]) -> e.Draw | None:
    if draw.law == "erlang":
        return e.Draw("erlang", (draw.args[0], change(draw.args[1])), draw.span)
    if draw.law in ("exp", "h2"):
        return e.Draw(draw.law, (change(draw.args[0]), *draw.args[1:]), draw.span)
    return None
