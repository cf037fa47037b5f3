/** Play, pause, time and speed of the animation, with the picture of the network. */

import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Clock } from "../lib/clock";

const SPEEDS = [0.01, 0.1, 0.5, 1, 2, 5, 10, 30];

export function Player({ clock, picture }: { clock: Clock; picture?: ((time: number) => ComponentChild) | undefined }) {
  const [, redraw] = useState(0);
  useEffect(() => clock.subscribe(() => redraw((count) => count + 1)), [clock]);
  const digits = clock.seconds - clock.from < 5 ? 3 : 1;
  const shown = `${clock.time.toFixed(digits)} s`;
  return (
    <section class="player" aria-label="Animation">
      {picture?.(clock.time)}
      <div class="bar">
        <button type="button" onClick={() => (clock.playing ? clock.pause() : clock.play())}>{clock.playing ? "Pause" : "Play"}</button>
        <input
          type="range" min={clock.from} max={clock.seconds} step={(clock.seconds - clock.from) / 1000} value={clock.time}
          aria-label="Simulated time" aria-valuetext={`${shown} of ${clock.seconds.toFixed(digits)} s`}
          onInput={(event) => clock.set(Number(event.currentTarget.value))}
        />
        <output>{shown}</output>
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
