import pytest

from throttle import Throttle


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def advance(self, seconds):
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


def test_burst_up_to_the_capacity(clock):
    throttle = Throttle(rate=1, capacity=3, clock=clock)
    assert [throttle.allow("a") for _ in range(4)] == [True, True, True, False]


def test_clients_do_not_share_tokens(clock):
    throttle = Throttle(rate=1, capacity=1, clock=clock)
    assert throttle.allow("a")
    assert throttle.allow("b")
    assert not throttle.allow("a")


def test_tokens_come_back(clock):
    throttle = Throttle(rate=0.5, capacity=1, clock=clock)
    assert throttle.allow("a")
    clock.advance(2)
    assert throttle.allow("a")


def test_steady_traffic_is_held_to_the_rate(clock):
    throttle = Throttle(rate=1, capacity=2, clock=clock)
    allowed = 0
    for _ in range(40):
        clock.advance(0.25)
        allowed += throttle.allow("a")
    assert allowed == 11


def test_bucket_never_overflows(clock):
    throttle = Throttle(rate=10, capacity=2, clock=clock)
    clock.advance(3600)
    assert [throttle.allow("a") for _ in range(3)] == [True, True, False]


def test_retry_after(clock):
    throttle = Throttle(rate=2, capacity=4, clock=clock)
    assert throttle.retry_after("a", cost=4) == 0
    assert throttle.allow("a", cost=4)
    assert throttle.retry_after("a", cost=3) == 1.5


def test_forget_idle(clock):
    throttle = Throttle(rate=1, capacity=5, clock=clock)
    throttle.allow("a", cost=1)
    throttle.allow("b", cost=4)
    clock.advance(2)
    assert throttle.forget_idle() == 1


def test_impossible_cost(clock):
    with pytest.raises(ValueError):
        Throttle(rate=1, capacity=5, clock=clock).allow("a", cost=6)
