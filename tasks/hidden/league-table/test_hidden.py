import pytest

from league.results import Match, parse_results
from league.table import Row, build_table


def order(*results):
    return [row.team for row in build_table(parse_results("\n".join(results)))]


@pytest.mark.parametrize(
    "results, expected",
    [
        (["A 0:0 B", "C 5:5 D"], ["C", "D", "A", "B"]),
        (["A 0:0 B", "C 1:1 D", "E 2:2 F"], ["E", "F", "C", "D", "A", "B"]),
        (["Zeta 3:1 A", "B 2:0 C"], ["Zeta", "B", "A", "C"]),
        (["A 10:9 B", "C 2:1 D"], ["A", "C", "B", "D"]),
        (["C 2:1 D", "A 10:9 B"], ["A", "C", "B", "D"]),
    ],
)
def test_more_goals_rank_higher_when_otherwise_level(results, expected):
    assert order(*results) == expected


def test_goal_difference_before_goals_scored():
    assert order("A 2:0 B", "C 5:4 D")[:2] == ["A", "C"]


def test_points_before_goals_scored():
    assert order("A 1:0 B", "C 6:6 D")[0] == "A"


def test_negative_difference_is_worse():
    assert order("A 5:0 B", "C 1:0 D") == ["A", "C", "D", "B"]


def test_fully_level_teams_are_alphabetical():
    assert order("Delta 2:2 Alpha", "Gamma 2:2 Beta") == [
        "Alpha",
        "Beta",
        "Delta",
        "Gamma",
    ]


def test_rows_add_up_over_a_season():
    rows = build_table(
        [Match("A", "B", 2, 0), Match("B", "A", 3, 1), Match("A", "C", 0, 0)]
    )
    assert rows == [
        Row("A", won=1, drawn=1, lost=1, goals_for=3, goals_against=3),
        Row("B", won=1, drawn=0, lost=1, goals_for=3, goals_against=3),
        Row("C", won=0, drawn=1, lost=0, goals_for=0, goals_against=0),
    ]


def test_empty_table():
    assert build_table([]) == []
