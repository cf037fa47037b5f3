/** Free form: a scenario in TOML, typed, pasted or dropped. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Engine } from "../engine/engine";
import { isCancelled } from "../engine/module";
import { freeView, POINTS } from "../lib/free";
import { Clock } from "../lib/clock";
import { messageOf, simulated } from "../lib/run";
import { asCsv, saveText } from "../lib/save";
import { address, freeFragment, LARGEST } from "../lib/share";
import type { Run } from "../scenes/scene";
import { Chart, saveCharts } from "./chart";
import { CopyButton, FileHelp } from "./dialog";
import { Player } from "./player";
import { Status } from "./status";

/** Shipped scenarios by name, put in by the build. */
declare const SHIPPED: Record<string, string>;
/** Networks that a scenario may name, put in by the build: texts in TOML by the names of their files. */
declare const NETWORKS: Record<string, string>;

/** The text of the editor, while the page shows a scene. */
let draft: string | null = null;

/** The text of a file, with the line ends of the editor. Throws an error if it cannot be a scenario. */
async function textOf(file: File): Promise<string> {
  if (file.size > LARGEST) throw new Error(`${file.name}: has ${file.size} bytes; expected at most ${LARGEST}`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()).replace(/\r\n?/g, "\n");
  } catch {
    throw new Error(`${file.name}: is not text in UTF-8; expected a scenario in TOML`);
  }
}

/** A place in a text; both numbers begin at 1, and a column is a character. */
interface Place {
  line: number;
  column: number;
}

/** The place that an error of the simulator names. */
function placeOf(error: string | null): Place | null {
  const found = /^scenario, line (\d+), column (\d+): /.exec(error ?? "");
  return found && { line: Number(found[1]), column: Number(found[2]) };
}

interface Props {
  engine: Engine;
  /** The scenario of the address. */
  toml: string | null;
  /** True if the address holds a scenario that cannot be read. */
  damaged: boolean;
  go: (toml: string) => void;
}

export function FreePage({ engine, toml, damaged, go }: Props) {
  const [text, setText] = useState(toml ?? draft ?? SHIPPED["tcp-duel"] ?? "");
  /** The newest run, and its text. */
  const [shown, setShown] = useState<{ run: Run; text: string } | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(damaged ? "The link is damaged or too long: its scenario cannot be read. The text is that of another scenario." : null);
  const [note, setNote] = useState<string | null>(null);
  const [progress, setProgress] = useState<number | null>(null);
  const [link, setLink] = useState("");
  const clock = useMemo(() => new Clock(), []);
  const busy = useRef<AbortController | null>(null);
  const editor = useRef<HTMLTextAreaElement>(null);
  const [scroll, setScroll] = useState(0);
  draft = text;

  const simulate = async (text: string) => {
    busy.current?.abort();
    const own = new AbortController();
    busy.current = own;
    setError(null);
    setNote(null);
    setProgress(0);
    go(text);
    try {
      const run = await simulated(engine, { toml: text, networks: NETWORKS, points: POINTS }, own.signal, setProgress);
      if (busy.current === own) setShown({ run, text });
    } catch (failure) {
      if (busy.current !== own) return;
      if (isCancelled(failure)) setNote("Cancelled.");
      else {
        setError(messageOf(failure));
        setFailed(text);
      }
    }
    if (busy.current === own) setProgress(null);
  };
  useEffect(() => {
    if (toml !== null) void simulate(toml);
    return () => {
      clock.pause();
      busy.current?.abort();
      busy.current = null;
    };
  }, []);

  const take = async (file: File | undefined) => {
    if (!file) return;
    try {
      setText(await textOf(file));
      setError(null);
    } catch (failure) {
      setError(messageOf(failure));
    }
  };
  const run = shown?.run ?? null;
  const view = useMemo(() => run && freeView(run, link), [run, link]);
  if (view) clock.range(0, view.seconds);
  const isCurrent = shown?.text === text && progress === null && error === null;
  // The place belongs to the text that has failed.
  const wrong = failed === text ? placeOf(error) : null;
  useEffect(() => {
    const area = editor.current;
    if (!wrong || !area) return;
    const line = parseFloat(getComputedStyle(area).lineHeight);
    const top = (wrong.line - 1) * line;
    if (top < area.scrollTop || top + 2 * line > area.scrollTop + area.clientHeight) area.scrollTop = top - area.clientHeight / 2;
  }, [wrong?.line]);
  const select = ({ line, column }: Place) => {
    const lines = text.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    const wrong = lines[line - 1] ?? "";
    const before = [...wrong].slice(0, column - 1).join("");
    editor.current?.focus();
    editor.current?.setSelectionRange(start + before.length, start + wrong.length);
  };
  const columns = view?.table.columns ?? [];
  return (
    <main
      class="scene" id="scene" tabIndex={-1}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        // Without this, the browser leaves the page for a file that was dropped next to the text.
        if (!event.dataTransfer?.files.length) return;
        event.preventDefault();
        void take(event.dataTransfer.files[0]);
      }}
    >
      <h1>Your own scenario</h1>
      <p class="question">Write a scenario in TOML, drop a file, or start from a shipped one. The page runs it as <code>netlull run</code> does, with the same summary to the byte.</p>
      <div class="columns free">
        <aside aria-label="Scenario">
          <label>
            Shipped scenario
            <select value="" onChange={(event) => setText(SHIPPED[event.currentTarget.value] ?? text)}>
              <option value="">choose one</option>
              {Object.keys(SHIPPED).map((name) => <option value={name}>{name}</option>)}
            </select>
          </label>
          <div class="editor">
            <textarea
              ref={editor} value={text} rows={26} wrap="off" spellcheck={false} aria-label="Scenario in TOML" aria-invalid={wrong !== null}
              onInput={(event) => setText(event.currentTarget.value)}
              onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
              onKeyDown={(event) => {
                if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void simulate(text);
              }}
            />
            {wrong && <div class="wrong" style={{ top: `calc(.5rem + 1px + ${wrong.line - 1} * 1.4em - ${scroll}px)` }} />}
          </div>
          <div class="actions">
            <button type="button" class="primary" onClick={() => void simulate(text)}>Run (Ctrl+Enter)</button>
            <label class="file">Open a file <input type="file" accept=".toml" onChange={(event) => {
                const input = event.currentTarget;
                // The same file can be chosen again.
                void take(input.files?.[0]).then(() => { input.value = ""; });
              }} /></label>
            <CopyButton text={() => freeFragment(text).then(address)}>Copy link</CopyButton>
            <button type="button" onClick={() => saveText("scenario.toml", "application/toml", text)}>Save TOML</button>
            <button type="button" disabled={!run} onClick={() => run && saveText("summary.json", "application/json", run.summary)}>Summary (JSON)</button>
            <button type="button" disabled={!view} onClick={() => view && saveText("scenario.csv", "text/csv", asCsv(view.panels))}>Data (CSV)</button>
            <button type="button" disabled={!view} onClick={() => view && saveCharts("scenario.png", run?.read.name ?? "", view.panels)}>Picture (PNG)</button>
          </div>
          <FileHelp />
          <p class="help">Run it on your machine: <code>netlull run scenario.toml</code></p>
        </aside>
        <div class="results" aria-busy={progress !== null} data-current={isCurrent}>
          <Status
            error={error} way={wrong && <p><button type="button" onClick={() => select(wrong)}>Go to line {wrong.line}</button></p>} progress={progress} cancel={() => busy.current?.abort()} told={isCurrent ? "The run is complete." : ""}
            note={view && !isCurrent && progress === null ? `${note ?? ""} The results below are those of an earlier text.` : note}
          />
          {run?.warnings.map((warning) => <p class="warning">{warning}</p>)}
          {view && <>
            <label>
              Link in the charts
              <select value={view.link} onChange={(event) => setLink(event.currentTarget.value)}>
                {view.links.map((name) => <option value={name} selected={name === view.link}>{name}</option>)}
              </select>
            </label>
            {view.panels.slice(0, 1).map((panel) => <Chart key={panel.title} panel={panel} clock={clock} />)}
            <div class="scroll" tabIndex={0} role="region" aria-label="Links and flows">
              <table class="figures">
                <thead><tr>{columns.map((column) => <th scope="col">{column}</th>)}</tr></thead>
                <tbody>{view.table.rows.map((row) => <tr>{row.map((cell, i) => (i === 0 ? <th scope="row">{cell}</th> : <td>{cell}</td>))}</tr>)}</tbody>
              </table>
            </div>
            {view.seconds > 0 && <Player clock={clock} />}
            {view.panels.slice(1).map((panel) => <Chart key={panel.title} panel={panel} clock={clock} />)}
          </>}
        </div>
      </div>
    </main>
  );
}
