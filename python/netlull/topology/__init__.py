"""Networks from files (SNDlib, Topology Zoo, TOML), their use in scenarios, and plans for sleeping links."""

from netlull.topology.files import Topology
from netlull.topology.model import Demand, Line, Node
from netlull.topology.options import ReadOptions
from netlull.topology.plan import SleepPlan, SleepStep, sleep_plan

__all__ = ["Demand", "Line", "Node", "ReadOptions", "SleepPlan", "SleepStep", "Topology", "sleep_plan"]
