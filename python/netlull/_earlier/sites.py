"""An earlier home of names in `netlull.library`."""

from netlull.library import Site, all_sites, described, site, sites

__all__ = ["Site", "all_sites", "described", "site", "sites"]
