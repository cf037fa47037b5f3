"""Networks from files: SNDlib, Topology Zoo, TOML; what scenarios make of them, and which links may sleep."""

from netlull.topology.model import Demand, Line, Node, Topology
from netlull.topology.plan import SleepPlan, SleepStep, sleep_plan
from netlull.topology.read import ReadOptions

__all__ = ["Demand", "Line", "Node", "ReadOptions", "SleepPlan", "SleepStep", "Topology", "sleep_plan"]
