import pytest

from backoff import Policy, delay_after, total_wait
from scheduler import Scheduler


def due_times(policy, start=0):
    def fail():
        raise OSError("down")

    scheduler = Scheduler(policy)
    scheduler.add("job", fail, at=start)
    due = []
    while scheduler.next_due() is not None:
        due.append(scheduler.next_due())
        scheduler.run_due(now=due[-1])
    assert scheduler.dead == ["job"]
    return due


@pytest.mark.parametrize(
    "policy, expected",
    [
        (Policy(base=2, factor=3, limit=1000, max_attempts=4), [0, 2, 8, 26]),
        (Policy(base=10, factor=1, max_attempts=4), [0, 10, 20, 30]),
        (Policy(base=0.5, factor=2, max_attempts=4), [0, 0.5, 1.5, 3.5]),
        (Policy(base=4, factor=10, limit=50, max_attempts=4), [0, 4, 44, 94]),
        (Policy(base=7, factor=2, max_attempts=1), [0]),
        (Policy(max_attempts=4), [0, 1, 3, 7]),
    ],
)
def test_due_times(policy, expected):
    assert due_times(policy) == expected


def test_waits_count_from_the_time_of_the_attempt():
    assert due_times(Policy(base=3, factor=2, max_attempts=3), start=100) == [
        100,
        103,
        109,
    ]


@pytest.mark.parametrize("base", [1, 2, 3, 8])
def test_whole_wait_agrees_with_total_wait(base):
    policy = Policy(base=base, factor=2, limit=20, max_attempts=6)
    assert due_times(policy)[-1] == total_wait(policy)


def test_delay_after_keeps_its_arguments():
    assert delay_after(3, 1, 2, 300) == 4
    assert delay_after(attempt=2, base=5, factor=4, limit=12) == 12
    with pytest.raises(ValueError):
        delay_after(0, 1, 2, 300)


def test_two_jobs_have_separate_waits():
    def fail():
        raise OSError("down")

    scheduler = Scheduler(Policy(base=3, factor=2, max_attempts=3))
    scheduler.add("one", fail, at=0)
    scheduler.add("two", fail, at=1)
    seen = []
    while scheduler.next_due() is not None:
        seen.append(scheduler.next_due())
        scheduler.run_due(now=seen[-1])
    assert seen == [0, 1, 3, 4, 9, 10]
    assert scheduler.dead == ["one", "two"]
