import pytest

from accesslog import Hit, Summary, parse_lines, render, summarise


def make_hits(count):
    return [
        Hit(f"10.0.0.{i % 4}", "GET", f"/p{i % 3}", 500 if i % 5 == 0 else 200, i)
        for i in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, 2, 7, 30])
@pytest.mark.parametrize("wrap", [list, tuple, iter, lambda x: (hit for hit in x)])
def test_any_iterable_gives_the_same_summary(count, wrap):
    hits = make_hits(count)
    summary = summarise(wrap(hits))
    assert summary.total == count
    assert summary.errors == (count + 4) // 5
    assert summary.clients == min(count, 4)
    assert summary.mean_millis == pytest.approx((count - 1) / 2 if count else 0)


def test_top_paths_of_a_generator():
    lines = [f"1.1.1.1 GET /{name} 200 5ms" for name in "babcca"]
    lines.append("1.1.1.2 GET /c 502 5ms")
    assert summarise(parse_lines(lines), top=2) == Summary(
        7, 1, 2, 5.0, [("/c", 3), ("/a", 2)]
    )


def test_list_is_not_changed():
    hits = make_hits(6)
    before = list(hits)
    summarise(hits)
    assert hits == before


def test_only_server_errors_count():
    hits = [Hit("a", "GET", "/", status, 1) for status in (200, 301, 404, 499)]
    assert summarise(iter(hits)).errors == 0
    hits.append(Hit("a", "GET", "/", 599, 1))
    assert summarise(iter(hits)).errors == 1


def test_report_of_a_generator():
    lines = ["1.1.1.1 GET /a 200 10ms", "1.1.1.2 GET /a 500 20ms", "junk"]
    assert render(summarise(parse_lines(lines))) == (
        "2 hits from 2 clients\n1 errors (50.0%)\n15 ms on average\n     2 /a"
    )


def test_parser_still_skips_junk():
    assert list(parse_lines(["", "junk", "1.1.1.1 GET /a 20 1ms"])) == []
