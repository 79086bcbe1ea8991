import pytest

from contacts import Contact, ContactBook


def test_new_contacts_have_no_tags():
    first = Contact("A", "a@x.org")
    first.add_tag("one")
    first.add_tag("two")
    second = Contact("B", "b@x.org")
    assert second.tags == []
    assert first.tags == ["one", "two"]


@pytest.mark.parametrize("count", [2, 3, 10])
def test_contacts_keep_their_own_tags(count):
    people = [Contact(f"P{i}", f"p{i}@x.org") for i in range(count)]
    for number, person in enumerate(people):
        person.add_tag(f"tag{number}")
    assert [p.tags for p in people] == [[f"tag{i}"] for i in range(count)]


def test_book_contacts_keep_their_own_tags():
    book = ContactBook()
    book.add("Ann Lee", "ann@x.org").add_tag("chess")
    book.add("Bob Ray", "bob@x.org")
    book.add("Cy Poe", "cy@x.org").add_tag("golf")
    assert [c.tags for c in book] == [["chess"], ["golf"], []]
    assert [c.name for c in book.tagged("chess")] == ["Ann Lee"]


def test_removing_a_tag_leaves_others_alone():
    first = Contact("A", "a@x.org")
    second = Contact("B", "b@x.org")
    first.add_tag("red")
    second.add_tag("red")
    first.remove_tag("red")
    assert first.tags == []
    assert second.tags == ["red"]


def test_given_tags_are_kept():
    contact = Contact("A", "a@x.org", ["x", "y"])
    contact.add_tag("z")
    assert contact.tags == ["x", "y", "z"]
    assert Contact("B", "b@x.org", tags=["q"]).tags == ["q"]


def test_loaded_lines():
    book = ContactBook()
    book.load_lines(["A B <a@x.org> #p #q", "C D <c@x.org>", "E F <e@x.org> #q"])
    assert {c.name: c.tags for c in book} == {
        "A B": ["p", "q"],
        "C D": [],
        "E F": ["q"],
    }
    assert [c.name for c in book.tagged("Q")] == ["A B", "E F"]


def test_repr():
    assert repr(Contact("A", "a@x.org", ["t"])) == "Contact('A', 'a@x.org', tags=['t'])"
