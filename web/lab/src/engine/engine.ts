/** Runs scenarios in Web Workers. */

import { type Checked, type Failure, type Outcome, type Scenario, SimulationError } from "./module";
import type { Call, Reply } from "./worker";

interface Job {
  call: Call;
  progress: (share: number) => void;
  done: (result: Outcome | Checked) => void;
  failed: (error: Error) => void;
}

/** Workers at a time; one core is left to the page. */
const WORKERS = Math.max(1, Math.min(2, (navigator.hardwareConcurrency || 2) - 1));
const CANCELLED: Failure = { kind: "cancelled", field: null, message: "The run was cancelled." };

export class Engine {
  private readonly idle: Worker[] = [];
  private readonly busy = new Map<Worker, Job>();
  private waiting: Job[] = [];
  private next = 1;

  /** `source` is the address of the worker's script. */
  constructor(private readonly module: WebAssembly.Module, private readonly source: string) {
    for (let i = 0; i < WORKERS; i++) this.start();
  }

  /** Rejects with SimulationError. */
  run(scenario: Scenario, progress: (share: number) => void = () => {}): Promise<Outcome> {
    return this.ask("run", scenario, progress) as Promise<Outcome>;
  }

  /** Rejects with SimulationError. */
  check(scenario: Scenario): Promise<Checked> {
    return this.ask("check", scenario, () => {}) as Promise<Checked>;
  }

  /** Ends all runs. A busy worker cannot listen, so a new one takes its place. */
  cancel(): void {
    const ended = [...this.busy.values(), ...this.waiting];
    this.waiting = [];
    for (const worker of this.busy.keys()) this.replace(worker);
    for (const job of ended) job.failed(new SimulationError(CANCELLED));
  }

  private ask(kind: Call["kind"], scenario: Scenario, progress: (share: number) => void): Promise<Outcome | Checked> {
    return new Promise((done, failed) => {
      this.waiting.push({ call: { id: this.next++, kind, scenario }, progress, done, failed });
      this.dispatch();
    });
  }

  private start(): void {
    const worker = new Worker(this.source);
    worker.onmessage = ({ data }: MessageEvent<Reply>) => this.hear(worker, data);
    worker.postMessage(this.module);
    this.idle.push(worker);
  }

  private replace(worker: Worker): void {
    worker.terminate();
    this.busy.delete(worker);
    this.start();
  }

  private dispatch(): void {
    while (this.idle.length && this.waiting.length) {
      const worker = this.idle.shift()!;
      const job = this.waiting.shift()!;
      this.busy.set(worker, job);
      worker.postMessage(job.call);
    }
  }

  private hear(worker: Worker, reply: Reply): void {
    const job = this.busy.get(worker);
    if (!job || job.call.id !== reply.id) return;
    if ("progress" in reply) {
      job.progress(reply.progress);
      return;
    }
    if ("failure" in reply) {
      // After a crash the module's memory cannot be trusted.
      if (reply.failure.kind === "crash") this.replace(worker);
      job.failed(new SimulationError(reply.failure));
    } else job.done("outcome" in reply ? reply.outcome : reply.checked);
    if (this.busy.delete(worker)) this.idle.push(worker);
    this.dispatch();
  }
}
