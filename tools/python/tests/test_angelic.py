"""Angelic values in the warm runner: forced visits, distinct values, synthesised expressions."""

import os

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

SHOP = """
LIMIT = 100


def price(amount, member):
    if __ndbg_at__(0, (amount > 50)):
        return __ndbg_at__(1, (amount - 5))
    return __ndbg_at__(2, (amount))
"""
MUST = ["test_shop.py::test_member"]
KEEP = ["test_shop.py::test_other[10-10]", "test_shop.py::test_other[60-55]"]


@pytest.fixture
def shop(project):
    project.write(
        "shop.py",
        """
        LIMIT = 100


        def price(amount, member):
            if amount > 50:
                return amount - 5
            return amount
        """,
    )
    project.write(
        "test_shop.py",
        """
        import pytest
        from shop import price

        def test_member():
            assert price(20, True) == 15

        @pytest.mark.parametrize("amount, due", [(10, 10), (60, 55)])
        def test_other(amount, due):
            assert price(amount, False) == due
        """,
    )
    return project


def marked(project):
    text = (project.root / "shop.py").read_text()
    return project.patch("shop.py", text, SHOP.lstrip("\n"))


def ask(server, project, **probe):
    answer = server.try_out(marked(project), must=MUST, keep=KEEP, probe=probe)
    assert answer["status"] == "done", answer
    return answer


def test_a_survey_counts_visits_and_shows_values(shop):
    with shop.serve() as server:
        seen = ask(server, shop, mode="survey")["probe"]["seen"]
    assert [0, MUST[0], ["False"]] in seen
    assert [2, MUST[0], ["20"]] in seen


def test_a_forced_condition_and_the_conditions_that_explain_it(shop):
    force = [{"place": 0, "test": MUST[0], "visits": [0], "value": "not __ndbg_recorded__"}]
    with shop.serve() as server:
        forced = ask(server, shop, mode="force", force=force)
        assert [row[1] for row in forced["results"]] == ["passed"] * 3
        found = ask(
            server,
            shop,
            mode="synthesize",
            place=0,
            shape="condition",
            own="amount > 50",
            force=force,
        )["probe"]
    assert "amount > 50 or member" in [text for _, text in found["found"]], found
    assert found["examples"][0]["recorded"] == "False"


def test_distinct_values_and_the_expressions_that_give_one_of_them(shop):
    with shop.serve() as server:
        values = ask(
            server,
            shop,
            mode="values",
            place=2,
            terms=["amount - 5"],
            constants=[["5", 2]],
            count=40,
        )["probe"]
        assert "amount - 5" in [text for _, text in values["found"]]
        force = [{"place": 2, "value": "15", "test": MUST[0]}]
        found = ask(
            server,
            shop,
            mode="synthesize",
            place=2,
            force=force,
            terms=["amount - 5"],
            constants=[["5", 2]],
        )["probe"]
    # The other test passes `member` as False and gets the amount itself.
    assert "amount - 5 * member" not in [text for _, text in found["found"]]
    assert found["states"] == 2


def test_an_expression_keeps_all_but_one_part(project):
    project.write(
        "dates.py",
        """
        def add(year, month, months):
            return __ndbg_at__(0, (year + (month + months) // 12)), (month + months) % 12 or 12
        """,
    )
    project.write(
        "test_dates.py",
        """
        import builtins
        import pytest

        builtins.__ndbg_at__ = lambda number, value: value

        def test_december():
            from dates import add
            assert add(2020, 9, 3) == (2020, 12)

        @pytest.mark.parametrize("months, due", [(1, (2020, 10)), (4, (2021, 1)), (16, (2022, 1))])
        def test_others(months, due):
            from dates import add
            assert add(2020, 9, months) == due
        """,
    )
    must = ["test_dates.py::test_december"]
    with project.serve() as server:
        keep = [one for one in server.ready["ids"] if one not in must]
        probe = {
            "mode": "synthesize",
            "place": 0,
            "own": "year + (month + months) // 12",
            "force": [{"place": 0, "value": "2020", "test": must[0]}],
            "terms": ["month + months", "(month + months) // 12"],
            "constants": [["12", 2], ["0", 2], ["1", 2]],
            "cost": 9,
            "seconds": 1,
        }
        answer = server.try_out(must=must, keep=keep, probe=probe)
    found = [text for _, text in answer["probe"]["found"]]
    assert "year + (month + months - 1) // 12" in found, answer
