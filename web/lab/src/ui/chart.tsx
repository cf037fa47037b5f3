/** A panel as a chart. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Clock } from "../lib/clock";
import { inWords, points, short, withKept } from "../lib/curves";
import { savePicture } from "../lib/save";
import type { Panel, Series } from "../scenes/scene";

/** The charts on the page, by the titles of their panels. */
const charts = new Map<string, uPlot>();

/** Saves the charts of the panels as a picture. */
export function saveCharts(name: string, title: string, panels: readonly Panel[]): void {
  savePicture(name, title, panels.flatMap(({ title }) => (charts.has(title) ? [{ title, chart: charts.get(title)! }] : [])));
}

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
  return withKept(panel, kept).map(({ series, kept, place }) => ({ series, kept, colour: (series.colour ?? place) % COLOURS }));
}

/** Names of levels in place of their numbers. */
const named = (levels: readonly string[]) => (_: uPlot, splits: number[]) => splits.map((level) => levels[level] ?? "");

/** The limits of y that the panels ask for. */
function limits(panel: Panel, kept: Panel | undefined): { yMin: number | undefined; yMax: number | undefined } {
  const { yMin, yMax } = panel;
  return { yMin, yMax: yMax === undefined ? undefined : Math.max(yMax, kept?.yMax ?? yMax) };
}

/** The height of a chart in pixels, from the style sheet. */
function heightOf(box: HTMLElement): number {
  return Number(getComputedStyle(box).getPropertyValue("--height"));
}

/** The legend shows values only where the cursor is. It may then be higher, over what follows: the page does not move. */
function tell(chart: uPlot): void {
  const { classList } = chart.root, legend = chart.root.querySelector<HTMLElement>(".u-legend")!;
  classList.add("idle");
  legend.style.marginBottom = "";
  if (chart.legend.idx == null) return;
  const before = legend.getBoundingClientRect().height;
  classList.remove("idle");
  legend.style.marginBottom = `${before - legend.getBoundingClientRect().height}px`;
}

/** `newest` returns the limits of the newest results; they may differ from those of `panel`. */
function options(panel: Panel, newest: () => ReturnType<typeof limits>, curves: Drawn[], box: HTMLElement, line: HTMLElement): uPlot.Options {
  const font = "12px system-ui, sans-serif";
  const axis = (label: string): uPlot.Axis => ({
    label, font, labelFont: font, labelSize: 20, stroke: () => css("--ink"),
    grid: { stroke: () => css("--line"), width: 1 }, ticks: { stroke: () => css("--line"), width: 1, size: 5 },
    values: (_, splits) => splits.map((value) => (value === null ? "" : short(value))),
  });
  return {
    width: box.clientWidth,
    height: heightOf(box),
    scales: {
      x: { time: false, distr: panel.logX ? 3 : 1 },
      y: {
        distr: panel.logY ? 3 : 1,
        range: (_, least, greatest) => {
          if (panel.logY) return least === null || greatest === null ? [1, 10] : uPlot.rangeLog(least, greatest, 10, false);
          const { yMin, yMax } = newest();
          const low = yMin ?? least, high = yMax ?? greatest;
          return low === null || high === null ? [0, 1] : [low, high > low ? high + (yMax === undefined ? 0.05 * (high - low) : 0) : low + 1];
        },
      },
    },
    axes: [{ ...axis(panel.x), size: 34 }, { ...axis(panel.y), size: 54, ...(panel.levels ? { splits: panel.levels.map((_, level) => level), values: named(panel.levels) } : {}) }],
    cursor: panel.timed ? { sync: { key: sync.key }, y: false } : { y: false },
    legend: { live: true, markers: { dash: (_, i) => (curves[i - 1]?.kept ? "dotted" : curves[i - 1]?.series.dashed ? "dashed" : "solid") } },
    series: [
      { label: panel.x, value: (_, value) => (value === null ? "" : short(value)) },
      ...curves.map(({ series, kept, colour }): uPlot.Series => ({
        label: series.label,
        stroke: () => css(`--s${colour}`),
        width: series.kind === "steps" && !kept ? 2 : 1.4,
        ...(kept || series.dashed ? { dash: kept ? [2, 3] : [6, 4] } : {}),
        spanGaps: true,
        ...(series.kind === "steps" ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
        ...(series.kind === "points" ? { paths: () => null, points: { show: true, size: 5, fill: () => css(kept ? "--page" : `--s${colour}`) } } : { points: { show: false } }),
        value: (_, value) => (value === null ? "" : panel.levels?.[value] ?? short(value)),
      })),
    ],
    hooks: { ready: [(chart) => void chart.over.append(line), tell], setLegend: [tell] },
  };
}

/** The data of all curves over their common x. Panels over time begin and end with the run. */
function data(panel: Panel, curves: Drawn[], clock: Clock): uPlot.AlignedData {
  const tables = curves.map(({ series }) => {
    const { x, y } = points(series);
    return [x, y] as uPlot.AlignedData;
  });
  if (panel.timed) tables.push([[clock.from, clock.seconds], [null, null]]);
  if (!tables.length) return [[]];
  const joined = uPlot.join(tables, tables.map(() => [1, 1]));
  return panel.timed ? (joined.slice(0, -1) as uPlot.AlignedData) : joined;
}

export function Chart({ panel, kept, clock }: { panel: Panel; kept?: Panel | undefined; clock: Clock }) {
  const box = useRef<HTMLDivElement>(null);
  const curves = drawn(panel, kept);
  const labels = curves.map(({ series, kept }) => `${series.label} ${kept} ${series.kind}`).join("|");
  const words = useMemo(() => inWords(panel, kept), [panel, kept]);
  const live = useRef<uPlot | null>(null);
  const newest = useRef(limits(panel, kept));
  newest.current = limits(panel, kept);

  useEffect(() => {
    const line = document.createElement("div");
    line.className = "now";
    const chart = new uPlot(options(panel, () => newest.current, curves, box.current!, line), data(panel, curves, clock), box.current!);
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
      const width = box.current?.clientWidth ?? 0, height = box.current ? heightOf(box.current) : 0;
      if (width > 0 && (width !== chart.width || height !== chart.height)) chart.setSize({ width, height });
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

  // New results keep the chart; its zoom starts anew.
  const shown = useRef<unknown[]>([]);
  useEffect(() => {
    const now = [panel, kept];
    if (live.current && shown.current.length && shown.current.some((before, i) => before !== now[i])) live.current.setData(data(panel, curves, clock));
    shown.current = now;
  }, [panel, kept]);

  return (
    <figure class="panel">
      <figcaption>{panel.title}</figcaption>
      <div ref={box} class="chart" role="img" aria-label={words} />
    </figure>
  );
}
