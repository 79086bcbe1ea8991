"""The people in the address book."""


class Contact:
    """A person with an e-mail address and free-form tags."""

    def __init__(self, name, email, tags=[]):
        if "@" not in email:
            raise ValueError(f"not an e-mail address: {email!r}")
        self.name = name.strip()
        self.email = email.strip().lower()
        self.tags = tags

    def add_tag(self, tag):
        """Attach a tag, unless the contact has it already."""
        tag = tag.strip().lower()
        if tag and tag not in self.tags:
            self.tags.append(tag)

    def remove_tag(self, tag):
        """Detach a tag; unknown tags are ignored."""
        tag = tag.strip().lower()
        if tag in self.tags:
            self.tags.remove(tag)

    @property
    def sort_name(self):
        """The name with the family name first, for sorting."""
        first, _, family = self.name.rpartition(" ")
        return f"{family}, {first}" if first else family

    def __repr__(self):
        return f"Contact({self.name!r}, {self.email!r}, tags={self.tags!r})"
