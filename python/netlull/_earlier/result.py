"""The earlier home of `netlull.results.result`."""

from netlull.results.result import Result, metric, metric_keys, polars_frame

__all__ = ["Result", "metric", "metric_keys", "polars_frame"]
