"""Studies from Python."""

import json
from pathlib import Path

import pytest
from studies import QUEUE

import serq

NUMBER = "stage.svc.number"


@pytest.fixture(scope="module")
def answer():
    return serq.study(serq.loads(QUEUE), {"N": range(1, 4)}, methods=("exact", "closed"))


def test_a_study_of_a_model(answer) -> None:
    assert answer.agrees
    assert answer.sound
    assert answer.curve(NUMBER)[0] == (1.0, pytest.approx(1 / 3))
    assert [p.values["N"] for p in answer.points] == [1, 2, 3]


def test_it_is_data(answer) -> None:
    data = answer.to_dict()
    assert data["schema"] == "serq.study/1"
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    frame = answer.to_frame()
    assert set(frame["N"]) == {1, 2, 3}
    assert "program: all methods agree" in answer._repr_html_()


def test_policies_and_options(tmp_path: Path) -> None:
    model = serq.loads(QUEUE)
    options = {"methods": ("closed",), "measures": (NUMBER,), "resume": tmp_path / "d"}
    answer = serq.study(model, {"N": [2]}, {"slow": model.having(mu=0.5)}, **options)
    (contrast,) = answer.result.contrasts
    assert contrast.row(NUMBER).closed.value > 0
    assert serq.study(model, {"N": [2]}, {"slow": model.having(mu=0.5)}, **options).result.reused == 2


def test_what_is_no_option() -> None:
    with pytest.raises(serq.SerqError, match="there is no option 'method_s'"):
        serq.study(serq.loads(QUEUE), {"N": [2]}, method_s=("closed",))
