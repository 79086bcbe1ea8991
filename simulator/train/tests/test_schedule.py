import pytest

from schedule import Budget, rate_factor


def test_the_rate_rises_stays_and_falls_to_nothing():
    factors = [rate_factor(step / 100, step, 10, 0.4) for step in range(101)]
    assert factors[0] == pytest.approx(0.1)
    assert factors[10:60] == [1.0] * 50
    assert factors[80] == pytest.approx(0.5)
    assert factors[100] == 0.0


def test_a_longer_budget_moves_the_decay():
    assert rate_factor(Budget(seconds=100).progress(80, 0, 0), 500, 10, 0.4) == pytest.approx(0.5)
    assert rate_factor(Budget(seconds=400).progress(80, 0, 0), 500, 10, 0.4) == 1.0


def test_the_limit_that_is_nearest_counts():
    assert Budget(seconds=100, tokens=1000).progress(10, 500, 3) == 0.5
    assert Budget(steps=10).progress(1e9, 10**9, 20) == 1.0
