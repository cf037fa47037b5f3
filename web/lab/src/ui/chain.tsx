/** A chain of nodes and links, with rates and queues at a moment. */

export interface ChainLink {
  /** The rate as a share of the highest, 0 to 1; the width of the line. */
  share: number;
  text: string;
  /** How full the queue is, 0 to 1. */
  queue?: number;
  queueText?: string;
  /** Drawn dashed: nothing can be sent. */
  asleep?: boolean;
}

const GAP = 210, TOP = 52, RADIUS = 9;

export function Chain({ label, nodes, links }: { label: string; nodes: string[]; links: ChainLink[] }) {
  const width = GAP * (nodes.length - 1) + 140;
  const x = (node: number) => 70 + GAP * node;
  return (
    <svg class="chain" viewBox={`0 0 ${width} 104`} role="img" aria-label={label}>
      {links.map((link, i) => {
        const from = x(i) + RADIUS, to = x(i + 1) - RADIUS;
        const filled = Math.max(0, Math.min(1, link.queue ?? 0));
        return (
          <g>
            <line x1={from} x2={to} y1={TOP} y2={TOP} class={link.asleep ? "wire asleep" : "wire"} style={{ strokeWidth: link.asleep ? 1.5 : 1.5 + 9 * Math.max(0, Math.min(1, link.share)) }} />
            <text x={(from + to) / 2} y={TOP - 16}>{link.text}</text>
            {link.queue !== undefined && (
              <>
                <rect x={from + 6} y={TOP + 14} width={90} height={12} class="buffer" />
                <rect x={from + 6} y={TOP + 14} width={90 * filled} height={12} class={filled > 0.95 ? "backlog full" : "backlog"} />
                <text x={from + 6} y={TOP + 30} class="start below">{link.queueText}</text>
              </>
            )}
          </g>
        );
      })}
      {nodes.map((node, i) => (
        <g>
          <circle cx={x(i)} cy={TOP} r={RADIUS} class="node" />
          <text x={x(i)} y={TOP - 18}>{node}</text>
        </g>
      ))}
    </svg>
  );
}
