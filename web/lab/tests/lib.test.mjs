/** Modules without a page: `node --test lib.test.mjs`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { imported } from "./imported.mjs";

const { points, inWords } = await imported("../src/lib/curves.ts");
const { asCsv } = await imported("../src/lib/save.ts");
const { fileName, seedOf, strays } = await imported("../src/scenes/scene.ts");
const { written, writtenChange } = await imported("../src/ui/figures.tsx");
const { verdictOf } = await imported("../src/lib/claims.ts");
const { packed, unpacked, LARGEST } = await imported("../src/lib/share.ts");

test("a thinned curve keeps its peaks next to gaps", () => {
  const x = Array.from({ length: 20_000 }, (_, i) => i);
  // Every group of neighbours begins with a gap, and has one peak.
  const y = x.map((i) => (i % 10 === 0 ? NaN : i % 10 === 5 ? i : 0));
  const found = points({ x, y });
  assert.ok(found.x.length <= 4000);
  assert.equal(Math.max(...found.y.filter((value) => value !== null)), 19_995);
  assert.equal(found.y.filter((value) => value !== null && value > 0).length, 2000);
  assert.deepEqual(points({ x: [0, 1], y: [NaN, 2] }), { x: [0, 1], y: [null, 2] });
});

test("words on a chart have the curves of A", () => {
  const panel = (value) => ({ title: "Queue", x: "time (s)", y: "packets", timed: true, series: [{ label: "queue", kind: "line", x: [0, 1], y: [0, value] }] });
  assert.equal(inWords(panel(3), panel(5)), "Queue. queue (B): 0 to 3 packets, at the end 3; queue (A): 0 to 5 packets, at the end 5.");
});

test("a table of points has no point without a value, one of a line keeps its gaps", () => {
  const panel = (kind) => ({ title: "T", x: "x", y: "y", timed: false, series: [{ label: "a", kind, x: [1, 2, 3], y: [4, NaN, 6] }] });
  assert.deepEqual(asCsv([panel("points")]).trim().split("\r\n").slice(1), ["T,a,1,4,x,y", "T,a,3,6,x,y"]);
  assert.equal(asCsv([panel("line")]).trim().split("\r\n")[2], "T,a,2,,x,y");
});

test("a change has a sign, and B minus A is the difference of the shown numbers", () => {
  const figure = (value, more = {}) => ({ label: "f", value, digits: 1, unit: "%", ...more });
  assert.deepEqual([22.46, -22.46, 0.04, -0.04, null].map((value) => written(figure(value, { signed: true }))), ["+22.5 %", "−22.5 %", "0.0 %", "0.0 %", "none"]);
  assert.equal(written(figure(22.46)), "22.5 %");
  // 1.2 and 1.3 on the page.
  assert.equal(writtenChange(figure(1.26), figure(1.24)), "+0.1 points");
  assert.equal(writtenChange(figure(1.34), figure(1.26)), "0.0 points");
  assert.equal(writtenChange(figure(1, { unit: "ms" }), figure(3, { unit: "ms" })), "−2.0 ms");
  assert.equal(writtenChange(figure(1), figure(null)), "");
});

test("a file of results is named by its scene and its name or seed", () => {
  for (const [seed, name] of [["1", "duel-1"], ["Zoë", "duel-Zoë"], ["../a b: c", "duel--a-b-c"]]) assert.equal(fileName({ id: "duel" }, { seed }), name);
});

test("a name gives the seed that zlib.crc32 gives in Python, a number itself", () => {
  for (const [seed, wanted] of [["1", 1], [" 007 ", 7], ["zoë", 3349081364], [" ZOË ", 3349081364], ["zoe\u0308", 3349081364], ["3349081364", 3349081364], ["1234567890123456", 509595063]]) assert.equal(seedOf({ seed }), wanted, seed);
});

test("a claim holds with all of its parts, and is judged at its settings only", () => {
  const parts = [[true, true], [true, false], [false, true], [false]];
  assert.deepEqual(parts.map(verdictOf), ["holds", "holds partly", "holds partly", "fails"]);
  const claim = { id: "T2", at: { rtt: [50, 36], bursts: [false] } };
  assert.deepEqual(strays(claim, { rtt: 36, bursts: false, buffer: 1 }), []);
  assert.deepEqual(strays(claim, { rtt: 35, bursts: true }), ["rtt", "bursts"]);
});

test("an address holds any text, and unpacks to no more than the largest", async () => {
  const text = "name = \"\u{1f680} Zoë\"\n".repeat(1000);
  assert.equal(await unpacked(await packed(text)), text);
  const bomb = deflateRawSync(Buffer.alloc(64 * LARGEST)).toString("base64url");
  assert.ok(bomb.length < LARGEST / 10);
  assert.equal(await unpacked(bomb), null);
  for (const damaged of ["AAAA", "%", "ä", bomb.slice(0, 100)]) assert.equal(await unpacked(damaged), null);
});
