/** The clock of an animation: a simulated time that listeners follow. */

export class Clock {
  private listeners = new Set<() => void>();
  private frame = 0;
  private before = 0;
  time = 0;
  playing = false;

  /** `seconds` is the end of simulated time, `speed` the simulated seconds of a second. */
  constructor(public seconds = 0, public speed = 1) {}

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  set(time: number): void {
    this.time = Math.max(0, Math.min(this.seconds, time));
    this.tell();
  }

  play(): void {
    if (this.playing || this.seconds <= 0) return;
    if (this.time >= this.seconds) this.time = 0;
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
