/** Calls of the simulator's WebAssembly module (crates/web/src/exports.rs). */

/** A scenario as the values of its TOML file. */
export type Scenario = Record<string, unknown>;

/** A run that is asked for: a scenario, or its text with the networks that it may name and the points of its curves. */
export type Request = { scenario: Scenario } | { toml: string; networks: Record<string, string>; points: number };

/** A column of a table. Booleans are bytes. */
export type Column = Float64Array | Uint32Array | Uint8Array | string[];
export type Table = Record<string, Column>;

/** A run that has failed: the kind of the error, and a sentence for the user. */
export interface Failure {
  kind: "scenario" | "memory" | "violation" | "cancelled" | "crash";
  message: string;
}

/** The result of a run. */
export interface Outcome {
  /** The summary, to the byte that of `netlull run`. */
  summary: string;
  tables: Record<string, Table>;
  warnings: string[];
}

export class SimulationError extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
  }
}

/** The failure of a simulator that has stopped. */
export function crash(reason: unknown): Failure {
  return { kind: "crash", message: `The simulator has stopped: ${String(reason)}` };
}

/** True for the error of a cancelled run. */
export function isCancelled(error: unknown): boolean {
  return error instanceof SimulationError && error.failure.kind === "cancelled";
}

interface Exports {
  memory: WebAssembly.Memory;
  allocate(length: number): number;
  run(limit: number): number;
  part_address(number: number): number;
  part_length(number: number): number;
}

interface Head {
  warnings: string[];
  tables: { name: string; columns: { name: string; type: "float" | "index" | "flag" | "text"; part: number }[] }[];
}

/** Memory of the module above which a run ends with an error, in bytes. */
const MEMORY_LIMIT = 2 ** 30;

/** One instance of the module. */
export class Simulator {
  private constructor(private readonly exports: Exports) {}

  static async start(module: WebAssembly.Module, progress: (share: number) => void): Promise<Simulator> {
    const instance = await WebAssembly.instantiate(module, { page: { progress } });
    return new Simulator(instance.exports as unknown as Exports);
  }

  /** Throws SimulationError. */
  run(request: Request): Outcome {
    this.call(request, () => this.exports.run(MEMORY_LIMIT));
    const head = JSON.parse(this.text(0)) as Head;
    const tables: Record<string, Table> = {};
    for (const { name, columns } of head.tables) {
      tables[name] = Object.fromEntries(columns.map((column) => [column.name, this.column(column)]));
    }
    return { summary: this.text(1), tables, warnings: head.warnings };
  }

  private call(request: Request, call: () => number): void {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    const address = this.exports.allocate(bytes.length);
    new Uint8Array(this.exports.memory.buffer, address, bytes.length).set(bytes);
    if (call() !== 0) throw new SimulationError(JSON.parse(this.text(0)) as Failure);
  }

  /** A copy of a part's bytes. */
  private bytes(part: number): Uint8Array<ArrayBuffer> {
    const address = this.exports.part_address(part);
    return new Uint8Array(this.exports.memory.buffer, address, this.exports.part_length(part)).slice() as Uint8Array<ArrayBuffer>;
  }

  private text(part: number): string {
    return new TextDecoder().decode(this.bytes(part));
  }

  private column({ type, part }: Head["tables"][number]["columns"][number]): Column {
    if (type === "text") return JSON.parse(this.text(part)) as string[];
    const bytes = this.bytes(part);
    if (type === "float") return new Float64Array(bytes.buffer);
    return type === "index" ? new Uint32Array(bytes.buffer) : bytes;
  }
}
