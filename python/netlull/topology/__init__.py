"""Networks from files: SNDlib, Topology Zoo, TOML; and what a scenario makes of them."""

from netlull.topology.model import Demand, Line, Node, Topology
from netlull.topology.read import ReadOptions

__all__ = ["Demand", "Line", "Node", "ReadOptions", "Topology"]
