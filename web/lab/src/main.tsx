/** The start of the page: unpacks the simulator, starts its workers, and draws the page. */

import { render } from "preact";
import { App } from "./app";
import { Engine } from "./engine/engine";

/** The worker's script, put in by the build. */
declare const WORKER: string;

async function unpacked(base64: string): Promise<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function start(): Promise<void> {
  const page = document.getElementById("page")!;
  try {
    const packed = document.getElementById("simulator")!.textContent!.trim();
    const module = await WebAssembly.compile(await unpacked(packed));
    const worker = URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
    page.replaceChildren();
    render(<App engine={new Engine(module, worker)} />, page);
  } catch (error) {
    page.textContent = `The lab needs a browser of 2023 or later (WebAssembly, compression streams, workers): ${String(error)}`;
  }
}

void start();
