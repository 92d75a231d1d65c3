"""Facts about the flow of a session."""

from running import program_of

from serq.ir.flow import observes_of_time

TEXT = """stage svc : fifo;
workload { arrive closed(2); init { set start = now; } }
session { loop {
    set begin = now;
    run svc (~exp(1));
    set stay = now - begin;
    set late = stay > 2;
    observe direct = now - begin;
    observe through = stay / 2;
    observe by_init = now - start;
    observe chosen = late ? stay : 0;
    observe truth = stay > 2;
    observe counted = late ? 1 : 0;
    observe number = busy(svc);
} }
run { horizon 10; }
"""


def test_what_is_computed_from_the_clock_is_a_time() -> None:
    assert observes_of_time(program_of(TEXT)) == {"direct", "through", "by_init", "chosen"}
