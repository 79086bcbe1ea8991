"""Keeping and finding contacts."""

from contacts.models import Contact


class ContactBook:
    """A collection of contacts, unique by e-mail address."""

    def __init__(self):
        self._by_email = {}

    def __len__(self):
        return len(self._by_email)

    def __iter__(self):
        return iter(sorted(self._by_email.values(), key=lambda c: c.sort_name.lower()))

    def add(self, name, email):
        """Create a contact and return it."""
        contact = Contact(name, email)
        if contact.email in self._by_email:
            raise ValueError(f"{contact.email} is in the book already")
        self._by_email[contact.email] = contact
        return contact

    def find(self, text):
        """Return the contacts whose name or address contains ``text``."""
        wanted = text.lower()
        return [c for c in self if wanted in c.name.lower() or wanted in c.email]

    def tagged(self, tag):
        """Return the contacts that carry a tag."""
        wanted = tag.strip().lower()
        return [c for c in self if wanted in c.tags]

    def load_lines(self, lines):
        """Add contacts from lines like ``Ann Lee <ann@x.org> #work #chess``."""
        for line in lines:
            name, _, rest = line.partition("<")
            email, _, tags = rest.partition(">")
            contact = self.add(name, email)
            for tag in tags.split():
                contact.add_tag(tag.lstrip("#"))
