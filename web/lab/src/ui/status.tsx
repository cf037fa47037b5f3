/** The state of the newest run: progress, an error, or a short text for screen readers. */

import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Milliseconds without a change after which a text is spoken: a moved slider passes many results. */
const QUIET = 1000;

interface Props {
  error: string | null;
  /** A way to the cause of the error. */
  way?: ComponentChild;
  /** The share of the run, or null if nothing runs. */
  progress: number | null;
  cancel: () => void;
  /** A sentence for everyone. */
  note?: string | null | undefined;
  /** The results in words, for screen readers. */
  told: string;
}

export function Status({ error, way, progress, cancel, note, told }: Props) {
  const [spoken, speak] = useState("");
  const text = progress === null ? told : "Running.";
  useEffect(() => {
    const timer = setTimeout(() => speak(text), QUIET);
    return () => clearTimeout(timer);
  }, [text]);
  const stop = () => {
    cancel();
    // The button vanishes, and the focus with it.
    document.getElementById("scene")?.focus({ preventScroll: true });
  };
  return (
    <div class="status">
      {progress !== null && (
        <p>Running, {Math.round(100 * progress)} % <progress value={progress} aria-label="Simulated share of the run" /> <button type="button" onClick={stop}>Cancel</button></p>
      )}
      <div role="status">
        {error !== null && <p class="error">{error}</p>}
        {note && <p>{note}</p>}
        <span class="hidden">{spoken}</span>
      </div>
      {error !== null && way}
    </div>
  );
}
