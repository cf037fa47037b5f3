/** The numbers that sum up a run, next to those of the kept result A. */

import { useState } from "preact/hooks";
import type { Figure } from "../scenes/scene";

/** Figures of a first look. A phone shows as many until the reader asks for all. */
const FIRST = 3;

export function written({ value, digits, unit, signed }: Omit<Figure, "label">): string {
  if (value === null || !Number.isFinite(value)) return "none";
  const text = rounded(value, digits);
  return `${signed && Number(text) > 0 ? "+" : ""}${text.replace("-", "−")} ${unit}`;
}

/** B minus A, as the rounded numbers give it. */
export function writtenChange(b: Figure, a: Figure): string {
  if (a.value === null || b.value === null) return "";
  const value = Number(rounded(b.value, b.digits)) - Number(rounded(a.value, b.digits));
  return written({ value, digits: b.digits, unit: unitOfChange(b.unit), signed: true });
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
        {figures.slice(0, first ? FIRST : undefined).map((figure) => {
          const { label, help } = figure;
          const other = kept?.find((candidate) => candidate.label === label);
          return (
            <tr>
              <th scope="row" title={help}>{label}</th>
              {kept && <td>{written({ ...figure, value: other?.value ?? null })}</td>}
              <td>{written(figure)}</td>
              {kept && <td>{other && writtenChange(figure, other)}</td>}
            </tr>
          );
        })}
      </tbody>
    </table>
    {!first && <button type="button" class="more" aria-expanded={all} onClick={() => show(!all)}>{all ? "Fewer numbers" : "All numbers"}</button>}
    </div>
  );
}
