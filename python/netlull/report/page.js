/* What every report has: light and dark, tables that can be sorted and filtered. */
"use strict";
(() => {
  const root = document.documentElement;
  const bar = document.getElementById("theme");
  const order = ["auto", "light", "dark"];
  const remembered = (value) => {
    try {
      if (value === undefined) return localStorage.getItem("netlull-theme");
      localStorage.setItem("netlull-theme", value);
    } catch { /* a page from disk may not remember */ }
    return value;
  };
  const show = (name) => {
    if (name === "auto") delete root.dataset.theme;
    else root.dataset.theme = name;
    bar.textContent = `Theme: ${name}`;
    document.dispatchEvent(new Event("netlull-theme"));
  };
  let theme = order.includes(remembered()) ? remembered() : "auto";
  show(theme);
  bar.hidden = false;
  bar.addEventListener("click", () => {
    theme = order[(order.indexOf(theme) + 1) % order.length];
    remembered(theme);
    show(theme);
  });

  const number = (text) => {
    const found = /^[−-]?[\d,]*\.?\d+(e[+-]?\d+)?/i.exec(text.trim());
    return found ? parseFloat(found[0].replace(/,/g, "").replace("−", "-")) : NaN;
  };
  function sortable(table) {
    const body = table.tBodies[0];
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...body.rows].map((row) => [row, row.cells[column].textContent]);
        const numbers = rows.every(([, text]) => !Number.isNaN(number(text)) || text === "" || text === "none");
        rows.sort(([, a], [, b]) => {
          if (!numbers) return (down ? -1 : 1) * a.localeCompare(b, "en", { numeric: true });
          const [left, right] = [number(a), number(b)];
          if (Number.isNaN(left) || Number.isNaN(right)) return Number.isNaN(left) - Number.isNaN(right);
          return (down ? -1 : 1) * (left - right);
        });
        body.append(...rows.map(([row]) => row));
      });
    });
    const filter = document.createElement("input");
    filter.type = "search";
    filter.placeholder = "Filter rows: every word must occur";
    filter.setAttribute("aria-label", `Filter rows of the table: ${table.caption ? table.caption.textContent : ""}`);
    const said = document.createElement("span");
    said.className = "dim";
    said.setAttribute("aria-live", "polite");
    filter.addEventListener("input", () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of body.rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        shown += row.hidden ? 0 : 1;
      }
      said.textContent = words.length ? ` ${shown} of ${body.rows.length} rows` : "";
    });
    const line = document.createElement("p");
    line.className = "filter";
    line.append(filter, said);
    table.parentElement.before(line);
  }
  document.querySelectorAll("table.sortable").forEach(sortable);

  /* The scenarios of points, unpacked at first use; the lab opens with one of them in its address. */
  const tries = document.getElementById("tries");
  const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
  async function scenarios() {
    const bytes = Uint8Array.from(atob(tries.textContent.trim()), (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("gzip"))));
  }
  async function address(number) {
    const toml = (await scenarios())[number];
    const packed = await through(new TextEncoder().encode(toml), new CompressionStream("deflate-raw"));
    const text = btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join(""));
    return `${tries.dataset.lab}#scene=free&toml=${text.replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "")}`;
  }
  if (tries && typeof DecompressionStream !== "undefined") {
    for (const form of document.querySelectorAll("form.try")) {
      form.hidden = false;
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        address(Number(form.querySelector("select").value)).then((url) => window.open(url, "_blank"));
      });
    }
  }
})();
