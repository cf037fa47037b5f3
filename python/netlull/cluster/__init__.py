"""Runs of a sweep on other processes and machines, with Dask (`pip install netlull[cluster]`; docs/how-to/cluster.md).

    sweep's process                        Dask's scheduler            worker processes
    order -> team: batches of runs -> ...  hands them to workers  ...  work.work: simulates, returns summaries
    journal <- team <- summaries  <- ...   and again if one dies  ...

The sweep's process keeps the order, the keys and the journal. Workers keep nothing.
"""

from netlull.cluster.cluster import Cluster
from netlull.cluster.sites import open_cluster
from netlull.cluster.team import ClusterTeam

__all__ = ["Cluster", "ClusterTeam", "open_cluster"]
