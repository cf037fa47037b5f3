/** Runs scenarios in Web Workers. */

import { crash, type Failure, type Outcome, type Request, SimulationError } from "./module";
import type { Call, Reply } from "./worker";

interface Job {
  call: Call;
  progress: (share: number) => void;
  done: (result: Outcome) => void;
  failed: (error: Error) => void;
}

/** Workers at a time; one core is left to the page. */
const WORKERS = Math.max(1, Math.min(2, (navigator.hardwareConcurrency || 2) - 1));
const CANCELLED: Failure = { kind: "cancelled", message: "The run was cancelled." };

export class Engine {
  private readonly idle: Worker[] = [];
  private readonly busy = new Map<Worker, Job>();
  private waiting: Job[] = [];
  private next = 1;

  /** `source` is the address of the worker's script. */
  constructor(private readonly module: WebAssembly.Module, private readonly source: string) {
    for (let i = 0; i < WORKERS; i++) this.start();
  }

  /** Rejects with SimulationError, also when `signal` cancels the run. */
  run(request: Request, signal: AbortSignal, progress: (share: number) => void = () => {}): Promise<Outcome> {
    return new Promise((done, failed) => {
      const job: Job = { call: { id: this.next++, request }, progress, done, failed };
      if (signal.aborted) return failed(new SimulationError(CANCELLED));
      signal.addEventListener("abort", () => this.cancel(job), { once: true });
      this.waiting.push(job);
      this.dispatch();
    });
  }

  /** Ends a run. A busy worker cannot listen, so a new one takes its place. */
  private cancel(job: Job): void {
    this.waiting = this.waiting.filter((other) => other !== job);
    for (const [worker, other] of this.busy) if (other === job) this.replace(worker);
    job.failed(new SimulationError(CANCELLED));
    this.dispatch();
  }

  private start(): void {
    const worker = new Worker(this.source);
    worker.onmessage = ({ data }: MessageEvent<Reply>) => this.hear(worker, data);
    worker.onerror = (event) => {
      event.preventDefault();
      const job = this.busy.get(worker);
      if (job) this.hear(worker, { id: job.call.id, failure: crash(event.message) });
    };
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
    } else job.done(reply.outcome);
    if (this.busy.delete(worker)) this.idle.push(worker);
    this.dispatch();
  }
}
