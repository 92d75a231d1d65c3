"""How long a process takes from its start to its end: `python tests/bench/starting.py`.

Each verb is measured against `python -c "import numpy, llvmlite.binding"` in the same round, in CPU time of the child;
the table has the medians of the ratios. A new program is one that is in no cache.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from workloads import MODELS

ROUNDS = 7
_END = "run { horizon 100; warmup 10; seed 1; }\n"
_YARDSTICK = "import numpy, llvmlite.binding"


def spent(arguments: list[str], cache: str) -> float:
    """CPU seconds of one Python process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "SERQ_CACHE_DIR": cache}
    subprocess.run([sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the table as Markdown."""
    ratios: dict[str, list[float]] = {}
    seconds: list[float] = []
    with tempfile.TemporaryDirectory() as place:
        files = {}
        for word, model in (("queue", MODELS[0]), ("replica", MODELS[6])):
            files[word] = Path(place) / f"{word}.sq"
            files[word].write_text(model.text + _END)
        kept = str(Path(place) / "kept")
        for path in files.values():
            spent(["-m", "serq", "run", str(path)], kept)
        for turn in range(ROUNDS):
            seconds.append(spent(["-c", _YARDSTICK], kept))
            rows = {"python -c pass": (["-c", "pass"], kept)}
            for word, path in files.items():
                rows[f"serq lint, {word}"] = ["-m", "serq", "lint", str(path)], kept
                rows[f"serq run, {word}, cached"] = ["-m", "serq", "run", str(path)], kept
                rows[f"serq run, {word}, new"] = ["-m", "serq", "run", str(path)], str(Path(place) / f"{turn}{word}")
            for name, (arguments, cache) in rows.items():
                ratios.setdefault(name, []).append(spent(arguments, cache) / seconds[-1])
    print(f"`{_YARDSTICK}`: {statistics.median(seconds):.2f} s of CPU\n\n| process | times as long |\n|---|---|")
    for name, values in ratios.items():
        print(f"| {name} | {statistics.median(values):.2f} |")


if __name__ == "__main__":
    main()
