/** The claims of papers that the scenes judge, from the papers' claims.toml, put in by the build (tools/lab_data.py). */

interface Listed {
  /** The key of the paper. */
  paper: string;
  statement: string;
  tolerance: Record<string, number>;
}

export type ClaimId = "T2" | "I6" | "C7";

declare const CLAIMS: Record<ClaimId, Listed>;

export function claimOf(id: ClaimId): Listed {
  return CLAIMS[id];
}

/** A number of a claim's tolerance. */
export function bound(id: ClaimId, name: string): number {
  const found = CLAIMS[id].tolerance[name];
  if (found === undefined) throw new Error(`claim ${id} has no tolerance ${name}`);
  return found;
}

/** The verdict on a claim whose parts hold or do not, as in `netlull reproduce`. */
export function verdictOf(parts: readonly boolean[]): "holds" | "holds partly" | "fails" {
  if (parts.every((part) => part)) return "holds";
  return parts.some((part) => part) ? "holds partly" : "fails";
}
