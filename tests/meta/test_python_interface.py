"""Every option of the pipeline can be given by name in Python, with its type."""

from dataclasses import fields
from typing import get_type_hints

import pytest

from serq.api.keywords import CheckKeywords, SimulateKeywords, SolveKeywords
from serq.compare.three_way import CheckOptions
from serq.pipeline import SimulateOptions, SolveOptions

NOT_GIVEN_BY_NAME = {"simulation", "solving", "simulated"}
"""Options of a check that are made of the others, or that are there to test it."""


@pytest.mark.parametrize(("keywords", "options"), [(SimulateKeywords, SimulateOptions), (SolveKeywords, SolveOptions)])
def test_keywords_are_the_fields_of_the_options(keywords: type, options: type) -> None:
    assert set(get_type_hints(keywords)) == {f.name for f in fields(options)}


def test_a_check_takes_both_and_its_own() -> None:
    own = {f.name for f in fields(CheckOptions)} - NOT_GIVEN_BY_NAME
    both = {f.name for kind in (SimulateOptions, SolveOptions) for f in fields(kind)}
    assert set(get_type_hints(CheckKeywords)) == own | both
