from serq.engine.stride import FIRST, Stride


def test_calls_grow_while_they_are_short_and_shrink_where_they_are_long():
    stride = Stride(1000)
    seen = []
    for seconds in (0.0, 0.001, 0.0, 0.0, 0.1, 0.5, 3.0, 0.1):
        seen.append(stride.events)
        stride.took(seconds)
    assert seen == [FIRST, 4 * FIRST, 16 * FIRST, 1000, 1000, 1000, 250, 62]


def test_a_call_is_of_one_event_at_least_and_of_no_more_than_allowed():
    stride = Stride(3)
    assert stride.events == 3
    for _ in range(5):
        stride.took(9.0)
    assert stride.events == 1
    for _ in range(5):
        stride.took(0.0)
    assert stride.events == 3
