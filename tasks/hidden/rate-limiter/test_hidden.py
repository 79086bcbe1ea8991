import pytest

from throttle import Bucket, Throttle


class Clock:
    def __init__(self, now=0.0):
        self.now = now

    def __call__(self):
        return self.now


@pytest.mark.parametrize("rate, capacity", [(1, 1), (2, 5), (0.5, 3), (4, 10)])
@pytest.mark.parametrize("start", [0.0, 1000.0])
def test_long_run_rate(rate, capacity, start):
    clock = Clock(start)
    throttle = Throttle(rate, capacity, clock)
    allowed = sum(throttle.allow("x") for _ in range(capacity * 2))
    assert allowed == capacity
    for step in range(1, 801):
        clock.now = start + step / 8
        allowed += throttle.allow("x")
    assert allowed == min(capacity + int(100 * rate), capacity + 800)


def test_tokens_come_in_only_once():
    clock = Clock()
    throttle = Throttle(1, 2, clock)
    assert throttle.allow("x", cost=2)
    clock.now = 1.0
    assert throttle.allow("x")
    assert not throttle.allow("x")
    assert not throttle.allow("x")
    clock.now = 2.0
    assert throttle.allow("x")
    assert not throttle.allow("x")


def test_asking_for_the_wait_changes_nothing():
    clock = Clock()
    throttle = Throttle(1, 10, clock)
    throttle.allow("x", cost=10)
    clock.now = 4.0
    assert [throttle.retry_after("x", cost=6) for _ in range(3)] == [2.0, 2.0, 2.0]
    clock.now = 5.0
    assert throttle.retry_after("x", cost=6) == 1.0
    clock.now = 6.0
    assert throttle.allow("x", cost=6)
    assert throttle.retry_after("x") == 1.0


def test_refused_requests_do_not_lose_tokens():
    clock = Clock()
    throttle = Throttle(1, 4, clock)
    throttle.allow("x", cost=4)
    for quarter in range(1, 16):
        clock.now = quarter / 4
        assert not throttle.allow("x", cost=4)
    clock.now = 4.0
    assert throttle.allow("x", cost=4)


def test_repeated_refills_of_a_bucket():
    bucket = Bucket(rate=2, capacity=100, now=10)
    assert bucket.take(100, now=10)
    for _ in range(3):
        bucket.refill(12)
        assert bucket.tokens == 4
    bucket.refill(15)
    assert bucket.tokens == 10


def test_forget_idle_repeatedly():
    clock = Clock()
    throttle = Throttle(1, 5, clock)
    throttle.allow("x", cost=5)
    clock.now = 2.0
    assert [throttle.forget_idle() for _ in range(4)] == [0, 0, 0, 0]
    clock.now = 5.0
    assert throttle.forget_idle() == 1
    assert throttle.forget_idle() == 0


def test_capacity_is_the_most():
    bucket = Bucket(rate=3, capacity=6, now=0)
    bucket.take(5, now=0)
    bucket.refill(50)
    assert bucket.tokens == 6
    assert not bucket.take(7, now=60)
    assert bucket.take(6, now=60)
