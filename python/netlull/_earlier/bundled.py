"""An earlier home of names in `netlull.library`."""

from netlull.library import find, ready, starters

__all__ = ["find", "ready", "starters"]
