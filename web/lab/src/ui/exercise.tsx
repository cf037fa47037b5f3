/** The exercise of a scene: its page in docs/teaching, with the answers folded. */

import { pageAddress } from "../lib/pages";

interface Text {
  scene: string;
  title: string;
  /** HTML. Links into the lab are fragments, links to pages begin with `page:`. */
  questions: string;
}

declare const EXERCISES: readonly Text[];

/** The answers by scene, as HTML like the questions. `netlull lab --no-answers` leaves them out. */
function answersOf(scene: string): string | undefined {
  const answers = JSON.parse(document.getElementById("answers")!.textContent!) as Record<string, string>;
  return answers[scene];
}

/** The text with its links. Settings without a seed of their own take the reader's. Pages open next to the lab. */
function linked(html: string, seed: string): string {
  const own = `&amp;seed=${encodeURIComponent(seed)}`;
  return html
    .replace(/href="page:([^"]*)"/g, (_, path: string) => `href="${pageAddress(path)}" target="_blank" rel="noopener"`)
    .replace(/href="(#scene=[^"]*)"/g, (link, fragment: string) => (fragment.includes("seed=") ? link : `href="${fragment}${own}"`));
}

/** Shows the results after a click on a setting. The text is far below them. */
function follow(event: MouseEvent): void {
  const isSetting = (event.target as Element).closest('a[href^="#scene="]') !== null;
  if (!isSetting || event.ctrlKey || event.metaKey || event.shiftKey) return;
  scrollBy(0, document.querySelector(".results")!.getBoundingClientRect().top);
}

/** `all` is the address of all settings, where the page shows only some. */
export function Exercise({ scene, seed, all }: { scene: string; seed: string; all: string | null }) {
  const found = EXERCISES.find((text) => text.scene === scene);
  if (!found) return null;
  const html = (text: string) => ({ __html: linked(text, seed) });
  const answers = answersOf(scene);
  return (
    <details class="exercise" onClick={follow}>
      <summary>{found.title}</summary>
      {all && <p>The exercise needs <a href={all}>all settings</a>.</p>}
      <div dangerouslySetInnerHTML={html(found.questions)} />
      {answers && (
        <details>
          <summary>Answers</summary>
          <p>The numbers are those of seed 1, unless a row names another seed. With another name or seed, yours differ.</p>
          <div class="answers" tabIndex={0} role="region" aria-label="Answers" dangerouslySetInnerHTML={html(answers)} />
        </details>
      )}
    </details>
  );
}
