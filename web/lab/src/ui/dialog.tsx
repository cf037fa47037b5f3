/** Texts to take away: the scenario as TOML with the command that runs it, and the page's address. */

import { useEffect, useRef, useState } from "preact/hooks";
import { saveText } from "../lib/save";

/** Copies a text. Returns false where the browser forbids it. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export function CopyButton({ text, children }: { text: () => string | Promise<string>; children: string }) {
  const [state, set] = useState("");
  const copy = async () => {
    set((await copied(await text())) ? "Copied" : "The browser does not allow copying");
    setTimeout(() => set(""), 2500);
  };
  return <button type="button" onClick={() => void copy()}><span aria-live="polite">{state || children}</span></button>;
}

/** What to send: others cannot open the address of a file. */
export function FileHelp() {
  if (location.protocol !== "file:") return null;
  return <p class="help">This page is a file. For others, send the file and the part of the link from # on. They add it to the address of their copy.</p>;
}

export function TomlDialog({ name, toml, open, close }: { name: string; toml: string; open: (toml: string) => void; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const command = `netlull run ${name}.toml`;
  return (
    <dialog ref={dialog} onClose={close} aria-label="The scenario as TOML">
      <h2>The scenario as TOML</h2>
      <p>Save it as <code>{name}.toml</code> and run it on your machine:</p>
      <pre class="command">{command}</pre>
      <textarea readOnly value={toml} aria-label="Scenario" rows={18} />
      <div class="bar">
        <button type="button" onClick={() => saveText(`${name}.toml`, "application/toml", toml)}>Download</button>
        <CopyButton text={() => toml}>Copy</CopyButton>
        <button type="button" onClick={() => open(toml)}>Edit here</button>
        <button type="button" onClick={() => dialog.current?.close()}>Close</button>
      </div>
    </dialog>
  );
}
