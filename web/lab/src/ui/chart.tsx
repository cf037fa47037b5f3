/** A panel as a chart. */

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Clock } from "../lib/clock";
import { inWords, points, short } from "../lib/curves";
import type { Panel, Series } from "../scenes/scene";

/** The charts on the page, by the titles of their panels, for the picture. */
export const charts = new Map<string, uPlot>();

const COLOURS = 7;
const sync = uPlot.sync("time");

function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** A curve, or the same curve of the kept result. */
interface Drawn {
  series: Series;
  kept: boolean;
  colour: number;
}

function drawn(panel: Panel, kept: Panel | undefined): Drawn[] {
  const own = panel.series.map((series, i) => ({ series, kept: false, colour: (series.colour ?? i) % COLOURS }));
  const other = (kept?.series ?? []).flatMap((series, i) => (series.compared === false ? [] : [{ series, kept: true, colour: (series.colour ?? i) % COLOURS }]));
  return [...own, ...other];
}

/** Names of levels in place of their numbers. */
const named = (levels: readonly string[]) => (_: uPlot, splits: number[]) => splits.map((level) => levels[level] ?? "");

function options(panel: Panel, curves: Drawn[], width: number, line: HTMLElement): uPlot.Options {
  const font = "12px system-ui, sans-serif";
  const axis = (label: string): uPlot.Axis => ({
    label, font, labelFont: font, labelSize: 20, stroke: () => css("--ink"),
    grid: { stroke: () => css("--line"), width: 1 }, ticks: { stroke: () => css("--line"), width: 1, size: 5 },
    values: (_, splits) => splits.map((value) => (value === null ? "" : short(value))),
  });
  return {
    width,
    height: 190,
    scales: {
      x: { time: false, distr: panel.logX ? 3 : 1 },
      y: {
        range: (_, least, greatest) => {
          const low = panel.yMin ?? least, high = panel.yMax ?? greatest;
          return low === null || high === null ? [0, 1] : [low, high > low ? high + (panel.yMax === undefined ? 0.05 * (high - low) : 0) : low + 1];
        },
      },
    },
    axes: [{ ...axis(panel.x), size: 34 }, { ...axis(panel.y), size: 54, ...(panel.levels ? { splits: panel.levels.map((_, level) => level), values: named(panel.levels) } : {}) }],
    cursor: panel.timed ? { sync: { key: sync.key }, y: false } : { y: false },
    legend: { live: true },
    series: [
      { label: panel.x, value: (_, value) => (value === null ? "" : short(value)) },
      ...curves.map(({ series, kept, colour }): uPlot.Series => ({
        label: kept ? `${series.label} (A)` : series.label,
        stroke: () => css(`--s${colour}`),
        width: kept ? 1 : series.kind === "steps" ? 2 : 1.4,
        ...(kept || series.dashed ? { dash: kept ? [2, 3] : [6, 4] } : {}),
        spanGaps: true,
        ...(series.kind === "steps" ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
        ...(series.kind === "points" ? { paths: () => null, points: { show: true, size: 5, fill: () => css(kept ? "--page" : `--s${colour}`) } } : { points: { show: false } }),
        value: (_, value) => (value === null ? "" : panel.levels?.[value] ?? short(value)),
      })),
    ],
    hooks: { ready: [(chart) => void chart.over.append(line)] },
  };
}

/** The data of all curves over their common x. Panels over time begin and end with the clock. */
function data(panel: Panel, curves: Drawn[], { from, seconds }: Clock): uPlot.AlignedData {
  const tables = curves.map(({ series }) => {
    const { x, y } = points(series);
    return [x, y] as uPlot.AlignedData;
  });
  if (panel.timed) tables.push([[from, seconds], [null, null]]);
  if (!tables.length) return [[]];
  const joined = uPlot.join(tables, tables.map(() => [1, 1]));
  return panel.timed ? (joined.slice(0, -1) as uPlot.AlignedData) : joined;
}

export function Chart({ panel, kept, clock }: { panel: Panel; kept?: Panel | undefined; clock: Clock }) {
  const box = useRef<HTMLDivElement>(null);
  const curves = drawn(panel, kept);
  const labels = curves.map(({ series, kept }) => `${series.label} ${kept} ${series.kind}`).join("|");
  const live = useRef<uPlot | null>(null);

  useEffect(() => {
    const line = document.createElement("div");
    line.className = "now";
    const chart = new uPlot(options(panel, curves, box.current!.clientWidth, line), data(panel, curves, clock), box.current!);
    live.current = chart;
    charts.set(panel.title, chart);
    if (panel.timed) sync.sub(chart);
    const follow = () => {
      line.hidden = !panel.timed || clock.time <= clock.from;
      line.style.left = `${chart.valToPos(clock.time, "x")}px`;
    };
    const stop = clock.subscribe(follow);
    follow();
    const resized = new ResizeObserver(() => {
      const width = box.current?.clientWidth ?? 0;
      if (width > 0 && width !== chart.width) chart.setSize({ width, height: 190 });
      follow();
    });
    resized.observe(box.current!);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const recolour = () => chart.redraw(false);
    dark.addEventListener("change", recolour);
    addEventListener("theme", recolour);
    return () => {
      dark.removeEventListener("change", recolour);
      removeEventListener("theme", recolour);
      resized.disconnect();
      stop();
      if (charts.get(panel.title) === chart) charts.delete(panel.title);
      chart.destroy();
      live.current = null;
    };
  }, [panel.title, labels]);

  // New results keep the chart and its zoom.
  const shown = useRef<unknown[]>([]);
  useEffect(() => {
    const now = [panel, kept];
    if (live.current && shown.current.length && shown.current.some((before, i) => before !== now[i])) live.current.setData(data(panel, curves, clock));
    shown.current = now;
  }, [panel, kept]);

  return (
    <figure class="panel">
      <figcaption>{panel.title}</figcaption>
      <div ref={box} class="chart" role="img" aria-label={inWords(panel)} />
    </figure>
  );
}
