/** A network as a map: cables with their load, and which of them sleep. */

export interface Cable {
  from: string;
  to: string;
  /** Load of the busier direction as a share of the rate, 0 to 1. */
  load: number;
  asleep: boolean;
  /** Drawn with an outline: the path of a flow. */
  marked: boolean;
  /** A sentence on the cable. */
  told: string;
}

export interface Place {
  name: string;
  /** From left and from top, 0 to 1. */
  x: number;
  y: number;
  /** Side of the node on which its name stands. */
  side: "left" | "right" | "above" | "below";
  end?: boolean;
}

/** Lower ends of the classes of load. */
export const CLASSES = [0, 0.1, 0.3, 0.6, 0.9] as const;
const WIDTH = 720, HEIGHT = 330, EDGE_X = 130, EDGE_Y = 34;

function classOf(load: number): number {
  return CLASSES.filter((least) => load >= least).length - 1;
}

const SIDES = { left: [-12, 4, "end"], right: [12, 4, "start"], above: [0, -13, "middle"], below: [0, 24, "middle"] } as const;

export function NetworkMap({ label, places, cables }: { label: string; places: Record<string, Place>; cables: Cable[] }) {
  const at = (name: string): [number, number] => [EDGE_X + places[name]!.x * (WIDTH - 2 * EDGE_X), EDGE_Y + places[name]!.y * (HEIGHT - 2 * EDGE_Y)];
  return (
    <figure class="network">
      <svg class="map" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
        {cables.filter(({ marked }) => marked).map(({ from, to }) => {
          const [x1, y1] = at(from), [x2, y2] = at(to);
          return <line x1={x1} y1={y1} x2={x2} y2={y2} class="path" />;
        })}
        {cables.map(({ from, to, load, asleep, told }) => {
          const [x1, y1] = at(from), [x2, y2] = at(to);
          return (
            <line x1={x1} y1={y1} x2={x2} y2={y2} class={asleep ? "cable asleep" : `cable load${classOf(load)}`} style={{ strokeWidth: asleep ? 2 : 2.5 + 6 * Math.min(1, load) }}>
              <title>{told}</title>
            </line>
          );
        })}
        {Object.entries(places).map(([key, { name, side, end }]) => {
          const [x, y] = at(key), [dx, dy, anchor] = SIDES[side];
          return (
            <g>
              <circle cx={x} cy={y} r={end ? 8 : 5.5} class={end ? "node end" : "node"} />
              <text x={x + dx} y={y + dy} style={{ textAnchor: anchor }} class={end ? "strong" : ""}>{name}</text>
            </g>
          );
        })}
      </svg>
      <figcaption class="key">
        {CLASSES.map((least, i) => (
          <span><svg viewBox="0 0 26 10" aria-hidden="true"><line x1={0} x2={26} y1={5} y2={5} class={`cable load${i}`} style={{ strokeWidth: 2.5 + 6 * least }} /></svg>{i + 1 < CLASSES.length ? `${100 * least} to ${100 * CLASSES[i + 1]!} %` : `from ${100 * least} %`}</span>
        ))}
        <span><svg viewBox="0 0 26 10" aria-hidden="true"><line x1={0} x2={26} y1={5} y2={5} class="cable asleep" style={{ strokeWidth: 2 }} /></svg>asleep</span>
        <span><svg viewBox="0 0 26 10" aria-hidden="true"><line x1={0} x2={26} y1={5} y2={5} class="path" /></svg>path of the flow</span>
      </figcaption>
    </figure>
  );
}
