"""Classes that become dataclasses when they are first used."""

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, field, fields, replace
from threading import Barrier

import pytest

from serq.base.frozen import Frozen, FrozenByName, complete
from serq.ir.expr import Num


class Point(Frozen):
    x: int
    y: int = 0
    name: str = field(default="", compare=False, kw_only=True)


class Named(FrozenByName):
    first: int
    more: tuple[int, ...] = ()


class Longer(Named):
    last: int


def test_instances_are_those_of_a_frozen_dataclass():
    assert Point(1) == Point(1, 0, name="p") != Point(1, 2)
    assert hash(Point(1)) == hash(Point(1, name="p"))
    assert repr(Point(1, 2)) == "Point(x=1, y=2, name='')"
    assert replace(Point(1), y=4) == Point(1, 4)
    with pytest.raises(FrozenInstanceError):
        Point(1).x = 2  # type: ignore[misc]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]
    match Point(3, 4):
        case Point(x, y):
            assert (x, y) == (3, 4)


def test_fields_are_given_by_name_and_those_of_the_base_come_first():
    assert [f.name for f in fields(Longer(first=1, last=2))] == ["first", "more", "last"]
    assert repr(Named(first=1)).endswith("Named(first=1, more=())")
    with pytest.raises(TypeError):
        Longer(1, 2)  # type: ignore[call-arg, misc]


def test_a_class_that_was_used_before_its_heirs_were_made_leaves_them_to_themselves():
    class Base(FrozenByName):
        a: int

    assert Base(a=1).a == 1

    class Heir(Base):
        b: int

    assert repr(Heir(a=1, b=2)).endswith("Heir(a=1, b=2)")
    assert not hasattr(Base(a=1), "b")


def test_nothing_is_made_before_the_first_instance():
    class Unused(Frozen):
        x: int

    assert "__init__" not in vars(Unused)
    complete(Unused)
    assert [f.name for f in fields(Unused)] == ["x"]


def test_a_pickle_is_read_where_the_class_was_not_yet_used():
    data = pickle.dumps(Num(3))
    code = "import pickle, sys; x = pickle.loads(sys.stdin.buffer.read()); print(x == type(x)(3), x)"
    done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True)
    assert done.stdout.decode().strip() == f"True {Num(3)!r}"


def test_threads_that_make_the_first_instance_at_once():
    for _ in range(20):

        class Shared(Frozen):
            x: int

        at_once = Barrier(4)

        def make(x, kind=Shared, at_once=at_once):
            at_once.wait()
            return kind(x)

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(make, range(4))) == [Shared(x) for x in range(4)]
