import pytest

from backoff import Policy, delay_after, total_wait
from scheduler import Scheduler


class Flaky:
    """Fails the given number of times before it works."""

    def __init__(self, failures):
        self.failures = failures

    def __call__(self):
        if self.failures:
            self.failures -= 1
            raise RuntimeError("not yet")


@pytest.mark.parametrize("attempt, seconds", [(1, 2), (2, 6), (3, 18), (4, 50)])
def test_delay_grows_up_to_the_limit(attempt, seconds):
    assert delay_after(attempt, 2, 3, 50) == seconds


def test_total_wait():
    assert total_wait(Policy(base=1, factor=2, max_attempts=4)) == 7


def test_successful_job_runs_once():
    scheduler = Scheduler()
    scheduler.add("mail", Flaky(0), at=10)
    assert scheduler.run_due(now=9) == 0
    assert scheduler.run_due(now=10) == 1
    assert scheduler.finished == ["mail"]
    assert scheduler.next_due() is None


def test_first_retry_comes_after_the_base_delay():
    scheduler = Scheduler(Policy(base=1, factor=2))
    scheduler.add("mail", Flaky(1))
    scheduler.run_due(now=0)
    assert scheduler.next_due() == 1


def test_waits_follow_the_policy():
    scheduler = Scheduler(Policy(base=5, factor=2))
    scheduler.add("mail", Flaky(3))
    due = []
    while scheduler.next_due() is not None:
        due.append(scheduler.next_due())
        scheduler.run_due(now=due[-1])
    assert due == [0, 5, 15, 35]


def test_job_is_given_up_after_the_last_attempt():
    scheduler = Scheduler(Policy(base=1, factor=1, max_attempts=2))
    job = scheduler.add("mail", Flaky(9))
    scheduler.run_due(now=0)
    scheduler.run_due(now=1)
    assert scheduler.dead == ["mail"]
    assert job.attempts == 2
    assert str(job.last_error) == "not yet"


def test_jobs_due_together_run_in_order():
    scheduler = Scheduler()
    scheduler.add("b", Flaky(0))
    scheduler.add("a", Flaky(0))
    assert scheduler.run_due(now=0) == 2
    assert scheduler.finished == ["b", "a"]
