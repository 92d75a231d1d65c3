"""The process in which Storm runs: `python -m serq.compare.storm_worker`, jobs as JSON on standard input.

One line of JSON per job on standard output, after a first line that says that Storm is loaded. Storm's C++ ignores
Ctrl-C, may die of a segmentation fault or a division by zero, and prints warnings to standard output: all of that
stays in here. Environments are always explicit. Storm's defaults for doubles are wrong on some chains (a throughput
of 1.73 where 1 is the limit) and do not terminate on others.
"""

import base64
import json
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import stormpy
import stormpy.developer as developer
from stormpy import datastructures, environments, models

from serq.compare.explicit_files import ExplicitModel, read_explicit

Job = Mapping[str, Any]

DOUBLE_SETTINGS = ("--precision", "1e-12", "--eqsolver", "eigen", "--eigen:method", "sparselu")
"""Storm takes each setting once per process, so all jobs in doubles share these."""


@dataclass(frozen=True)
class _Engine:
    """A value type of Storm with the environment that goes with it, and how a value is written."""

    value_type: Any
    environment: Any
    write: Callable[[Any], str]


def main() -> None:
    """Reads the jobs, answers each, and never prints anything else on what was standard output."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_AS, (request["memory"], request["memory"]))
    developer.set_log_level(developer.LogLevel.OFF)
    developer.set_from_exploded_string(list(DOUBLE_SETTINGS))
    _say(answers, {"ready": stormpy.__version__})
    for job in request["jobs"]:
        _say(answers, _attempt(job))


def _say(answers: TextIO, message: Mapping[str, object]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def _attempt(job: Job) -> dict[str, object]:
    try:
        return {"ok": True, **_answer(job)}
    except MemoryError:
        return {"ok": False, "kind": "memory", "error": "the memory limit was reached"}
    except Exception as error:
        return {"ok": False, "kind": "error", "error": f"{type(error).__name__}: {error}"}


def _answer(job: Job) -> dict[str, object]:
    engine = _engine(job)
    model, properties = _BUILDERS[job["kind"]](job, engine)
    if len(model.initial_states) != 1:
        raise ValueError(f"the model has {len(model.initial_states)} initial states; long-run values need one")
    return {
        "values": [_value(model, *p, engine) for p in zip(job["properties"], properties, strict=True)],
        "states": model.nr_states,
        "transitions": model.nr_transitions,
        "rewards_from": _least(model, engine),
        "distribution": _distribution(model, engine) if job["distribution"] else None,
    }


def _engine(job: Job) -> _Engine:
    if job["kind"] == "parametric":
        return _Engine(stormpy.RationalFunction, environments.exact(), str)
    if job["exact"]:
        return _Engine(stormpy.Rational, environments.exact(), str)
    return _Engine(float, developer.EnvironmentBuilder.build_environment(), repr)


# -- models -----------------------------------------------------------------------------------------------------------


def _prism(job: Job, engine: _Engine) -> tuple[Any, list[Any]]:
    """A PRISM program: compatibility on, because PRISM's own texts need it; exploration checks on, because an update
    out of range wraps around silently otherwise.
    """
    program = _from_file(job["model"], lambda path: stormpy.parse_prism_program(path, prism_compatibility=True))
    properties = [stormpy.parse_property(p, program) for p in job["properties"]]
    program, properties = stormpy.instantiate_constants(program, job["constants"], properties)
    options = stormpy.BuilderOptions(properties)
    options.set_build_all_labels()
    options.set_build_all_reward_models()
    options.set_exploration_checks()
    return stormpy.build_model[engine.value_type](program, options=options), properties


def _drn(job: Job, engine: _Engine) -> tuple[Any, list[Any]]:
    model = _from_file(job["model"], stormpy.build_model_from_drn[engine.value_type])
    return model, [stormpy.parse_property(p) for p in job["properties"]]


def _parametric(job: Job, _: _Engine) -> tuple[Any, list[Any]]:
    """A DRN with parameters, which stay open: a value is a rational function, as text."""
    model = _from_file(job["model"], stormpy.build_model_from_drn[stormpy.RationalFunction])
    return model, [stormpy.parse_property(p) for p in job["properties"]]


def _jani(job: Job, engine: _Engine) -> tuple[Any, list[Any]]:
    """A JANI model, whose properties are its own: the job names them."""
    model, own = _from_file(job["model"], stormpy.parse_jani_model)
    by_name = {p.get_name(): p for p in own}
    model, properties = stormpy.instantiate_constants(model, job["constants"], [by_name[n] for n in job["properties"]])
    options = stormpy.BuilderOptions(properties)
    options.set_build_all_labels()
    options.set_build_all_reward_models()
    options.set_exploration_checks()
    return stormpy.build_model[engine.value_type](model, options=options), properties


def _umb(job: Job, engine: _Engine) -> tuple[Any, list[Any]]:
    """A UMB file, which is bytes and comes as base64."""
    options = stormpy.io.UmbImportOptions()
    kinds = stormpy.io.UmbImportValueType
    options.value_type = kinds.RATIONAL if job["exact"] else kinds.DOUBLE
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.umb"
        path.write_bytes(base64.b64decode(job["model"]))
        model = stormpy.build_model_from_umb(str(path), options=options)
    return model, [stormpy.parse_property(p) for p in job["properties"]]


def _explicit(job: Job, engine: _Engine) -> tuple[Any, list[Any]]:
    model = _assemble(read_explicit(job["model"]), engine.value_type)
    return model, [stormpy.parse_property(p) for p in job["properties"]]


_BUILDERS: Mapping[str, Callable[[Job, _Engine], tuple[Any, list[Any]]]] = {
    "prism": _prism,
    "drn": _drn,
    "jani": _jani,
    "umb": _umb,
    "parametric": _parametric,
    "explicit": _explicit,
}


def _from_file(text: str, read: Callable[[str], Any]) -> Any:
    """What a reader that knows only files makes of a text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_text(text, encoding="utf-8")
        return read(str(path))


def _assemble(source: ExplicitModel, value_type: Any) -> Any:
    """The chain as Storm's sparse CTMC. Storm checks neither the length of a reward nor an exit rate it is given, so
    rewards are filled up and exit rates left to it; a state without a way out gets a self-loop.
    """
    number: Callable[[Any], Any] = float if value_type is float else lambda x: stormpy.Rational(str(x))
    stuck = set(range(source.size)) - {s for s, _, _ in source.transitions}
    entries = sorted([*source.transitions, *((s, s, 1) for s in stuck)])
    builder = datastructures.SparseMatrixBuilder[value_type](
        rows=source.size, columns=source.size, entries=len(entries)
    )
    builder.add_next_values([s for s, _, _ in entries], [t for _, t, _ in entries], [number(r) for _, _, r in entries])
    labeling = models.StateLabeling(source.size)
    for name, members in source.labels.items():
        labeling.add_label(name)
        for state in members:
            labeling.add_label_to_state(name, state)
    rewards = {
        name: models.SparseRewardModel[value_type](
            optional_state_reward_vector=[number(values.get(state, 0)) for state in range(source.size)]
        )
        for name, values in source.rewards.items()
    }
    components = models.SparseModelComponents[value_type](
        transition_matrix=builder.build(), state_labeling=labeling, reward_models=rewards, rate_transitions=True
    )
    return models.SparseCtmc[value_type](components)


# -- answers ----------------------------------------------------------------------------------------------------------


def _value(model: Any, text: str, wanted: Any, engine: _Engine) -> str:
    result = stormpy.model_checking(model, wanted, only_initial_states=True, environment=engine.environment)
    if result is None or not hasattr(result, "get_value"):
        kind = "exact" if engine.value_type is not float else "floating-point"
        raise ValueError(f"Storm's {kind} engine gives no number for {text}")
    return engine.write(result.get_value(model.initial_states[0]))


def _least(model: Any, engine: _Engine) -> float:
    """The smallest reward of a state; 0 where rewards are functions."""
    if engine.value_type is stormpy.RationalFunction:
        return 0.0
    return min((float(x) for r in model.reward_models.values() for x in _rewards(r)), default=0.0)


def _rewards(model: Any) -> list[Any]:
    states = list(model.state_rewards) if model.has_state_rewards else []
    return states + (list(model.state_action_rewards) if model.has_state_action_rewards else [])


def _distribution(model: Any, engine: _Engine) -> list[str]:
    """The whole stationary vector. By expected visiting times: the default builds one dense system."""
    environment = engine.environment
    environment.modelchecker().steady_state_distribution_algorithm = (
        environments.SteadyStateDistributionAlgorithm.EXPECTED_VISITING_TIMES
    )
    result = stormpy.analysis.compute_steady_state_distribution(model, environment=environment)
    return [engine.write(x) for x in result.get_value_vector()]


if __name__ == "__main__":
    main()
