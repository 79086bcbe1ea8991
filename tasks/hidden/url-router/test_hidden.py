import pytest

from router import MethodNotAllowed, NotFound, Router


def build(*routes):
    router = Router()
    for text, methods, name in routes:
        router.add(text, lambda _name=name, **fields: (_name, fields), methods)
    return router


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_one_route_for_each_method(method):
    router = build(*[("/item", [m], m) for m in ("DELETE", "PUT", "POST", "GET")])
    assert router.handle(method, "/item") == (method, {})


def test_different_patterns_for_the_same_path():
    router = build(
        ("/u/<int:id>", ["GET"], "get"),
        ("/u/<name>", ["DELETE"], "delete"),
        ("/<path:rest>", ["POST"], "any"),
    )
    assert router.handle("GET", "/u/7") == ("get", {"id": 7})
    assert router.handle("DELETE", "/u/7") == ("delete", {"name": "7"})
    assert router.handle("POST", "/u/7") == ("any", {"rest": "u/7"})


@pytest.mark.parametrize(
    "method, path, allowed",
    [
        ("PATCH", "/a", ["DELETE", "GET", "HEAD", "POST"]),
        ("GET", "/b", ["POST", "PUT"]),
        ("PUT", "/c/1", ["DELETE", "GET", "HEAD"]),
        ("POST", "/c/x", ["DELETE"]),
        ("POST", "/c/1", ["DELETE", "GET", "HEAD"]),
    ],
)
def test_allowed_methods(method, path, allowed):
    router = build(
        ("/a", ["GET"], "a1"),
        ("/b", ["PUT"], "b1"),
        ("/a", ["POST", "DELETE"], "a2"),
        ("/b", ["POST"], "b2"),
        ("/c/<int:n>", ["GET"], "c1"),
        ("/c/<s>", ["DELETE"], "c2"),
    )
    with pytest.raises(MethodNotAllowed) as caught:
        router.find(method, path)
    assert caught.value.allowed == allowed
    assert caught.value.path == path


def test_first_matching_route_wins():
    router = build(("/x", ["GET", "PUT"], "first"), ("/<any>", ["GET"], "second"))
    assert router.handle("GET", "/x") == ("first", {})
    assert router.handle("HEAD", "/x") == ("first", {})
    assert router.handle("GET", "/y") == ("second", {"any": "y"})


def test_later_router_is_not_hidden_by_an_earlier_one():
    inner = build(("/x", ["POST"], "inner"))
    router = build(("/in/<name>", ["GET"], "outer"))
    router.include("/in", inner)
    assert router.handle("post", "/in/x") == ("inner", {})
    assert router.handle("get", "/in/x") == ("outer", {"name": "x"})


def test_unknown_paths():
    router = build(("/x", ["POST"], "x"), ("/y/<int:n>", ["GET"], "y"))
    for method, path in [("POST", "/"), ("GET", "/z"), ("GET", "/y/a"), ("GET", "/x/")]:
        with pytest.raises(NotFound):
            router.find(method, path)
    with pytest.raises(NotFound):
        Router().find("GET", "/")


def test_requests_do_not_influence_each_other():
    router = build(("/x", ["GET"], "x"), ("/y", ["POST"], "y"))
    for path, allowed in [
        ("/x", ["GET", "HEAD"]),
        ("/y", ["POST"]),
        ("/x", ["GET", "HEAD"]),
    ]:
        with pytest.raises(MethodNotAllowed) as caught:
            router.find("PUT", path)
        assert caught.value.allowed == allowed
    assert router.handle("GET", "/x") == ("x", {})
