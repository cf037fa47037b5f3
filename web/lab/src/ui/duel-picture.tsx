/** Senders behind a bottleneck at a moment. The width of a line is the goodput of its flow. */

interface Flow {
  label: string;
  colour: number;
  dashed: boolean;
  /** Mb/s. */
  goodput: number;
}

const ROW = 31, LEFT = 200, MIDDLE = 345, RIGHT = 452, RADIUS = 7;
const WIDTH = 492, BAR = 84;

interface Props {
  time: number;
  flows: readonly Flow[];
  /** Rate of the bottleneck, Mb/s. */
  rate: number;
  packets: number;
  /** The longest queue of the run, packets. */
  most: number;
}

export function DuelPicture({ time, flows, rate, packets, most }: Props) {
  const height = Math.max(112, ROW * flows.length + 18);
  const centre = height / 2;
  const y = (i: number) => centre + ROW * (i - (flows.length - 1) / 2);
  const wide = (goodput: number) => 1 + 11 * Math.min(1, goodput / rate);
  const filled = most > 0 ? Math.min(1, packets / most) : 0;
  const told = flows.map(({ label, goodput }) => `${label} ${goodput.toFixed(1)} Mb/s`).join(", ");
  return (
    <svg class="duel" viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={`At ${time.toFixed(1)} s: ${told}; ${packets} packets wait`}>
      {flows.map(({ label, colour, dashed, goodput }, i) => (
        <g>
          <path d={`M${LEFT} ${y(i)} C${LEFT + 80} ${y(i)} ${MIDDLE - 60} ${centre} ${MIDDLE} ${centre}`} fill="none" style={{ stroke: `var(--s${colour})`, strokeWidth: wide(goodput), ...(dashed ? { strokeDasharray: "8 4" } : {}) }} />
          <text x={LEFT - 14} y={y(i)} class="end">{label}</text>
          <text x={LEFT - 14} y={y(i) + 13} class="end small">{goodput.toFixed(1)} Mb/s</text>
          <circle cx={LEFT} cy={y(i)} r={RADIUS - 1} class="node" />
        </g>
      ))}
      <line x1={MIDDLE} x2={RIGHT} y1={centre} y2={centre} class="wire" style={{ strokeWidth: wide(flows.reduce((sum, { goodput }) => sum + goodput, 0)) }} />
      <text x={MIDDLE + 10} y={centre - 16} class="start">{rate} Mb/s</text>
      <rect x={MIDDLE} y={centre + 16} width={BAR} height={12} class="buffer" />
      <rect x={MIDDLE} y={centre + 16} width={BAR * filled} height={12} class={filled > 0.95 ? "backlog full" : "backlog"} />
      <text x={MIDDLE} y={centre + 45} class="start">{packets} packets wait</text>
      <circle cx={MIDDLE} cy={centre} r={RADIUS} class="node" />
      <circle cx={RIGHT} cy={centre} r={RADIUS} class="node" />
      <text x={WIDTH - 4} y={centre - 16} class="end">receiver</text>
    </svg>
  );
}
