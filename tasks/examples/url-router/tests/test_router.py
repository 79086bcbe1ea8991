import pytest

from router import MethodNotAllowed, NotFound, Pattern, Router


@pytest.fixture
def router():
    router = Router()

    @router.route("/notes")
    def list_notes():
        return "list"

    @router.route("/notes", methods=["POST"])
    def create_note():
        return "created"

    @router.route("/notes/<int:number>", methods=["GET", "PUT"])
    def note(number):
        return f"note {number}"

    @router.route("/notes/<name>")
    def named_note(name):
        return f"note named {name}"

    return router


def test_plain_path(router):
    assert router.handle("GET", "/notes") == "list"


def test_fields_are_converted(router):
    assert router.handle("put", "/notes/12") == "note 12"
    assert router.handle("GET", "/notes/todo") == "note named todo"


def test_second_route_for_the_same_path(router):
    assert router.handle("POST", "/notes") == "created"


def test_allowed_methods_of_all_routes(router):
    with pytest.raises(MethodNotAllowed) as caught:
        router.find("DELETE", "/notes")
    assert caught.value.allowed == ["GET", "HEAD", "POST"]


def test_method_of_a_single_route(router):
    with pytest.raises(MethodNotAllowed) as caught:
        router.find("POST", "/notes/todo")
    assert caught.value.allowed == ["GET", "HEAD"]


def test_unknown_path(router):
    with pytest.raises(NotFound):
        router.find("GET", "/note")


def test_included_routes(router):
    site = Router()
    site.include("/api/", router)
    assert site.handle("HEAD", "/api/notes/3") == "note 3"
    with pytest.raises(NotFound):
        site.find("GET", "/notes/3")


@pytest.mark.parametrize("text", ["notes", "/<float:x>", "/<a>/<a>"])
def test_bad_patterns(text):
    with pytest.raises(ValueError):
        Pattern(text)
