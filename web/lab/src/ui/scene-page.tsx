/** A scene: controls, figures, animation and charts. */

import { stringify } from "smol-toml";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Engine } from "../engine/engine";
import { isCancelled, type Scenario } from "../engine/module";
import { Clock } from "../lib/clock";
import { messageOf, simulated } from "../lib/run";
import { asCsv, saveText } from "../lib/save";
import { pageAddress } from "../lib/pages";
import { address, type Refused, sceneFragment } from "../lib/share";
import { defaults, fileName, type Panel, type Run, type Scene, strays, type Values, type View, withSeed } from "../scenes/scene";
import { Chart, saveCharts } from "./chart";
import { Controls } from "./controls";
import { CopyButton, FileHelp, TomlDialog } from "./dialog";
import { Exercise } from "./exercise";
import { Figures, written } from "./figures";
import { Player } from "./player";
import { Status } from "./status";
import { inOneRun, Verdict } from "./verdict";

/** Milliseconds after which a superseded run is ended instead of awaited. */
const PATIENCE = 250;

/** The answer to some values: a view, or an error. */
interface Answer {
  values: Values;
  view: View | null;
  error: string | null;
}

interface State {
  /** The newest view, and its values. */
  shown: { values: Values; view: View } | null;
  /** The values of the newest run that has failed or was cancelled; `error` is null for the latter. */
  failed: { values: Values; error: string | null } | null;
  /** The share of the run, or null if nothing runs. */
  progress: number | null;
}

/** Finished runs by their scenarios: moving one slider often leaves the runs for comparison unchanged. */
const finished = new Map<string, Run>();
const KEPT_RUNS = 24;

async function runOf(engine: Engine, scenario: Scenario, signal: AbortSignal, progress: (share: number) => void): Promise<Run> {
  const key = JSON.stringify(scenario);
  const known = finished.get(key);
  if (known) return known;
  const run = await simulated(engine, { scenario }, signal, progress);
  if (finished.size >= KEPT_RUNS) finished.delete(finished.keys().next().value!);
  finished.set(key, run);
  return run;
}

/** The view of some values. Its notes begin with the warnings of the scene's own run. */
async function viewOf(engine: Engine, scene: Scene, values: Values, signal: AbortSignal, progress: (share: number) => void): Promise<View> {
  const scenarios = Object.entries(scene.scenarios(values));
  const shares = scenarios.map(() => 0);
  const runs = await Promise.all(
    scenarios.map(([, scenario], i) =>
      runOf(engine, scenario, signal, (share) => {
        shares[i] = share;
        progress(shares.reduce((sum, each) => sum + each, 0) / shares.length);
      }),
    ),
  );
  const named = Object.fromEntries(scenarios.map(([name], i) => [name, runs[i]!]));
  const view = scene.view(named, values);
  const { claim } = scene, judged = claim && !strays(claim, values).length ? { judged: claim.judge(named, values) } : {};
  return { ...view, ...judged, notes: [...runs[0]!.warnings.map((warning) => `Warning: ${warning}.`), ...(view.notes ?? [])] };
}

/** The view of the newest values. While a run is busy, only the newest of the values that arrive is kept. */
function useView(engine: Engine, scene: Scene, values: Values): [State, () => void] {
  const [state, set] = useState<State>({ shown: null, failed: null, progress: null });
  const wanted = useRef<Values | null>(null);
  const busy = useRef<{ run: AbortController; since: number } | null>(null);

  const work = async () => {
    for (let next = wanted.current; next; next = wanted.current) {
      const values = next, run = new AbortController();
      wanted.current = null;
      busy.current = { run, since: performance.now() };
      try {
        const view = await viewOf(engine, scene, values, run.signal, (progress) => set((before) => ({ ...before, progress })));
        set({ shown: { values, view }, failed: null, progress: null });
      } catch (failure) {
        const error = isCancelled(failure) ? null : messageOf(failure);
        set((before) => ({ ...before, failed: { values, error }, progress: null }));
      }
      // Ends the other runs of a view that has failed.
      run.abort();
    }
    busy.current = null;
  };

  useEffect(() => {
    wanted.current = values;
    if (busy.current === null) {
      void work();
      return undefined;
    }
    const { run, since } = busy.current;
    const timer = setTimeout(() => run.abort(), PATIENCE - (performance.now() - since));
    return () => clearTimeout(timer);
  }, [scene, JSON.stringify(values)]);

  const cancel = () => {
    wanted.current = null;
    busy.current?.run.abort();
  };
  useEffect(() => cancel, []);
  return [state, cancel];
}

/** The answer to the kept values. */
function useKept(engine: Engine, scene: Scene, kept: Values | null): Answer | null {
  const [answer, set] = useState<Answer | null>(null);
  useEffect(() => {
    if (kept === null) {
      set(null);
      return undefined;
    }
    const run = new AbortController();
    viewOf(engine, scene, kept, run.signal, () => {}).then(
      (view) => !run.signal.aborted && set({ values: kept, view, error: null }),
      (error) => !run.signal.aborted && set({ values: kept, view: null, error: messageOf(error) }),
    );
    return () => run.abort();
  }, [scene, JSON.stringify(kept)]);
  return answer;
}

function same(one: Values | null | undefined, other: Values | null | undefined): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}

interface Props {
  engine: Engine;
  scene: Scene;
  values: Values;
  kept: Values | null;
  /** The view for a first look: three settings, three figures, one chart. */
  first: boolean;
  /** Parts of the address that the page does not follow. */
  refused: readonly Refused[];
  /** Changes the values and the kept values, and with them the address. `refused` are those that stay on the page; default none. */
  go: (values: Values, kept: Values | null, refused?: readonly Refused[]) => void;
  edit: (toml: string) => void;
}

export function ScenePage({ engine, scene, values, kept: stored, first, refused, go, edit }: Props) {
  const kept = first ? null : stored;
  const [{ shown, failed, progress }, cancel] = useView(engine, scene, values);
  const answer = useKept(engine, scene, kept);
  /** The number of the open dialog, 0 for none. The event of a closed dialog may come after the click that opens the next one. */
  const [dialog, setDialog] = useState(0);
  const clock = useMemo(() => new Clock(), []);
  const view = shown?.view ?? null;
  const keptPanels = answer?.view?.panels ?? [];

  useEffect(() => () => clock.pause(), [clock]);
  if (view) clock.range(view.from ?? 0, view.seconds, view.start);

  const hasFailed = failed !== null && same(failed.values, values);
  const error = hasFailed && failed.error !== null ? failed.error : kept && answer?.error ? `A: ${answer.error}` : null;
  const current = (hasFailed || same(shown?.values, values)) && same(answer?.values, kept);
  const isOld = hasFailed && view !== null && !same(shown?.values, values);
  const judged = first ? undefined : view?.judged;
  const told = current && view && !hasFailed
    ? `Results: ${view.figures.slice(0, 2).map((figure) => `${figure.label} ${written(figure)}`).join("; ")}.${judged ? ` ${scene.claim!.id} ${inOneRun(judged, values)}.` : ""}`
    : "";
  const original = withSeed(defaults(scene), values);
  const chart = (panel: Panel) => <Chart key={panel.title} panel={panel} kept={keptPanels.find(({ title }) => title === panel.title)} clock={clock} />;
  const change = (changes: Values) => go({ ...values, ...changes }, stored, refused.filter(({ name, known }) => known && !(name in changes)));
  const file = fileName(scene, values);
  const toml = () => stringify(Object.values(scene.scenarios(values))[0]!);
  const preset = scene.presets.find((candidate) => Object.entries(candidate.values).every(([key, value]) => values[key] === value));
  return (
    <main class="scene" id="scene" tabIndex={-1}>
      <h1>{scene.title}</h1>
      <p class="question">
        {first ? scene.first.sentence : <><strong>Find out:</strong> {scene.question}</>}{" "}
        <a href={sceneFragment(scene, values, stored, !first)}>{first ? "All settings" : "Only three settings"}</a>
      </p>
      <div role="status">{refused.map(({ told }) => <p class="warning">{told}</p>)}</div>
      <div class="columns results" data-current={current}>
        <div class="top">
          <aside aria-label="Settings">
            {!first && (
              <div class="presets" role="group" aria-label="Presets">
                {scene.presets.map((candidate) => (
                  <button type="button" title={candidate.source} aria-pressed={candidate === preset} onClick={() => go({ ...original, ...candidate.values }, kept)}>{candidate.name}</button>
                ))}
                {preset && <p class="help">Source: {preset.source}.</p>}
              </div>
            )}
            <Controls
              parameters={first ? scene.parameters.filter(({ key, kind }) => kind === "seed" || scene.first.keys.includes(key)) : scene.parameters}
              values={values}
              change={(key, value) => change({ [key]: value })}
              group={first || !scene.claim ? null : {
                title: `Readings that decide ${scene.claim.id}`,
                verdict: <Verdict scene={scene} claim={scene.claim} values={values} judged={judged ?? null} shown={shown?.values ?? values} change={change} />,
              }}
            />
            <div class="actions">
              <button type="button" onClick={() => go(original, stored)}>Reset</button>
              <CopyButton text={() => address(sceneFragment(scene, values, stored, first))}>Copy link</CopyButton>
              {!first && <>
                {kept === null
                  ? <button type="button" onClick={() => go(values, values, refused)}>Keep as A</button>
                  : <button type="button" onClick={() => go(values, null, refused)}>Forget A</button>}
                {kept !== null && <button type="button" onClick={() => go(kept, values)}>Swap A and B</button>}
                <button type="button" onClick={() => setDialog(dialog + 1)}>Open as TOML</button>
                <button type="button" disabled={!view} onClick={() => view && saveText(`${file}.csv`, "text/csv", asCsv(view.panels, keptPanels))}>Data (CSV)</button>
                <button type="button" disabled={!view} onClick={() => view && saveCharts(`${file}.png`, scene.title, view.panels)}>Picture (PNG)</button>
              </>}
            </div>
            <FileHelp />
          </aside>
          <div class="head" aria-busy={progress !== null}>
            <Status error={error} progress={progress} cancel={cancel} note={isOld ? `${failed.error === null ? "Cancelled. " : ""}The results below are those of earlier settings.` : null} told={told} />
            {view && <>
              {chart(view.panels[0]!)}
              <Figures figures={view.figures} kept={answer?.view?.figures ?? null} first={first} />
            </>}
          </div>
        </div>
        <div class="rest">
          {view?.notes?.map((note) => <p class="note">{note}</p>)}
          <Exercise scene={scene.id} seed={String(original.seed)} all={first ? sceneFragment(scene, values, stored, false) : null} />
          <details>
            <summary>Explanation</summary>
            {scene.explanation.map((paragraph) => <p>{paragraph}</p>)}
            <ul>{scene.pages.map(({ title, path }) => <li><a href={pageAddress(path)} target="_blank" rel="noopener">{title}</a></li>)}</ul>
          </details>
          {view && <>
            {view.chooser?.(values, change)}
            {view.seconds > 0 && <Player clock={clock} picture={view.picture} />}
            {!first && view.panels.slice(1).map(chart)}
          </>}
        </div>
      </div>
      {dialog > 0 && <TomlDialog key={dialog} name={scene.id} toml={toml()} open={edit} close={() => setDialog((now) => (now === dialog ? 0 : now))} />}
    </main>
  );
}
