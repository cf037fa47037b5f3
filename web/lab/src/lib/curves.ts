/** Curves as a chart needs them. */

import type { Panel, Series } from "../scenes/scene";

/** Points above which a curve is thinned: more than a screen has pixels. */
const MOST_POINTS = 4000;

type Points = { x: number[]; y: (number | null)[] };

/** The points of a curve, NaN as null. Long curves keep the least and the greatest value of each group of neighbours. */
export function points({ x, y }: Pick<Series, "x" | "y">): Points {
  const value = (i: number) => (Number.isNaN(y[i]!) ? null : y[i]!);
  const all = Array.from({ length: x.length }, (_, i) => i);
  const kept = x.length <= MOST_POINTS ? all : thinned(y);
  return { x: kept.map((i) => x[i]!), y: kept.map(value) };
}

function thinned(y: ArrayLike<number>): number[] {
  const size = Math.ceil((2 * y.length) / MOST_POINTS);
  const kept: number[] = [];
  for (let start = 0; start < y.length; start += size) {
    let least = start, greatest = start;
    for (let i = start; i < Math.min(y.length, start + size); i++) {
      // No number is below or above NaN.
      if (!(y[i]! >= y[least]!) && !Number.isNaN(y[i]!)) least = i;
      if (!(y[i]! <= y[greatest]!) && !Number.isNaN(y[i]!)) greatest = i;
    }
    kept.push(Math.min(least, greatest));
    if (least !== greatest) kept.push(Math.max(least, greatest));
  }
  return kept;
}

/** A short text of a number for labels. */
export function short(value: number | null | undefined): string {
  return value === null || value === undefined ? "none" : String(+value.toPrecision(4)).replace("-", "−");
}

/** The curves of a panel, and of the same panel of the kept result A. With A, all names end in `(A)` or `(B)`. */
export function withKept(panel: Panel, kept: Panel | undefined): { series: Series; kept: boolean; place: number }[] {
  const named = (series: Series, letter: string) => (kept ? { ...series, label: `${series.label} (${letter})` } : series);
  const own = panel.series.map((series, place) => ({ series: named(series, "B"), kept: false, place }));
  const other = (kept?.series ?? []).map((series, place) => ({ series: named(series, "A"), kept: true, place }));
  return [...own, ...other.filter(({ series }) => series.compared !== false)];
}

/** A sentence on a panel for readers who do not see it. */
export function inWords(panel: Panel, kept: Panel | undefined): string {
  const { title, y: unit, levels } = panel;
  const named = (value: number | undefined) => (value === undefined ? "none" : levels?.[value] ?? short(value));
  const parts = withKept(panel, kept).map(({ series: { label, y } }) => {
    const values = Array.from(y).filter((value) => !Number.isNaN(value));
    if (!values.length) return `${label}: no values`;
    const least = values.reduce((a, b) => Math.min(a, b)), greatest = values.reduce((a, b) => Math.max(a, b));
    return `${label}: ${named(least)} to ${named(greatest)} ${unit}, at the end ${named(values.at(-1))}`;
  });
  return `${title}. ${parts.join("; ")}.`;
}
