import unittest

from league.results import parse_results
from league.table import build_table, format_table


def order(text):
    return [row.team for row in build_table(parse_results(text))]


class ParseTest(unittest.TestCase):
    def test_reads_names_with_spaces(self):
        (match,) = parse_results("North End  2 : 1  City Boys")
        self.assertEqual(match.home, "North End")
        self.assertEqual(match.away, "City Boys")

    def test_skips_comments(self):
        self.assertEqual(list(parse_results("# round 1\n\n")), [])

    def test_rejects_other_lines(self):
        with self.assertRaisesRegex(ValueError, "line 2"):
            list(parse_results("A 1:0 B\npostponed"))


class TableTest(unittest.TestCase):
    def test_points_count_first(self):
        self.assertEqual(order("Ash 1:0 Elm\nOak 2:2 Fir")[0], "Ash")

    def test_goal_difference_breaks_ties(self):
        self.assertEqual(order("Ash 1:0 Elm\nOak 4:1 Fir")[:2], ["Oak", "Ash"])

    def test_goals_scored_break_ties(self):
        self.assertEqual(order("Ash 1:0 Elm\nOak 3:2 Fir")[:2], ["Oak", "Ash"])

    def test_level_teams_are_alphabetical(self):
        self.assertEqual(
            order("Oak 1:1 Fir\nElm 1:1 Ash"), ["Ash", "Elm", "Fir", "Oak"]
        )

    def test_format(self):
        rows = build_table(parse_results("Ash 2:0 Elm"))
        self.assertEqual(
            format_table(rows),
            " 1. Ash  1    2:0   3\n 2. Elm  1    0:2   0",
        )


if __name__ == "__main__":
    unittest.main()
