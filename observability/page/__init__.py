"""The page of a run: one file that opens without a network, and in which nothing that a model said can act."""

from observability.page.page import page_of

__all__ = ["page_of"]
