/** A plane of two parameters as a grid of coloured cells, of which one is chosen. */

import { useId } from "preact/hooks";

export interface PlaneAxis {
  label: string;
  values: readonly number[];
}

interface Props {
  title: string;
  x: PlaneAxis;
  y: PlaneAxis;
  /** From -1 to 1 by column and row: the colour. */
  shade: (column: number, row: number) => number;
  /** The meaning of the ends of the colours. */
  ends: [string, string];
  /** A line: for each column its place among the rows, with fractions. */
  line: { label: string; rows: number[] };
  chosen: { column: number; row: number };
  choose: (column: number, row: number) => void;
  /** A sentence on a cell. */
  told: (column: number, row: number) => string;
}

const CELL_X = 64, CELL_Y = 26, LEFT = 62, TOP = 10, BOTTOM = 44;
const MOVES: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export function Plane({ title, x, y, shade, ends, line, chosen, choose, told }: Props) {
  const id = useId();
  const columns = x.values.length, rows = y.values.length;
  const width = LEFT + columns * CELL_X + 10, height = TOP + rows * CELL_Y + BOTTOM;
  // The first row is at the bottom.
  const left = (column: number) => LEFT + column * CELL_X, top = (row: number) => TOP + (rows - 1 - row) * CELL_Y;
  const key = (event: KeyboardEvent) => {
    const move = MOVES[event.key];
    if (!move) return;
    event.preventDefault();
    const column = Math.min(columns - 1, Math.max(0, chosen.column + move[0])), row = Math.min(rows - 1, Math.max(0, chosen.row + move[1]));
    choose(column, row);
  };
  const middles = line.rows.map((row, column) => `${left(column) + CELL_X / 2},${top(Math.min(rows - 0.5, Math.max(-0.5, row))) + CELL_Y / 2}`);
  return (
    <figure class="plane">
      <figcaption>{title}</figcaption>
      <div tabIndex={0} role="application" aria-roledescription="map" aria-label={`${title}. Arrow keys choose a point.`} aria-describedby={id} onKeyDown={key}>
      <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        {y.values.map((_, row) => x.values.map((_, column) => {
          const value = Math.max(-1, Math.min(1, shade(column, row)));
          return (
            <rect
              x={left(column)} y={top(row)} width={CELL_X} height={CELL_Y} class={value < 0 ? "cell low" : "cell high"} style={{ fillOpacity: 0.1 + 0.85 * Math.abs(value) }}
              onClick={() => choose(column, row)}
            >
              <title>{told(column, row)}</title>
            </rect>
          );
        }))}
        <polyline points={middles.join(" ")} class="bound" />
        <rect x={left(chosen.column)} y={top(chosen.row)} width={CELL_X} height={CELL_Y} class="chosen" />
        {x.values.map((value, column) => <text x={left(column) + CELL_X / 2} y={TOP + rows * CELL_Y + 16}>{value}</text>)}
        {y.values.map((value, row) => <text x={LEFT - 8} y={top(row) + CELL_Y / 2 + 4} style={{ textAnchor: "end" }}>{value}</text>)}
        <text x={LEFT + (columns * CELL_X) / 2} y={height - 6}>{x.label}</text>
        <text transform={`translate(16 ${TOP + (rows * CELL_Y) / 2}) rotate(-90)`}>{y.label}</text>
      </svg>
      </div>
      <p class="hidden" id={id} aria-live="polite">{told(chosen.column, chosen.row)}</p>
      <p class="key">
        <span><i class="swatch low" />{ends[0]}</span>
        <span><i class="swatch high" />{ends[1]}</span>
        <span><i class="swatch bound" />{line.label}</span>
        <span><i class="swatch chosen" />chosen point</span>
      </p>
    </figure>
  );
}
