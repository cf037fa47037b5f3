/** Play, pause, time and speed of the animation, with the picture of the network. */

import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Clock } from "../lib/clock";

const SPEEDS = [0.1, 0.5, 1, 2, 5, 10, 30];

export function Player({ clock, picture }: { clock: Clock; picture?: ((time: number) => ComponentChild) | undefined }) {
  const [, redraw] = useState(0);
  useEffect(() => clock.subscribe(() => redraw((count) => count + 1)), [clock]);
  return (
    <section class="player" aria-label="Animation">
      {picture?.(clock.time)}
      <div class="bar">
        <button type="button" onClick={() => (clock.playing ? clock.pause() : clock.play())}>{clock.playing ? "Pause" : "Play"}</button>
        <input
          type="range" min={0} max={clock.seconds} step={clock.seconds / 1000} value={clock.time}
          aria-label="Simulated time" aria-valuetext={`${clock.time.toFixed(1)} s of ${clock.seconds} s`}
          onInput={(event) => clock.set(Number(event.currentTarget.value))}
        />
        <output>{clock.time.toFixed(1)} s</output>
        <label>
          Speed
          <select value={String(clock.speed)} onChange={(event) => { clock.speed = Number(event.currentTarget.value); }}>
            {SPEEDS.map((speed) => <option value={String(speed)} selected={speed === clock.speed}>{speed}×</option>)}
          </select>
        </label>
      </div>
    </section>
  );
}
