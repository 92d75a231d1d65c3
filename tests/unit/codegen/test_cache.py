"""The cache of object files: what is found again, what is not believed, and what happens where it cannot be used."""

import os
import subprocess
import sys
import tempfile
from array import array
from pathlib import Path

import pytest
from restricted_texts import NAMES, NAMES_LINES

from serq.codegen import FaultError, cache, compile_module, jit, sources

TEXT = (
    NAMES
    + "class S:\n    n: i64\ndef f(s: S, x: f64 = 2.0) -> f64:\n    return x * s.n\ndef g() -> bool:\n    return True\n"
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("SERQ_CACHE_DIR", str(tmp_path / "deep" / "cache"))
    return tmp_path / "deep" / "cache"


@pytest.fixture
def compilations(monkeypatch):
    """How often LLVM was asked to compile."""
    count = []
    object_of = jit.object_of
    monkeypatch.setattr(jit, "object_of", lambda *a: count.append(1) or object_of(*a))
    return count


def call(text=TEXT, **options):
    program = compile_module(text, "llvm", **options)
    return program.call("f", program.record("S", n=21))


def files(place):
    return sorted(p.name for p in place.iterdir())


def test_the_second_time_nothing_is_compiled(place, compilations):
    assert [call(), call()] == [42.0, 42.0]
    assert len(compilations) == 1
    assert len(files(place)) == 1
    program = compile_module(TEXT, "llvm")
    assert program.call("f", program.record("S", n=1), 5.0) == 5.0
    assert program.call("g") is True


def test_everything_that_matters_is_in_the_key(place, compilations):
    call()
    call(checked=True)
    call(opt=1)
    call(exports=("f",))
    call(TEXT.replace("x * s.n", "s.n * x"))
    assert len(compilations) == len(files(place)) == 5
    call(cached=False)
    assert len(compilations) == 6
    assert len(files(place)) == 5


def test_the_text_of_imported_modules_is_in_the_key(place, monkeypatch):
    text = "from serq.codegen.streams import u01\n"
    elementary = Path(sys.modules["serq.codegen"].__file__).parent / "elementary.py"
    assert elementary.read_text(encoding="utf-8") in sources.texts_of(text)


def test_faults_have_their_places_when_the_program_comes_from_the_cache(place, compilations):
    text = NAMES + "def f(a: I64Array, i: i64) -> i64:\n    return a[i]\n"
    for _ in range(2):
        with pytest.raises(FaultError, match=rf":{NAMES_LINES + 2}:12: in f: index 7 of a, which has 1$"):
            compile_module(text, "llvm", checked=True).call("f", array("q", [1]), 7)
    assert len(compilations) == 1


@pytest.mark.parametrize("damage", [
    lambda b: b"", lambda b: b[: len(b) // 2], lambda b: b + b"x", lambda b: bytes(len(b)),
    lambda b: b[:200] + bytes([b[200] ^ 1]) + b[201:], lambda b: b"#!/bin/sh\n", lambda b: b[:31],
], ids=["empty", "cut", "longer", "zeros", "one bit", "foreign", "head only"])  # fmt: skip
def test_a_damaged_file_is_compiled_anew(place, compilations, damage):
    call()
    (path,) = place.iterdir()
    good = path.read_bytes()
    path.write_bytes(damage(good))
    assert call() == 42.0
    assert len(compilations) == 2
    assert path.read_bytes() == good


def test_a_file_of_another_program_under_this_name_is_not_believed(place, compilations):
    call()
    (first,) = place.iterdir()
    other = TEXT.replace("x * s.n", "x * s.n + 1.0")
    call(other)
    (second,) = set(place.iterdir()) - {first}
    second.write_bytes(first.read_bytes())
    assert call(other) == 43.0


def test_a_file_that_others_can_write_is_not_believed(place, compilations):
    call()
    (path,) = place.iterdir()
    path.chmod(0o666)
    assert call() == 42.0
    assert len(compilations) == 2
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_interface_that_makes_no_sense_is_compiled_anew(place, compilations, monkeypatch):
    call()
    (path,) = place.iterdir()
    entry = cache.read(path.stem)
    cache.write(path.stem, cache.Entry(b"[1, 2]", entry.object_file))
    assert call() == 42.0
    assert len(compilations) == 2


def test_an_object_without_its_functions_is_compiled_anew(place, compilations):
    call()
    (path,) = place.iterdir()
    entry = cache.read(path.stem)
    call(TEXT.replace("def f", "def h").replace("def g", "def f(s: S) -> f64:\n    return 0.0\ndef g"))
    (other,) = set(place.iterdir()) - {path}
    cache.write(path.stem, cache.Entry(entry.interface, cache.read(other.stem).object_file))
    assert call() == 42.0


@pytest.mark.parametrize("blocked", ["file", "no permission", "missing home"])
def test_a_directory_that_cannot_be_used_is_not_used(blocked, tmp_path, monkeypatch, compilations):
    place = tmp_path / "blocked"
    if blocked == "file":
        place.write_text("I am no directory")
    elif blocked == "no permission":
        place.mkdir(mode=0o500)
        if os.geteuid() == 0:
            monkeypatch.setattr(tempfile, "mkstemp", _refuse)
    if blocked == "missing home":
        monkeypatch.delenv("SERQ_CACHE_DIR", raising=False)
        monkeypatch.setattr(cache.Path, "home", _no_home)
    else:
        monkeypatch.setenv("SERQ_CACHE_DIR", str(place))
    assert [call(), call()] == [42.0, 42.0]
    assert len(compilations) == 2


def _refuse(**_options):
    raise PermissionError("not allowed")


def _no_home():
    raise RuntimeError("no home")


def test_a_full_disk_leaves_no_part_behind(place, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache.os, "replace", full)
    assert call() == 42.0
    assert files(place) == []


def test_the_directory_is_the_platforms_own_without_the_variable(monkeypatch, tmp_path):
    monkeypatch.delenv("SERQ_CACHE_DIR")
    monkeypatch.setattr(cache.Path, "home", lambda: tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    expected = {"linux": ".cache/serq", "darwin": "Library/Caches/serq", "win32": "AppData/Local/serq/cache"}
    for platform, relative in expected.items():
        monkeypatch.setattr(cache.sys, "platform", platform)
        assert cache.directory() == tmp_path / relative
    monkeypatch.setattr(cache.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert cache.directory() == tmp_path / "x" / "serq"


def test_old_files_make_room(place, monkeypatch):
    monkeypatch.setattr(cache, "_KEPT", 3)
    keys = [f"{i:040x}" for i in range(5)]
    for age, key in enumerate(keys):
        cache.write(key, cache.Entry(b"{}", b"o"))
        os.utime(place / f"{key}.o", (1000 + age, 1000 + age))
    cache.read(keys[2])
    cache.write("f" * 40, cache.Entry(b"{}", b"o"))
    assert files(place) == [f"{keys[2]}.o", f"{keys[4]}.o", "f" * 40 + ".o"]


def test_processes_that_compile_at_once_do_no_harm(place):
    code = f"""
from serq.codegen import compile_module
program = compile_module({TEXT!r}, "llvm")
print(program.call("f", program.record("S", n=21)))
"""
    run = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert [p.communicate()[0] for p in run] == ["42.0\n"] * 4
    assert len(files(place)) == 1
