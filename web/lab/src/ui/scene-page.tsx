/** A scene: controls, figures, animation and charts. */

import { stringify } from "smol-toml";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Engine } from "../engine/engine";
import { SimulationError } from "../engine/module";
import { Clock } from "../lib/clock";
import { asCsv, savePicture, saveText } from "../lib/save";
import type { Summary } from "../lib/summary";
import { defaults, type Run, type Scene, type Value, type Values, type View } from "../scenes/scene";
import { Chart, charts } from "./chart";
import { Controls } from "./controls";
import { CopyButton, TomlDialog } from "./dialog";
import { Figures } from "./figures";
import { Player } from "./player";

/** Milliseconds after which a superseded run is ended instead of awaited. */
const PATIENCE = 250;

/** A finished view, and the values that it belongs to. */
interface Shown {
  values: Values;
  view: View;
}

interface State {
  shown: Shown | null;
  /** The error of the newest run, and its values. */
  error: { values: Values; message: string } | null;
  /** The share of the run, or null if nothing runs. */
  progress: number | null;
}

/** Finished runs by their scenarios: moving one slider often leaves the runs for comparison unchanged. */
const finished = new Map<string, Run>();
const KEPT_RUNS = 24;

async function runOf(engine: Engine, scenario: Record<string, unknown>, progress: (share: number) => void): Promise<Run> {
  const key = JSON.stringify(scenario);
  const known = finished.get(key);
  if (known) return known;
  const outcome = await engine.run(scenario, progress);
  const run: Run = { ...outcome, read: JSON.parse(outcome.summary) as Summary };
  if (finished.size >= KEPT_RUNS) finished.delete(finished.keys().next().value!);
  finished.set(key, run);
  return run;
}

async function viewOf(engine: Engine, scene: Scene, values: Values, progress: (share: number) => void): Promise<View> {
  const scenarios = Object.entries(scene.scenarios(values));
  const shares = scenarios.map(() => 0);
  const runs = await Promise.all(
    scenarios.map(([, scenario], i) =>
      runOf(engine, scenario, (share) => {
        shares[i] = share;
        progress(shares.reduce((sum, each) => sum + each, 0) / shares.length);
      }),
    ),
  );
  return scene.view(Object.fromEntries(scenarios.map(([name], i) => [name, runs[i]!])), values);
}

/** The view of the newest values. While a run is busy, only the newest of the values that arrive is kept. */
function useView(engine: Engine, scene: Scene, values: Values): [State, () => void] {
  const [state, set] = useState<State>({ shown: null, error: null, progress: null });
  const wanted = useRef<Values | null>(null);
  const since = useRef<number | null>(null);
  const epoch = useRef(0);

  const work = async () => {
    const own = ++epoch.current;
    while (wanted.current && own === epoch.current) {
      const next = wanted.current;
      wanted.current = null;
      since.current = performance.now();
      performance.mark("lab:run");
      try {
        const view = await viewOf(engine, scene, next, (progress) => own === epoch.current && set((before) => ({ ...before, progress })));
        if (own !== epoch.current) return;
        performance.measure("lab:result", "lab:run");
        set({ shown: { values: next, view }, error: null, progress: null });
      } catch (error) {
        if (own !== epoch.current) return;
        const cancelled = error instanceof SimulationError && error.failure.kind === "cancelled";
        set((before) => ({ ...before, error: cancelled ? null : { values: next, message: error instanceof Error ? error.message : String(error) }, progress: null }));
      }
    }
    if (own === epoch.current) since.current = null;
  };

  useEffect(() => {
    wanted.current = values;
    if (since.current === null) void work();
    else if (performance.now() - since.current > PATIENCE) {
      epoch.current++;
      engine.cancel();
      void work();
    }
  }, [scene, JSON.stringify(values)]);

  useEffect(() => () => {
    epoch.current++;
    engine.cancel();
  }, []);

  const cancel = () => {
    wanted.current = null;
    engine.cancel();
  };
  return [state, cancel];
}

interface Props {
  engine: Engine;
  scene: Scene;
  values: Values;
  kept: Values | null;
  /** Changes the values and the kept values, and with them the address. */
  go: (values: Values, kept: Values | null) => void;
  edit: (toml: string) => void;
  docs: string;
}

export function ScenePage({ engine, scene, values, kept, go, edit, docs }: Props) {
  const [state, cancel] = useView(engine, scene, values);
  const [keptView, setKeptView] = useState<View | null>(null);
  const [shows, setShows] = useState(false);
  const clock = useMemo(() => new Clock(), []);
  const { shown, error, progress } = state;
  const view = shown?.view ?? null;

  useEffect(() => {
    let current = true;
    if (kept === null) setKeptView(null);
    else viewOf(engine, scene, kept, () => {}).then((view) => current && setKeptView(view), () => {});
    return () => { current = false; };
  }, [scene, JSON.stringify(kept)]);
  useEffect(() => () => clock.pause(), [clock]);
  if (view) clock.range(view.from ?? 0, view.seconds, view.start);

  const answered = error?.values ?? shown?.values;
  const current = answered !== undefined && JSON.stringify(answered) === JSON.stringify(values) && (kept === null) === (keptView === null);
  const change = (key: string, value: Value) => go({ ...values, [key]: value }, kept);
  const toml = () => stringify(Object.values(scene.scenarios(values))[0]!);
  const preset = scene.presets.find((candidate) => Object.entries(candidate.values).every(([key, value]) => values[key] === value));
  return (
    <main class="scene" id="scene" tabIndex={-1}>
      <h1>{scene.title}</h1>
      <p class="question"><strong>Find out:</strong> {scene.question}</p>
      <div class="columns">
        <aside aria-label="Settings">
          <div class="presets" role="group" aria-label="Presets">
            {scene.presets.map((candidate) => (
              <button type="button" title={candidate.source} aria-pressed={candidate === preset} onClick={() => go({ ...defaults(scene), ...candidate.values }, kept)}>{candidate.name}</button>
            ))}
            {preset && <p class="help">Source: {preset.source}.</p>}
          </div>
          <Controls parameters={scene.parameters} values={values} change={change} />
          <div class="actions">
            <button type="button" onClick={() => go(defaults(scene), null)}>Reset</button>
            {kept === null
              ? <button type="button" onClick={() => go(values, values)}>Keep as A</button>
              : <button type="button" onClick={() => go(values, null)}>Forget A</button>}
            {kept !== null && <button type="button" onClick={() => go(kept, values)}>Swap A and B</button>}
            <CopyButton text={() => location.href}>Copy link</CopyButton>
            <button type="button" onClick={() => setShows(true)}>Open as TOML</button>
            <button type="button" disabled={!view} onClick={() => view && saveText(`${scene.id}.csv`, "text/csv", asCsv(view.panels))}>Data (CSV)</button>
            <button type="button" disabled={!view} onClick={() => view && savePicture(`${scene.id}.png`, scene.title, view.panels.flatMap(({ title }) => (charts.has(title) ? [{ title, chart: charts.get(title)! }] : [])))}>Picture (PNG)</button>
          </div>
          <details>
            <summary>Explanation</summary>
            {scene.explanation.map((paragraph) => <p>{paragraph}</p>)}
            <ul>{scene.pages.map(({ title, path }) => <li><a href={`${docs}${path}.html`}>{title}</a></li>)}</ul>
          </details>
        </aside>
        <div class="results" aria-busy={progress !== null} data-current={current}>
          <div class="status" role="status">
            {error ? <p class="error">{error.message}</p> : progress !== null ? (
              <p>Running, {Math.round(100 * progress)} % <progress value={progress} /> <button type="button" onClick={cancel}>Cancel</button></p>
            ) : null}
          </div>
          {view && <>
            {view.chooser?.(values, (changes) => go({ ...values, ...changes }, kept))}
            <Figures figures={view.figures} kept={keptView?.figures ?? null} />
            {view.notes?.map((note) => <p class="note">{note}</p>)}
            {view.seconds > 0 && <Player clock={clock} picture={view.picture} />}
            {view.panels.map((panel) => <Chart key={panel.title} panel={panel} kept={keptView?.panels.find(({ title }) => title === panel.title)} clock={clock} />)}
          </>}
        </div>
      </div>
      {shows && <TomlDialog name={scene.id} toml={toml()} open={edit} close={() => setShows(false)} />}
    </main>
  );
}
