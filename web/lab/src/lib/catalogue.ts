/** Lists of the simulator's parts, put in by the build (tools/lab_data.py). */

interface Tcp {
  /** The name in scenarios. */
  name: string;
  title: string;
  /** The answer to marks that it brings: `off`, `classic` or `dctcp`. */
  ecn: string;
}

declare const TCPS: readonly Tcp[];
declare const QUEUES: readonly { name: string; description: string }[];

/** The congestion controls as options of a choice. */
export const tcpOptions = TCPS.map(({ name, title }) => ({ value: name, label: title }));

/** Some of the congestion controls as options, by their short titles. */
export function someTcps(...names: string[]): { value: string; label: string }[] {
  return names.map((value) => ({ value, label: tcpTitle(value) }));
}

/** The title of a congestion control without its specification, such as `CUBIC`. */
export function tcpTitle(name: string): string {
  return tcp(name).title.replace(/ \(.*\)$/, "");
}

export function tcp(name: string): Tcp {
  const found = TCPS.find((candidate) => candidate.name === name);
  if (!found) throw new Error(`no congestion control ${name}`);
  return found;
}

/** The names of the kinds of queue management. */
export const queueKinds = QUEUES.map(({ name }) => name);
