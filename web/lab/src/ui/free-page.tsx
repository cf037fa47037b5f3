/** Free form: a scenario in TOML, typed, pasted or dropped. */

import { parse, TomlError } from "smol-toml";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Engine } from "../engine/engine";
import { SimulationError, type Scenario } from "../engine/module";
import { freeView, probed } from "../lib/free";
import { Clock } from "../lib/clock";
import { asCsv, savePicture, saveText } from "../lib/save";
import type { Summary } from "../lib/summary";
import type { Run } from "../scenes/scene";
import { Chart, charts } from "./chart";
import { CopyButton } from "./dialog";
import { Player } from "./player";

/** Ready scenarios by name, bundled by the build. */
declare const READY: Record<string, string>;

/** The largest file that can be dropped, in bytes. */
const LARGEST = 2 ** 20;

/** Reads TOML. Throws an error whose message names line and column. */
function read(toml: string): Scenario {
  try {
    const scenario = parse(toml) as Scenario;
    if ("topology" in scenario) throw new Error("topology: needs files, which the lab does not have; `netlull lab FILE` opens the scenario with its links");
    return scenario;
  } catch (error) {
    if (error instanceof TomlError) throw new Error(`line ${error.line}, column ${error.column}: ${error.message.split("\n")[0]}`);
    throw error;
  }
}

interface Props {
  engine: Engine;
  /** The scenario of the address. */
  toml: string | null;
  go: (toml: string) => void;
}

export function FreePage({ engine, toml, go }: Props) {
  const [text, setText] = useState(toml ?? READY["tcp-duel"] ?? "");
  const [run, setRun] = useState<Run | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [progress, setProgress] = useState<number | null>(null);
  const [link, setLink] = useState("");
  /** The text of the run that is shown. */
  const [source, setSource] = useState<string | null>(null);
  const clock = useMemo(() => new Clock(), []);

  const simulate = async (toml: string) => {
    setError(null);
    setProgress(0);
    go(toml);
    try {
      const outcome = await engine.run(probed(read(toml)), setProgress);
      setRun({ ...outcome, read: JSON.parse(outcome.summary) as Summary });
      setSource(toml);
    } catch (failure) {
      const cancelled = failure instanceof SimulationError && failure.failure.kind === "cancelled";
      setError(cancelled ? null : failure instanceof Error ? failure.message : String(failure));
    }
    setProgress(null);
  };
  useEffect(() => {
    if (toml !== null && toml !== text) setText(toml);
    if (toml !== null && run === null) void simulate(toml);
  }, [toml]);
  useEffect(() => () => {
    clock.pause();
    engine.cancel();
  }, []);

  const take = async (file: File | undefined) => {
    if (!file) return;
    if (file.size > LARGEST) setError(`${file.name}: has ${file.size} bytes; expected at most ${LARGEST}`);
    else setText(await file.text());
  };
  const view = run && freeView(run, link);
  if (view) clock.seconds = view.seconds;
  const columns = view?.table.columns ?? [];
  return (
    <main class="scene" id="scene" tabIndex={-1}>
      <h1>Your own scenario</h1>
      <p class="question">Write a scenario in TOML, drop a file on the text, or start from a ready one. The page runs it as <code>netlull run</code> does, with the same summary to the byte.</p>
      <div class="columns free">
        <aside aria-label="Scenario">
          <label>
            Ready scenario
            <select value="" onChange={(event) => setText(READY[event.currentTarget.value] ?? text)}>
              <option value="">choose one</option>
              {Object.keys(READY).map((name) => <option value={name}>{name}</option>)}
            </select>
          </label>
          <textarea
            value={text} rows={26} spellcheck={false} aria-label="Scenario in TOML"
            onInput={(event) => setText(event.currentTarget.value)}
            onDragOver={(event) => event.preventDefault()}
            onDrop={(event) => {
              event.preventDefault();
              void take(event.dataTransfer?.files[0]);
            }}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void simulate(text);
            }}
          />
          <div class="actions">
            <button type="button" class="primary" onClick={() => void simulate(text)}>Run (Ctrl+Enter)</button>
            <label class="file">Open a file <input type="file" accept=".toml" onChange={(event) => void take(event.currentTarget.files?.[0])} /></label>
            <CopyButton text={() => location.href}>Copy link</CopyButton>
            <button type="button" onClick={() => saveText("scenario.toml", "application/toml", text)}>Save TOML</button>
            <button type="button" disabled={!run} onClick={() => run && saveText("summary.json", "application/json", run.summary)}>Summary (JSON)</button>
            <button type="button" disabled={!view} onClick={() => view && saveText("scenario.csv", "text/csv", asCsv(view.panels))}>Data (CSV)</button>
            <button type="button" disabled={!view} onClick={() => view && savePicture("scenario.png", run?.read.name ?? "", view.panels.flatMap(({ title }) => (charts.has(title) ? [{ title, chart: charts.get(title)! }] : [])))}>Picture (PNG)</button>
          </div>
          <p class="help">Run it on your machine: <code>netlull run scenario.toml</code></p>
        </aside>
        <div class="results" aria-busy={progress !== null} data-current={source === text && progress === null}>
          <div class="status" role="status">
            {error ? <p class="error">{error}</p> : progress !== null ? (
              <p>Running, {Math.round(100 * progress)} % <progress value={progress} /> <button type="button" onClick={() => engine.cancel()}>Cancel</button></p>
            ) : null}
            {run?.warnings.map((warning) => <p class="warning">{warning}</p>)}
          </div>
          {view && <>
            <div class="scroll" tabIndex={0} role="region" aria-label="Links and flows">
              <table class="figures">
                <thead><tr>{columns.map((column) => <th scope="col">{column}</th>)}</tr></thead>
                <tbody>{view.table.rows.map((row) => <tr>{row.map((cell, i) => (i === 0 ? <th scope="row">{cell}</th> : <td>{cell}</td>))}</tr>)}</tbody>
              </table>
            </div>
            <label>
              Link in the charts
              <select value={view.link} onChange={(event) => setLink(event.currentTarget.value)}>
                {view.links.map((name) => <option value={name} selected={name === view.link}>{name}</option>)}
              </select>
            </label>
            {view.seconds > 0 && <Player clock={clock} />}
            {view.panels.map((panel) => <Chart key={panel.title} panel={panel} clock={clock} />)}
          </>}
        </div>
      </div>
    </main>
  );
}
