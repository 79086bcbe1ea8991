from accesslog import Hit, Summary, parse_lines, render, summarise

LOG = """\
10.0.0.1 GET /index.html 200 20ms
10.0.0.2 GET /index.html?lang=en 200 40ms
10.0.0.1 POST /cart 500 180ms
-- rotated --
10.0.0.3 GET /about 404 4ms
"""

HITS = [
    Hit("10.0.0.1", "GET", "/a", 200, 10),
    Hit("10.0.0.1", "GET", "/b", 503, 30),
]


def test_parses_well_formed_lines():
    hits = list(parse_lines(LOG.splitlines()))
    assert len(hits) == 4
    assert hits[2] == Hit("10.0.0.1", "POST", "/cart", 500, 180)


def test_query_is_dropped():
    hits = list(parse_lines(["1.2.3.4 GET /x?y=/z 200 1ms"]))
    assert hits[0].path == "/x"


def test_summary_of_a_list():
    assert summarise(HITS) == Summary(2, 1, 1, 20.0, [("/a", 1), ("/b", 1)])


def test_summary_of_a_log():
    summary = summarise(parse_lines(LOG.splitlines()))
    assert summary.total == 4
    assert summary.errors == 1
    assert summary.clients == 3
    assert summary.mean_millis == 61


def test_number_of_top_paths():
    assert summarise(HITS * 2, top=1).top_paths == [("/a", 2)]


def test_summary_of_nothing():
    assert summarise([]) == Summary(0, 0, 0, 0.0, [])


def test_render():
    assert render(summarise(HITS, top=1)).splitlines() == [
        "2 hits from 1 clients",
        "1 errors (50.0%)",
        "20 ms on average",
        "     1 /a",
    ]
