/** The numbers that sum up a run, next to those of the kept result A. */

import type { Figure } from "../scenes/scene";

export function written(value: number | null, digits: number, unit: string): string {
  return value === null || !Number.isFinite(value) ? "none" : `${value.toFixed(digits).replace("-", "−")} ${unit}`;
}

export function Figures({ figures, kept }: { figures: readonly Figure[]; kept: readonly Figure[] | null }) {
  return (
    <table class="figures">
      <caption class="hidden">Results of the run</caption>
      {kept && (
        <thead>
          <tr><th scope="col">Result</th><th scope="col">A</th><th scope="col">B, now</th><th scope="col">B minus A</th></tr>
        </thead>
      )}
      <tbody>
        {figures.map(({ label, value, unit, digits, help }) => {
          const other = kept?.find((figure) => figure.label === label);
          const change = other && other.value !== null && value !== null ? value - other.value : null;
          return (
            <tr>
              <th scope="row" title={help}>{label}</th>
              {kept && <td>{written(other?.value ?? null, digits, unit)}</td>}
              <td>{written(value, digits, unit)}</td>
              {kept && <td>{change === null ? "" : `${change > 0 ? "+" : ""}${written(change, digits, unit)}`}</td>}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
