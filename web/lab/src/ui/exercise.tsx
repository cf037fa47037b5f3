/** The exercise of a scene: its page in docs/teaching, with the answers folded. */

import { pageAddress } from "../lib/pages";

interface Text {
  scene: string;
  title: string;
  /** HTML. Links into the lab are fragments, links to pages begin with `page:`. */
  questions: string;
  answers: string;
}

declare const EXERCISES: readonly Text[];

/** The text with its links. Settings without a seed of their own take the reader's. */
function linked(html: string, seed: string): string {
  const own = `&amp;seed=${encodeURIComponent(seed)}`;
  return html
    .replace(/href="page:([^"]*)"/g, (_, path: string) => `href="${pageAddress(path)}"`)
    .replace(/href="(#scene=[^"]*)"/g, (link, fragment: string) => (fragment.includes("seed=") ? link : `href="${fragment}${own}"`));
}

export function Exercise({ scene, seed }: { scene: string; seed: string }) {
  const found = EXERCISES.find((text) => text.scene === scene);
  if (!found) return null;
  const html = (text: string) => ({ __html: linked(text, seed) });
  return (
    <details class="exercise">
      <summary>{found.title}</summary>
      <div dangerouslySetInnerHTML={html(found.questions)} />
      <details>
        <summary>Answers</summary>
        <div class="answers" tabIndex={0} role="region" aria-label="Answers" dangerouslySetInnerHTML={html(found.answers)} />
      </details>
    </details>
  );
}
