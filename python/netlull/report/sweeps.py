"""The report of a sweep: what ran, a figure per metric, where the joules went, every number."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netlull.errors import InputError, OutputError, ResultError
from netlull.fieldpath import to_toml
from netlull.output import read_description
from netlull.plot import charts_of, svg_text
from netlull.plot.panels import metric_figure
from netlull.report.ledger import Entry, ledger, ledger_figure, ledger_table
from netlull.report.page import Fact, FigureBlock, Page, Section, TableBlock, write
from netlull.sweep.journal import Journal
from netlull.sweep.store import DESCRIPTION, JOURNAL
from netlull.sweep.table import Cost, SweepResult
