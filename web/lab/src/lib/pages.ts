/** Pages of the documentation. */

/** Their address in Markdown, put in by the build. */
declare const PAGES: string;

/** The address of a page, by its path in docs/. The site has its pages next to its copy of the lab; other copies know the project's address only. */
export function pageAddress(path: string): string {
  const { docs } = document.documentElement.dataset;
  const isSite = docs !== undefined && /\/lab\/(index\.html)?$/.test(location.pathname);
  return isSite ? `${docs}${path}.html` : `${PAGES}${path}.md`;
}
