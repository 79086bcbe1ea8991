"""A small address book."""

from contacts.book import ContactBook
from contacts.models import Contact

__all__ = ["Contact", "ContactBook"]
