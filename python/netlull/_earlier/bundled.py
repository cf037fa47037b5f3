"""An earlier home of names in `netlull.library`."""

from netlull.library import find, starters
from netlull.library import shipped as ready

__all__ = ["find", "ready", "starters"]
