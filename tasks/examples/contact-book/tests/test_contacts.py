import pytest

from contacts import Contact, ContactBook


def test_address_is_normalised():
    contact = Contact(" Ann Lee ", "Ann@Example.org")
    assert (contact.name, contact.email) == ("Ann Lee", "ann@example.org")


def test_bad_address():
    with pytest.raises(ValueError):
        Contact("Ann", "ann.example.org")


def test_tags_are_unique():
    contact = Contact("Ann", "ann@x.org", ["work"])
    contact.add_tag("Work ")
    contact.add_tag("chess")
    assert contact.tags == ["work", "chess"]


def test_remove_tag():
    contact = Contact("Ann", "ann@x.org", ["work", "chess"])
    contact.remove_tag("work")
    contact.remove_tag("golf")
    assert contact.tags == ["chess"]


def test_sorted_by_family_name():
    book = ContactBook()
    book.add("Zoe Adams", "zoe@x.org")
    book.add("Ann Lee", "ann@x.org")
    book.add("Cher", "cher@x.org")
    assert [c.name for c in book] == ["Zoe Adams", "Cher", "Ann Lee"]


def test_tagged_contacts():
    book = ContactBook()
    book.load_lines(["Ann Lee <ann@x.org> #work #chess", "Bob Ray <bob@x.org> #golf"])
    assert [c.name for c in book.tagged("golf")] == ["Bob Ray"]


def test_find_by_name_or_address():
    book = ContactBook()
    book.add("Ann Lee", "ann@x.org")
    book.add("Bob Ray", "bob@annex.org")
    assert [c.name for c in book.find("ANN")] == ["Ann Lee", "Bob Ray"]


def test_duplicate_address():
    book = ContactBook()
    book.add("Ann Lee", "ann@x.org")
    with pytest.raises(ValueError):
        book.add("Anna Lee", "ANN@x.org")
