/** The clock of an animation: a simulated time that listeners follow. */

export class Clock {
  private listeners = new Set<() => void>();
  private frame = 0;
  private before = 0;
  time = 0;
  /** The start of simulated time. */
  from = 0;
  playing = false;

  /** `seconds` is the end of simulated time, `speed` the simulated seconds of a second. */
  constructor(public seconds = 0, public speed = 1) {}

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Gives the clock another range of time. The time stays if it is within the range; in the first range it is `start`. A range below 5 s plays slowly at first. */
  range(from: number, seconds: number, start = from): void {
    if (this.from === from && this.seconds === seconds) return;
    if (this.seconds === 0) this.time = start;
    const isShort = seconds - from < 5;
    if (isShort !== this.seconds - this.from < 5 || this.seconds === 0) this.speed = isShort ? 0.1 : 1;
    this.from = from;
    this.seconds = seconds;
    if (this.time < from || this.time > seconds) this.time = from;
  }

  set(time: number): void {
    this.time = Math.max(this.from, Math.min(this.seconds, time));
    this.tell();
  }

  play(): void {
    if (this.playing || this.seconds <= 0) return;
    if (this.time >= this.seconds) this.time = this.from;
    this.playing = true;
    this.before = performance.now();
    this.frame = requestAnimationFrame(this.step);
    this.tell();
  }

  pause(): void {
    this.playing = false;
    cancelAnimationFrame(this.frame);
    this.tell();
  }

  private step = (now: number): void => {
    this.time = Math.min(this.seconds, this.time + (this.speed * (now - this.before)) / 1000);
    this.before = now;
    if (this.time >= this.seconds) this.playing = false;
    else this.frame = requestAnimationFrame(this.step);
    this.tell();
  };

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}
