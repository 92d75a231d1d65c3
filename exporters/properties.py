"""The properties of a counter model: the long-run value of every reward, and how the measures follow from them."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from serq.exporters.counters import CounterModel
from serq.exporters.names import NameMap
from serq.exporters.rewards import ExportedMeasure, NotExported
from serq.ir.expr import Number


def long_run_property(model: CounterModel, reward: str) -> str:
    """The property that asks for the long-run value of a reward; of an automaton, in which nothing is left to choose,
    the largest one.
    """
    return f'R{{"{reward}"}}max=? [ LRA ]' if model.immediate else f'R{{"{reward}"}}=? [ S ]'


def counter_properties(
    model: CounterModel,
    measures: Sequence[ExportedMeasure | NotExported],
    names: NameMap,
    results: Mapping[str, Number],
    at: tuple[str, str],
) -> str:
    """The property file. `results` are known values by reward, at the constants in `at`, behind the program's name."""
    program, values = at
    out = [f"// Long-run values of {program}: one property per reward."]
    for measure in measures:
        name = measure.measure.name
        if isinstance(measure, NotExported):
            out.append(f"// {name}: not here, it needs {measure.reason}")
        elif measure.denominator is not None:
            out.append(f'// {name} = R{{"{measure.numerator}"}} / R{{"{measure.denominator}"}}')
        else:
            out.append(f'// {name} = R{{"{measure.numerator}"}}')
    given = f" ({values})" if values else ""
    for reward in model.rewards:
        out += ["", f"// {reward.meaning}"]
        if reward.identifier in results:
            out.append(f"// RESULT{given}: {plain_number(results[reward.identifier])}")
        label = names.identifier(f"longrun.{reward.identifier}", "property")
        out.append(f'"{label}": {long_run_property(model, reward.identifier)};')
    return "\n".join(out) + "\n"


def measure_json(measure: ExportedMeasure | NotExported) -> dict[str, str | None]:
    """A measure as it stands in the map."""
    if isinstance(measure, NotExported):
        return {"reason": f"it needs {measure.reason}"}
    return {"reward": measure.numerator, "per": measure.denominator}


def plain_number(value: Number) -> str:
    """A number without spaces: `3`, `1/3`, or a double in full."""
    return str(value) if isinstance(value, Fraction) else repr(value)
