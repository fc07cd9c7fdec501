"""Purges pages from a Tidemark edge:

    from tidemark import Purger

    Purger("https://www.example.com", token).purge(tags=["song:42"])

`tidemark.django` is an app for Django that tags pages and purges them with the change that outdates them.
"""

from .purger import PurgeFailed, Purger, Receipt

__all__ = ["PurgeFailed", "Purger", "Receipt"]
