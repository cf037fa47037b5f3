"""Plug-ins in Python: their base classes, their parameters, and how scenarios find them."""

from netlull.plugins.classes import *  # noqa: F403  # the names of `netlull.plugins`
from netlull.plugins.classes import __all__ as __all__
