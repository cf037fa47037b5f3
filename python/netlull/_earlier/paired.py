"""An earlier home of names in `netlull.compare`."""

from netlull.compare import compare_runs, usual_metrics, world_names

__all__ = ["compare_runs", "usual_metrics", "world_names"]
