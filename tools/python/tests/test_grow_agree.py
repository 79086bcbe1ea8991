"""Expressions that fit, told apart by states that were not seen."""

import ndbg_grow_agree as agree


class Row:
    def __init__(self, **state):
        self.state = state


def test_what_many_say_goes_before_what_one_says_for_less():
    rows = [Row(held=10, reserved=7, wanted=4), Row(held=10, reserved=0, wanted=7)]
    found = [
        (3, "reserved > 1"),
        (4, "wanted > held - reserved"),
        (4, "held - reserved < wanted"),
        (4, "reserved + wanted > held"),
    ]
    order, kinds = agree.voted(found, rows)
    assert kinds == 2
    assert order[-1] == (3, "reserved > 1")
    assert sorted(order) == sorted(found)


def test_one_alone_and_what_cannot_be_evaluated_stay():
    assert agree.voted([(1, "a")], [Row(a=1)]) == ([(1, "a")], 1)
    found = [(1, "f(a)"), (2, "g(a)")]
    assert agree.voted(found, [Row(a=1)]) == (found, 2)
