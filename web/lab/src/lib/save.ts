/** Downloads: CSV, TOML and pictures. */

import uPlot from "uplot";
import type { Panel } from "../scenes/scene";

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
  return /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** The curves of the panels in long form: a row per point (RFC 4180). */
export function asCsv(panels: readonly Panel[]): string {
  const rows = ["panel,series,x,y,x_axis,y_axis"];
  for (const panel of panels) {
    for (const series of panel.series) {
      for (let i = 0; i < series.x.length; i++) {
        const y = series.y[i]!;
        rows.push([quoted(panel.title), quoted(series.label), series.x[i], Number.isNaN(y) ? "" : y, quoted(panel.x), quoted(panel.y)].join(","));
      }
    }
  }
  return rows.join("\r\n") + "\r\n";
}

/** The charts of an element as one PNG picture, below each other with their titles. */
export function savePicture(name: string, title: string, charts: readonly { title: string; chart: uPlot }[]): void {
  const ratio = devicePixelRatio || 1;
  const style = getComputedStyle(document.documentElement);
  const canvas = document.createElement("canvas");
  const head = 40 * ratio, line = 26 * ratio;
  canvas.width = Math.max(...charts.map(({ chart }) => chart.ctx.canvas.width));
  canvas.height = head + charts.reduce((sum, { chart }) => sum + line + chart.ctx.canvas.height, 0);
  const context = canvas.getContext("2d")!;
  context.fillStyle = style.getPropertyValue("--page");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = style.getPropertyValue("--ink");
  context.font = `600 ${17 * ratio}px system-ui, sans-serif`;
  context.fillText(title, 8 * ratio, 26 * ratio);
  let top = head;
  for (const { title: name, chart } of charts) {
    context.fillStyle = style.getPropertyValue("--ink");
    context.font = `600 ${13 * ratio}px system-ui, sans-serif`;
    context.fillText(name, 8 * ratio, top + 17 * ratio);
    // Names of the curves, in their colours.
    let left = 16 * ratio + context.measureText(name).width;
    context.font = `${12 * ratio}px system-ui, sans-serif`;
    for (const series of chart.series.slice(1)) {
      context.fillStyle = String(typeof series.stroke === "function" ? (series.stroke as (u: uPlot, i: number) => unknown)(chart, 1) : series.stroke);
      context.fillText(String(series.label), left, top + 17 * ratio);
      left += 14 * ratio + context.measureText(String(series.label)).width;
    }
    context.drawImage(chart.ctx.canvas, 0, top + line);
    top += line + chart.ctx.canvas.height;
  }
  canvas.toBlob((blob) => blob && save(name, blob), "image/png");
}
