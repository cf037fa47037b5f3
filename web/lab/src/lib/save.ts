/** Downloads: CSV, TOML and pictures. */

import uPlot from "uplot";
import type { Panel } from "../scenes/scene";
import { withKept } from "./curves";

function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function saveText(name: string, type: string, text: string): void {
  save(name, new Blob([text], { type }));
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** The curves of the panels, and those of the kept result A, in long form: a row per point (RFC 4180). */
export function asCsv(panels: readonly Panel[], kept: readonly Panel[] = []): string {
  const rows = ["panel,series,x,y,x_axis,y_axis"];
  for (const panel of panels) {
    for (const { series } of withKept(panel, kept.find(({ title }) => title === panel.title))) {
      for (let i = 0; i < series.x.length; i++) {
        const y = series.y[i]!;
        // In a line an empty value is a gap; a point without a value is none.
        if (series.kind === "points" && Number.isNaN(y)) continue;
        rows.push([quoted(panel.title), quoted(series.label), series.x[i], Number.isNaN(y) ? "" : y, quoted(panel.x), quoted(panel.y)].join(","));
      }
    }
  }
  return rows.join("\r\n") + "\r\n";
}

/** The charts as one PNG picture, below each other with their titles and the names of their curves. */
export function savePicture(name: string, title: string, charts: readonly { title: string; chart: uPlot }[]): void {
  const ratio = devicePixelRatio || 1;
  const style = getComputedStyle(document.documentElement);
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d")!;
  const head = 40 * ratio, line = 18 * ratio, edge = 8 * ratio;
  const width = Math.max(300 * ratio, ...charts.map(({ chart }) => chart.ctx.canvas.width));
  const bold = (size: number) => `600 ${size * ratio}px system-ui, sans-serif`;
  const plain = `${12 * ratio}px system-ui, sans-serif`;
  // The names of a chart's curves, in lines that fit.
  const keys = charts.map(({ chart }) => {
    context.font = plain;
    let left = width, lines = 0;
    return chart.series.slice(1).map((series, i) => {
      const text = String(series.label), sample = 26 * ratio, room = sample + context.measureText(text).width + 14 * ratio;
      if (left + room > width) [left, lines] = [edge, lines + 1];
      const key = { text, series: i + 1, left, line: lines, sample };
      left += room;
      return key;
    });
  });
  const heights = charts.map(({ chart }, i) => line * (1.4 + (keys[i]!.at(-1)?.line ?? 0)) + chart.ctx.canvas.height);
  canvas.width = width;
  canvas.height = head + heights.reduce((sum, height) => sum + height, 0);
  context.fillStyle = style.getPropertyValue("--page");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = style.getPropertyValue("--ink");
  context.font = bold(17);
  context.fillText(title, edge, 26 * ratio);
  let top = head;
  charts.forEach(({ title, chart }, i) => {
    context.fillStyle = style.getPropertyValue("--ink");
    context.font = bold(13);
    context.fillText(title, edge, top + line * 0.8);
    context.font = plain;
    for (const { text, series, left, line: place, sample } of keys[i]!) {
      const { stroke, width: thick, dash } = chart.series[series]!;
      const base = top + line * (place + 0.8);
      context.strokeStyle = String(typeof stroke === "function" ? stroke(chart, series) : stroke);
      context.lineWidth = 1.5 * (thick ?? 1) * ratio;
      context.setLineDash((dash ?? []).map((part) => part * ratio));
      context.beginPath();
      context.moveTo(left, base - 4 * ratio);
      context.lineTo(left + sample - 6 * ratio, base - 4 * ratio);
      context.stroke();
      context.fillText(text, left + sample, base);
    }
    context.setLineDash([]);
    context.drawImage(chart.ctx.canvas, 0, top + heights[i]! - chart.ctx.canvas.height);
    top += heights[i]!;
  });
  canvas.toBlob((blob) => blob && save(name, blob), "image/png");
}
