"""`--json`: stdout is one strict JSON value and nothing else, whatever happens; warnings stay on stderr."""

import pytest

NOISY = "let unused = 1;\n"
"""A program with this in front has a warning."""

SUCCESSES = {
    "run": ("run",),
    "several runs": ("run", "--replications", "2", "--jobs", "1"),
    "a run without time": ("run", "--horizon", "1e-9", "--warmup", "0"),
    "solve": ("solve", "--states"),
    "solve in doubles": ("solve", "--method", "lu"),
    "check": ("check", "--jobs", "1"),
    "explain": ("explain",),
    "closed-form": ("closed-form",),
    "price": ("price", "--to", "N=4"),
    "study": ("study", "--vary", "N=2", "--jobs", "1"),
    "lint": ("lint",),
    "export": ("export", "--prism"),
    "export drn": ("export", "--drn"),
}


@pytest.mark.parametrize("name", SUCCESSES)
def test_success(serq, write, tmp_path, name) -> None:
    path = write(NOISY + write().read_text())
    out = ["--out", tmp_path] if name.startswith("export") else []
    done = serq(*SUCCESSES[name], path, *out, "--json")
    assert done.status == 0
    assert done.data["serq_version"]
    verb = SUCCESSES[name][0]
    assert done.data["schema"] == f"serq.{verb}/{2 if verb == 'run' else 1}"
    assert "python" in done.data["tools"]
    assert done.err == "" if name == "lint" else done.err.count("warning[SQ402]") >= 1


@pytest.mark.parametrize("verb", ["run", "solve", "check", "price"])
def test_provenance(serq, write, verb) -> None:
    more = {"check": ["--jobs", 1], "price": ["--to", "N=4"]}.get(verb, [])
    path = write()
    data = serq(verb, path, *more, "--json").data
    assert data["program"] == "program"
    assert data["file"] == str(path)
    assert data["constants"] == {"N": 3.0}
    assert len(data["program_hash"]) >= 16
    again = serq(verb, path, "--set", "N=2", *more, "--json").data
    assert again["program_hash"] != data["program_hash"]
    if verb in ("run", "check"):
        assert (data["seed"], data["horizon"], data["warmup"], data["engine"]) == (1, 200, 10, "compiled")
    if verb in ("solve", "check"):
        assert data["tools"]["numpy"]


def test_exact_values_are_text_beside_a_double(serq, write) -> None:
    number = serq("solve", write(), "--json").data["measures"]["stage.svc.number"]
    assert number["exact"] == "27/19"
    assert number["value"] == pytest.approx(27 / 19)


def test_what_has_no_value_is_null_and_has_a_reason(serq, write) -> None:
    path = write(
        "pool m { cap 1; } stage d : delay; workload { arrive closed(1); }\n"
        "session { loop { run d (~exp(1)); branch (0) { hold m (1) { run d (~exp(1)); observe x = 1; } } } }"
    )
    for done in (serq("run", path, "--horizon", 50, "--json"), serq("solve", path, "--json")):
        assert done.status == 0
        assert "null" in done.out
        assert '"reason"' in done.out


@pytest.mark.parametrize(
    ("command", "kind", "status", "said"),
    [
        (("run", "PROGRAM", "--nope"), "UsageError", 2, "No such option"),
        (("run",), "UsageError", 2, "Missing argument"),
        (("nope",), "UsageError", 2, "No such command"),
        (("run", "PROGRAM", "--set", "zzz=1"), "UsageError", 2, "the program has no `let zzz`"),
        (("run", "PROGRAM", "--out", "."), "OutputError", 2, "directory"),
        (("run", "nowhere.sq"), "InputError", 3, "there is no file"),
        (("run", "BROKEN"), "LoadError", 3, "SQ"),
        (("solve", "OPEN"), "OutsideFragmentError", 1, "SQ612"),
        (("solve", "BATCH"), "NoSteadyStateError", 1, "SQ650"),
        (("solve", "PROGRAM", "--max-states", "2"), "LimitError", 4, "more than 2 states"),
        (("run", "BAD_WORK"), "RunError", 5, "SQ501"),
    ],
)
def test_every_class_of_error(serq, write, command, kind, status, said) -> None:
    queue = write().read_text()
    programs = {
        "PROGRAM": write(),
        "BROKEN": write("let a = ;\nlet b = ;\n", "broken.sq"),
        "OPEN": write(queue.replace("closed(N)", "poisson(1)"), "open.sq"),
        "BATCH": write("stage d : delay; workload { arrive batch(1); } session { run d (~exp(1)); }", "batch.sq"),
        "BAD_WORK": write(queue.replace("~exp(1)", "0 - 1"), "bad_work.sq"),
    }
    done = serq(*(programs.get(word, word) for word in command), "--json")
    error = done.data["error"]
    assert (done.status, error["exit_status"], error["kind"]) == (status, status, kind)
    assert said in error["message"]
    assert done.data["schema"] == "serq.error/1"
    if kind in ("LoadError", "OutsideFragmentError", "NoSteadyStateError", "RunError"):
        for diagnostic in error["diagnostics"]:
            assert set(diagnostic) == {
                "code", "severity", "message", "file", "line", "column", "end_line", "end_column", "hint", "notes",
            }  # fmt: skip
    if kind == "LoadError":
        assert len(error["diagnostics"]) == 2
    if kind in ("InputError", "OutputError"):
        assert error["code"].startswith("SQ")


def test_lint_lists_what_it_finds(serq, write) -> None:
    done = serq("lint", write("let a = 1; let b = zzz;\n"), "--json")
    assert done.status == 1
    assert {"SQ101", "SQ119"} <= {d["code"] for d in done.data["diagnostics"]}
    warned = serq("lint", write("let a = 1;" + write().read_text()), "--json")
    assert (warned.status, [d["severity"] for d in warned.data["diagnostics"]]) == (0, ["warning"])
    assert serq("lint", write("let a = 1;" + write().read_text()), "--json", "--quiet").data["diagnostics"] == []


def test_export_says_what_had_no_symbolic_form(serq, write, tmp_path) -> None:
    path = write(
        "pool m { cap 1; } stage d : delay; workload { arrive closed(2); }\n"
        "session { loop { hold m (1) { run d (~exp(1)); } observe x = 1; } }"
    )
    data = serq("export", "--prism", path, "--out", tmp_path, "--json").data
    assert data["symbolic"] is False
    assert [d["code"] for d in data["not_symbolic"]] == ["SQ801"]
    assert [f.rpartition(".")[2] for f in data["files"]].count("tra") == 1


def test_verbs_that_read_no_program(serq, write, tmp_path) -> None:
    models = serq("models", "--json").data["models"]
    assert {"name", "group", "title", "file"} <= set(models[0])
    assert serq("models", "list", "--json").data["models"] == models
    assert serq("models", "show", "mm1n", "--json").data["text"].startswith("//")
    assert serq("models", "copy", "mm1n", tmp_path, "--json").data["files"] == [f"{tmp_path}/mm1n.sq"]
    assert serq("closed-form", "--list", "--json").data["formulas"][0]["source"]
    assert serq("closed-form", "mm1n", "N=2", "mu=1", "Z=4", "--json").data["values"]["L"] == "6/13"
    path = write()
    assert serq("fmt", path, "--stdout", "--json").data["texts"][0].startswith("let N = 3;")
    assert serq("fmt", path, "--check", "--json").data["changed"] == [str(path)]


def test_models_that_are_not_there_in_json(serq) -> None:
    for command in (("models", "show", "mm1m"), ("closed-form", "mm1m")):
        done = serq(*command, "--json")
        assert (done.status, done.data["error"]["code"]) == (3, "SQ701")
