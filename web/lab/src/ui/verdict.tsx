/** The verdict of a run on the scene's claim, or the settings that a verdict needs. */

import { claimOf, verdictOf } from "../lib/claims";
import { type Claim, type Judgement, type Parameter, type Scene, seedOf, strays, type Value, type Values } from "../scenes/scene";

/** The verdict in words: one run decides nothing for other seeds. */
export function inOneRun(judged: Judgement, values: Values): string {
  return `${verdictOf(judged.parts)} in this run (seed ${seedOf(values)})`;
}

function named(parameter: Parameter, value: Value): string {
  if (parameter.kind === "choice") return `${parameter.label}: ${parameter.options.find((option) => option.value === value)!.label}`;
  if (parameter.kind === "switch") return `${parameter.label}: ${value ? "on" : "off"}`;
  return `${parameter.label}: ${value}${parameter.kind === "slider" && parameter.unit ? ` ${parameter.unit}` : ""}`;
}

interface Props {
  scene: Scene;
  claim: Claim;
  values: Values;
  /** The judgement of the shown run, and its values. */
  judged: Judgement | null;
  shown: Values;
  change: (changes: Values) => void;
}

export function Verdict({ scene, claim, values, judged, shown, change }: Props) {
  const { paper, statement } = claimOf(claim.id);
  const others = strays(claim, values);
  const needed: Values = Object.fromEntries(others.map((key) => [key, claim.at[key]![0]]));
  const set = (event: MouseEvent) => {
    // The button vanishes, and the focus with it.
    (event.currentTarget as Element).closest<HTMLElement>(".verdict")!.focus({ preventScroll: true });
    change(needed);
  };
  const verdict = judged && verdictOf(judged.parts).replace("holds partly", "partly");
  return (
    <div class="verdict" tabIndex={-1}>
      <p><strong>{claim.id}</strong>: {statement}</p>
      {others.length > 0 && <>
        <p class="help">A verdict needs {scene.parameters.filter(({ key }) => key in needed).map((parameter) => named(parameter, needed[parameter.key]!)).join("; ")}.</p>
        <button type="button" onClick={set}>Set these</button>
      </>}
      {others.length === 0 && judged && <>
        <p>Here: {judged.found}: <strong class={verdict!}>{inOneRun(judged, shown)}</strong>.</p>
        <p class="help">Rule: {judged.rule}. One run of one seed; <code>netlull reproduce {paper}</code> judges the claim by all of its runs.</p>
      </>}
    </div>
  );
}
