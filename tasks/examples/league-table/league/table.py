"""Building the table from match results.

Teams are ranked by points, then goal difference, then goals scored. Teams
that are level on all three are listed alphabetically.
"""

from dataclasses import dataclass

WIN_POINTS = 3
DRAW_POINTS = 1


@dataclass
class Row:
    """The record of one team."""

    team: str
    won: int = 0
    drawn: int = 0
    lost: int = 0
    goals_for: int = 0
    goals_against: int = 0

    @property
    def played(self):
        return self.won + self.drawn + self.lost

    @property
    def points(self):
        return self.won * WIN_POINTS + self.drawn * DRAW_POINTS

    @property
    def goal_difference(self):
        return self.goals_for - self.goals_against

    def add(self, scored, conceded):
        """Enter one match from this team's point of view."""
        self.goals_for += scored
        self.goals_against += conceded
        if scored > conceded:
            self.won += 1
        elif scored == conceded:
            self.drawn += 1
        else:
            self.lost += 1


def build_table(matches):
    """Return the rows of the table, best team first."""
    rows = {}
    for match in matches:
        home = rows.setdefault(match.home, Row(match.home))
        away = rows.setdefault(match.away, Row(match.away))
        home.add(match.home_goals, match.away_goals)
        away.add(match.away_goals, match.home_goals)
    return sorted(rows.values(), key=_rank)


def format_table(rows):
    """Lay the table out as text, one numbered line per team."""
    width = max((len(row.team) for row in rows), default=0)
    lines = []
    for place, row in enumerate(rows, start=1):
        goals = f"{row.goals_for}:{row.goals_against}"
        lines.append(
            f"{place:>2}. {row.team:<{width}} {row.played:>2} {goals:>6} {row.points:>3}"
        )
    return "\n".join(lines)


def _rank(row):
    return (-row.points, -row.goal_difference, row.goals_for, row.team)
