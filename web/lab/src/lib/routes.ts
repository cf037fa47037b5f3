/** The shortest path that routers take: by hops, and among equal paths over the lowest-numbered link. */

export interface Hop {
  from: string;
  to: string;
}

/** The places in `links` of the path between two nodes; empty if there is none. `up` tells if a link carries packets. */
export function route(links: readonly Hop[], from: string, to: string, up: (link: number) => boolean): number[] {
  const distance = new Map([[to, 0]]);
  for (let queue = [to]; queue.length; ) {
    const next: string[] = [];
    for (const node of queue) {
      links.forEach((link, i) => {
        if (link.to !== node || distance.has(link.from) || !up(i)) return;
        distance.set(link.from, distance.get(node)! + 1);
        next.push(link.from);
      });
    }
    queue = next;
  }
  const path: number[] = [];
  for (let node = from; node !== to; ) {
    const left = distance.get(node);
    if (left === undefined) return [];
    const next = links.findIndex((link, i) => link.from === node && up(i) && distance.get(link.to) === left - 1);
    path.push(next);
    node = links[next]!.to;
  }
  return path;
}
