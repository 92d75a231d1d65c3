"""Populations that cannot fit are refused before anything is made of them."""

import pytest
from running import program_of

from serq.base.errors import LimitError
from serq.semantics.memory import check_population, memory_of_machine

QUEUE = "stage d : delay; workload { arrive closed(%d); } session { loop { run d (~exp(1)); } } run { horizon 10; }"


def test_the_sessions_of_time_0_have_to_fit() -> None:
    program = program_of(QUEUE % 1000)
    check_population(program, 1000 << 10)
    with pytest.raises(LimitError, match="1000 sessions at time 0 take 1 MiB of memory at least, and 0 MiB are"):
        check_population(program, (1000 << 10) - 1, 1 << 11)
    batch = program_of((QUEUE % 1000).replace("closed", "batch"))
    with pytest.raises(LimitError, match="1000 sessions"):
        check_population(batch, 1000)
    check_population(program_of((QUEUE % 1000).replace("closed", "poisson")), 1000)


def test_a_quarter_of_the_machine_is_theirs_where_nothing_is_said() -> None:
    sessions = memory_of_machine() // 4096
    check_population(program_of(QUEUE % (sessions - 1)), None)
    with pytest.raises(LimitError, match=f"{sessions + 1} sessions"):
        check_population(program_of(QUEUE % (sessions + 1)), None)
