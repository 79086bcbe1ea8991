"""Which of several expressions that fit say the same, beyond the states that were seen.

Chance has many forms and what is meant has few: expressions that agree on states near those that
were seen stand for one another, and what many of them say is likelier than what one says alone.

PYTEST_DONT_REWRITE: this is no test code.
"""

import math
import random

import ndbg_pure as pure
from ndbg_grow_part import Exchange
from ndbg_pure import Refused

BASES = 8
NEAR = 10


def voted(found, rows):
    """(cost, text), those first that many agree with for what they cost; and how many kinds."""
    if len(found) < 2 or not rows:
        return found, len(found)
    states = _near(rows)
    kinds = {}
    for cost, text in found:
        kinds.setdefault(_said(text, states), []).append((cost, text))
    weighed = []
    for agreeing in kinds.values():
        bonus = math.log2(len(agreeing))
        weighed.extend((cost - bonus, cost, text) for cost, text in agreeing)
    weighed.sort(key=lambda one: (one[0], one[1], len(one[2]), one[2]))
    return [(cost, text) for _, cost, text in weighed], len(kinds)


def _near(rows):
    """States that differ from those that were seen in a few plain values."""
    chance = random.Random(0)
    states = []
    for row in rows[:BASES]:
        base = {text: one for text, one in row.state.items() if _is_path(text)}
        plain = sorted(text for text, one in base.items() if _is_plain(one))
        if not plain:
            continue
        for _ in range(NEAR):
            state = dict(base)
            for text in chance.sample(plain, min(len(plain), chance.randint(1, 3))):
                others = [one for one in base.values() if type(one) is type(base[text])]
                state[text] = _other(base[text], others, chance)
            states.append(state)
    return states


def _is_path(text):
    return text.replace(".", "").isidentifier()


def _is_plain(value):
    return type(value) in (int, float, bool, str)


def _other(value, others, chance):
    if type(value) is bool:
        return not value
    if type(value) is str:
        return chance.choice([value + "x", value[:-1], "", *others])
    return chance.choice([value + 1, value - 1, 0 * value, 2 * value + 1, *others])


def _said(text, states):
    """What an expression gives in each state, hashable."""
    exchange = Exchange(text, states, None)
    said = []
    for state in states:
        try:
            said.append(pure.key(exchange.value(state)))
        except (Refused, RecursionError, TypeError):
            said.append(Refused)
    # What cannot be evaluated at all agrees with nothing.
    if all(one is Refused for one in said):
        return ("alone", text)
    return tuple(said)
