/** Addresses: the fragment of the page's address holds the scene with all values, or a scenario as compressed TOML. */

import { defaults, LONGEST_NAME, type Parameter, type Scene, type Value, type Values } from "../scenes/scene";

export type Route =
  /** `first`: the view for a first look. */
  | { kind: "scene"; scene: Scene; values: Values; kept: Values | null; first: boolean; refused: readonly Refused[] }
  /** `damaged`: the address holds a scenario that cannot be read. */
  | { kind: "free"; toml: string | null; damaged: boolean };

/** A part of an address that the page does not follow. */
export interface Refused {
  /** The name in the address. */
  name: string;
  /** True if the name is that of a setting. */
  known: boolean;
  /** A sentence. */
  told: string;
}

/** The largest scenario of an address or a file, in bytes. */
export const LARGEST = 2 ** 20;

const FREE = "free";
const KEPT = "a.";
const VIEW = "view";
const FIRST = "first";

function valid(parameter: Parameter, given: string): Value | null {
  if (parameter.kind === "switch") return given === "true" ? true : given === "false" ? false : null;
  if (parameter.kind === "seed") return [...given.trim()].slice(0, LONGEST_NAME).join("") || null;
  if (parameter.kind === "choice") return parameter.options.some(({ value }) => value === given) ? given : null;
  const stop = parameter.stops.indexOf(Number(given));
  return given === "" || stop < 0 ? null : parameter.stops[stop]!;
}

/** The values of a setting in addresses. */
export function offered(parameter: Parameter): string[] {
  if (parameter.kind === "slider") return parameter.stops.map(String);
  if (parameter.kind === "choice") return parameter.options.map(({ value }) => value);
  return parameter.kind === "switch" ? ["false", "true"] : [`a number or a name of at most ${LONGEST_NAME} characters`];
}

/** Reads the settings behind a prefix. Values that are not offered are left at their defaults. */
function read(scene: Scene, given: URLSearchParams, prefix: string): { values: Values; refused: Refused[] } {
  const values = defaults(scene), refused: Refused[] = [];
  for (const parameter of scene.parameters) {
    const name = prefix + parameter.key, wanted = given.get(name);
    if (wanted === null) continue;
    const value = valid(parameter, wanted);
    if (value !== null) values[parameter.key] = value;
    if (value === null || (parameter.kind === "seed" && value !== wanted.trim())) {
      const unit = parameter.kind === "slider" && parameter.unit ? ` (${parameter.unit}, without the unit)` : "";
      refused.push({ name, known: true, told: `The link asks for ${name}=${wanted}, which is not offered. “${parameter.label}” is ${values[parameter.key]}. Offered${unit}: ${offered(parameter).join(", ")}.` });
    }
  }
  return { values, refused };
}

/** Reads a fragment. Unknown names and values that are not offered are left at their defaults, and `refused` has a sentence on each. */
export async function readRoute(fragment: string, scenes: readonly Scene[]): Promise<Route> {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const name = given.get("scene");
  if (name === FREE) {
    const packed = given.get("toml");
    const toml = packed === null ? null : await unpacked(packed);
    return { kind: "free", toml, damaged: packed !== null && toml === null };
  }
  const found = scenes.find(({ id }) => id === name), scene = found ?? scenes[0]!;
  if (name !== null && !found) {
    const told = `The link asks for scene=${name}, which is not offered. The scene is ${scene.id} with its defaults. Offered: ${[...scenes.map(({ id }) => id), FREE].join(", ")}.`;
    return { kind: "scene", scene, values: defaults(scene), kept: null, first: false, refused: [{ name: "scene", known: false, told }] };
  }
  const compared = [...given.keys()].some((key) => key.startsWith(KEPT));
  // An address without a scene is that of a newcomer.
  const first = given.get(VIEW) === FIRST || name === null;
  const own = read(scene, given, ""), kept = compared ? read(scene, given, KEPT) : null;
  const keys = scene.parameters.map(({ key }) => key);
  const names = new Set(["scene", VIEW, ...keys, ...keys.map((key) => KEPT + key)]);
  const unknown = [...new Set(given.keys())].filter((key) => !names.has(key)).map((key): Refused => ({ name: key, known: false, told: `The link asks for ${key}=${given.get(key)}, but scene ${scene.id} has no setting ${key}. Its settings: ${keys.join(", ")}.` }));
  const view = given.get(VIEW);
  if (view !== null && view !== FIRST) unknown.push({ name: VIEW, known: false, told: `The link asks for ${VIEW}=${view}, which is not offered. The page shows all settings. Offered: ${FIRST}.` });
  return { kind: "scene", scene, values: own.values, kept: kept?.values ?? null, first, refused: [...own.refused, ...(kept?.refused ?? []), ...unknown] };
}

/** The fragment of a scene with its values, those of the kept result, and the view. */
export function sceneFragment(scene: Scene, values: Values, kept: Values | null, first: boolean): string {
  const given = new URLSearchParams({ scene: scene.id, ...(first ? { [VIEW]: FIRST } : {}) });
  for (const { key } of scene.parameters) given.set(key, String(values[key]));
  if (kept) for (const { key } of scene.parameters) given.set(KEPT + key, String(kept[key]));
  return `#${given}`;
}

/** The fragment of a scenario in TOML, without the scenario if it is too large for an address. */
export async function freeFragment(toml: string): Promise<string> {
  const isLarge = new TextEncoder().encode(toml).length > LARGEST;
  return isLarge ? `#scene=${FREE}` : `#scene=${FREE}&toml=${await packed(toml)}`;
}

/** The page's address with a fragment. */
export function address(fragment: string): string {
  return location.href.replace(/#.*$/s, "") + fragment;
}

/** The bytes after a transformation. Throws an error if there are more than `most`: a short text can unpack to gigabytes. */
async function through(bytes: Uint8Array<ArrayBuffer>, stream: GenericTransformStream, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const parts: BlobPart[] = [];
  let length = 0;
  const reader = (new Blob([bytes]).stream().pipeThrough(stream) as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    length += read.value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error(`more than ${most} bytes`);
    }
    parts.push(read.value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** A text, compressed (raw deflate, RFC 1951) and in base64url (RFC 4648, section 5), without padding. */
export async function packed(text: string): Promise<string> {
  const bytes = await through(new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>, new CompressionStream("deflate-raw"), Infinity);
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The text of `packed`, or null if it is damaged or longer than `LARGEST`. */
export async function unpacked(text: string): Promise<string | null> {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(await through(bytes, new DecompressionStream("deflate-raw"), LARGEST));
  } catch {
    return null;
  }
}
