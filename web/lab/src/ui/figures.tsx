/** The numbers that sum up a run, next to those of the kept result A. */

import { useState } from "preact/hooks";
import type { Figure } from "../scenes/scene";

/** Figures of a first look. A phone shows as many until the reader asks for all. */
const FIRST = 3;

export function written(value: number | null, digits: number, unit: string): string {
  return value === null || !Number.isFinite(value) ? "none" : `${rounded(value, digits).replace("-", "−")} ${unit}`;
}

/** Decimal digits. A number that rounds to zero has no sign. */
function rounded(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

/** The unit of a difference: per cent minus per cent are percentage points. */
function unitOfChange(unit: string): string {
  return unit === "%" ? "points" : unit;
}

export function Figures({ figures, kept, first }: { figures: readonly Figure[]; kept: readonly Figure[] | null; first: boolean }) {
  const [all, show] = useState(false);
  return (
    <div class={all ? "numbers all" : "numbers"}>
    <table class="figures">
      <caption class="hidden">Results of the run</caption>
      {kept && (
        <thead>
          <tr><th scope="col">Result</th><th scope="col">A</th><th scope="col">B, now</th><th scope="col">B minus A</th></tr>
        </thead>
      )}
      <tbody>
        {figures.slice(0, first ? FIRST : undefined).map(({ label, value, unit, digits, help }) => {
          const other = kept?.find((figure) => figure.label === label);
          const change = other && other.value !== null && value !== null ? value - other.value : null;
          return (
            <tr>
              <th scope="row" title={help}>{label}</th>
              {kept && <td>{written(other?.value ?? null, digits, unit)}</td>}
              <td>{written(value, digits, unit)}</td>
              {kept && <td>{change === null ? "" : `${Number(rounded(change, digits)) > 0 ? "+" : ""}${written(change, digits, unitOfChange(unit))}`}</td>}
            </tr>
          );
        })}
      </tbody>
    </table>
    {!first && <button type="button" class="more" aria-expanded={all} onClick={() => show(!all)}>{all ? "Fewer numbers" : "All numbers"}</button>}
    </div>
  );
}
