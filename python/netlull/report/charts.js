/* Interactive figures: axes, zoom and cursor by uPlot, the series drawn here. A figure without script stays a picture. */
"use strict";
(() => {
  if (typeof uPlot === "undefined") return;
  const root = document.documentElement;
  const live = [];

  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const colour = (series) => (typeof series.c === "number" ? css("--s" + series.c) : series.c);
  const short = (value) => (value === null || value === undefined ? "none" : String(+value.toPrecision(5)).replace("-", "−"));
  const make = (tag, attributes, text) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };

  /* Pixels of a series' points on the canvas. */
  function places(u, series) {
    const at = [];
    for (let i = 0; i < series.px.length; i++) {
      if (series.px[i] === null || series.py[i] === null) { at.push(null); continue; }
      const top = series.kind === "bars" ? series.lo[i] + series.py[i] : series.py[i];
      at.push([u.valToPos(series.px[i], "x", true), u.valToPos(top, "y", true)]);
    }
    return at;
  }

  function drawBand(u, ctx, series) {
    const upper = [], lower = [];
    const flush = () => {
      if (upper.length > 1) {
        ctx.beginPath();
        [...upper, ...lower.reverse()].forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
        ctx.fill();
      }
      upper.length = lower.length = 0;
    };
    ctx.globalAlpha = 0.2;
    for (let i = 0; i < series.px.length; i++) {
      if (series.py[i] === null) { flush(); continue; }
      const banded = series.n[i] > 1 && series.lo[i] !== null && series.hi[i] !== null;
      const x = u.valToPos(series.px[i], "x", true);
      upper.push([x, u.valToPos(banded ? series.hi[i] : series.py[i], "y", true)]);
      lower.push([x, u.valToPos(banded ? series.lo[i] : series.py[i], "y", true)]);
    }
    flush();
    ctx.globalAlpha = 1;
  }

  function drawLine(ctx, series, at) {
    ctx.beginPath();
    let before = null;
    for (const point of at) {
      if (point === null) { before = null; continue; }
      if (before === null) ctx.moveTo(point[0], point[1]);
      else {
        if (series.kind === "steps") ctx.lineTo(point[0], before[1]);
        ctx.lineTo(point[0], point[1]);
      }
      before = point;
    }
    ctx.stroke();
  }

  function drawBars(u, ctx, series, at) {
    const half = Math.abs(u.valToPos(0.3, "x", true) - u.valToPos(0, "x", true));
    at.forEach((point, i) => {
      if (point === null) return;
      const base = u.valToPos(series.lo[i], "y", true);
      ctx.fillRect(point[0] - half, point[1], 2 * half, base - point[1]);
    });
  }

  /* A stretch of the x axis, over the whole height. */
  function drawStretch(u, ctx, series) {
    const [from, to] = series.px.map((x) => u.valToPos(x, "x", true));
    ctx.fillStyle = css("--line");
    ctx.globalAlpha = 0.6;
    ctx.fillRect(from, u.bbox.top, to - from, u.bbox.height);
    ctx.globalAlpha = 1;
  }

  function drawSpread(u, ctx, series, at, dot) {
    at.forEach((point, i) => {
      if (point === null || !(series.n[i] > 1) || series.lo[i] === null) return;
      const low = u.valToPos(series.lo[i], "y", true), high = u.valToPos(series.hi[i], "y", true);
      ctx.beginPath();
      for (const [x0, y0, x1, y1] of [[point[0], low, point[0], high], [point[0] - dot, low, point[0] + dot, low], [point[0] - dot, high, point[0] + dot, high]]) {
        ctx.moveTo(x0, y0);
        ctx.lineTo(x1, y1);
      }
      ctx.stroke();
    });
  }

  function draw(u, panel, hidden) {
    const { ctx, bbox } = u;
    const ratio = devicePixelRatio || 1;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    const behind = (series) => (series.kind === "stretch" ? 0 : 1);
    for (const series of [...panel.series].sort((a, b) => behind(a) - behind(b))) {
      if (hidden.has(series.label)) continue;
      if (series.kind === "stretch") { drawStretch(u, ctx, series); continue; }
      const at = places(u, series);
      ctx.strokeStyle = ctx.fillStyle = colour(series);
      ctx.lineWidth = (series.kind === "steps" ? 2.2 : series.px.length > 200 ? 0.9 : 1.8) * ratio;
      ctx.setLineDash(series.dash ? [6 * ratio, 4 * ratio] : []);
      if (series.kind === "bars") { drawBars(u, ctx, series, at); continue; }
      if (series.kind === "line" && series.n.length) drawBand(u, ctx, series);
      if (series.kind !== "points") drawLine(ctx, series, at);
      ctx.setLineDash([]);
      if (series.kind === "points" && series.n.length) drawSpread(u, ctx, series, at, 4 * ratio);
      if (series.kind === "points" || (series.n.length && series.px.length <= 60)) {
        for (const point of at) {
          if (point === null) continue;
          ctx.beginPath();
          ctx.arc(point[0], point[1], 3 * ratio, 0, 2 * Math.PI);
          if (series.dash) { ctx.save(); ctx.fillStyle = css("--page"); ctx.fill(); ctx.restore(); } else ctx.fill();
          ctx.stroke();
        }
      }
    }
    ctx.restore();
  }

  /* The range of what is shown, where something is hidden; else as the drawn figure has it. */
  function yRange(panel, hidden, zoom) {
    if (zoom.y) return zoom.y;
    const curves = panel.series.filter((series) => series.kind !== "stretch");
    const shown = curves.filter((series) => !hidden.has(series.label));
    if (!shown.length || shown.length === curves.length) return panel.yr;
    let low = Infinity, high = -Infinity;
    for (const series of shown) {
      series.py.forEach((value, i) => {
        if (value === null) return;
        const bars = series.kind === "bars";
        const bottom = series.lo[i] ?? value, top = bars ? series.lo[i] + value : (series.hi[i] ?? value);
        low = Math.min(low, bottom, bars ? bottom : value);
        high = Math.max(high, top);
      });
    }
    if (!(high > low)) return panel.yr;
    const room = 0.06 * (high - low);
    return [panel.yr[0] === 0 && low >= 0 ? 0 : panel.logY ? low : low - room, high + room];
  }

  function nearest(u, panel, hidden, left, top) {
    const x = u.posToVal(left, "x");
    const found = [];
    for (const series of panel.series) {
      if (hidden.has(series.label) || !series.px.length || series.kind === "stretch") continue;
      let best = -1, gap = Infinity;
      series.px.forEach((value, i) => {
        if (series.py[i] === null || value === null) return;
        if (series.kind === "steps" && value > x && best >= 0) return;
        const away = Math.abs(u.valToPos(value, "x") - left) + (series.kind === "points" ? 0.01 * Math.abs(u.valToPos(series.py[i], "y") - top) : 0);
        if (away < gap || (series.kind === "steps" && value <= x)) { gap = away; best = i; }
      });
      if (best < 0) continue;
      const value = series.kind === "bars" ? series.lo[best] + series.py[best] : series.py[best];
      found.push({ series, i: best, gap, away: Math.abs(u.valToPos(value, "y") - top) });
    }
    const least = Math.min(...found.map((entry) => entry.gap));
    return found.filter((entry) => entry.series.kind === "steps" || entry.gap < least + 12).sort((a, b) => a.away - b.away);
  }

  function tell(u, panel, hidden, box) {
    const { left, top } = u.cursor;
    if (left === undefined || left < 0) { box.hidden = true; return; }
    const found = nearest(u, panel, hidden, left, top).slice(0, 8);
    if (!found.length) { box.hidden = true; return; }
    const first = found.find((entry) => entry.series.kind !== "steps") || found[0];
    const x = first.series.px[first.i];
    box.replaceChildren(make("b", {}, panel.names.length ? panel.names[Math.round(x)] : `${panel.x}: ${short(x)}`));
    for (const { series, i } of found) {
      const row = make("div");
      const key = make("span", { class: "key" });
      key.style.borderColor = colour(series);
      row.append(key, `${series.label || panel.y}: ${short(series.py[i])}`);
      if (series.kind !== "bars" && series.n[i] > 1 && series.lo[i] !== null) {
        row.append(make("span", { class: "dim" }, ` (${short(series.lo[i])} to ${short(series.hi[i])}, n = ${series.n[i]})`));
      }
      box.append(row);
    }
    box.hidden = false;
    const wide = u.over.clientWidth, tall = u.over.clientHeight;
    box.style.left = `${Math.max(0, left > wide / 2 ? left - box.offsetWidth - 14 : Math.min(left + 14, wide - box.offsetWidth))}px`;
    box.style.top = `${Math.min(Math.max(0, top - box.offsetHeight / 2), Math.max(0, tall - box.offsetHeight))}px`;
  }

  /* Round places on a logarithmic axis: as many to a decade as there is room for. */
  function decades(u, axis, low, high) {
    const span = Math.log10(high / low);
    const steps = span < 0.8 ? [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 8] : span < 1.3 ? [1, 1.5, 2, 3, 5, 7] : span < 3.2 ? [1, 2, 5] : [1];
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
      for (const step of steps) {
        const value = +(step * 10 ** power).toPrecision(3);
        if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) found.push(value);
      }
    }
    return found.length > 1 ? found : [low, high];
  }

  function axes(panel) {
    const font = "12px system-ui, sans-serif";
    const common = { stroke: () => css("--ink"), grid: { stroke: () => css("--line"), width: 1 }, ticks: { stroke: () => css("--line"), width: 1, size: 5 }, font, labelFont: font };
    const xs = [...new Set(panel.series.flatMap((series) => (series.px.length <= 60 ? series.px : [])))].sort((a, b) => a - b);
    const few = panel.series.every((series) => series.px.length <= 60) && xs.length <= 12;
    const ticked = (u, values) => {
      let before = -Infinity;
      return values.filter((value) => {
        if (value < u.scales.x.min || value > u.scales.x.max) return false;
        const at = u.valToPos(value, "x");
        if (at - before < 30) return false;
        before = at;
        return true;
      });
    };
    const x = { ...common, label: panel.x, labelSize: 20, size: 34 };
    if (panel.names.length) {
      const long = panel.names.some((name) => name.length > 7) || panel.names.length > 7;
      x.splits = () => panel.names.map((_, i) => i);
      x.values = (u, splits) => splits.map((i) => panel.names[i] ?? "");
      x.grid = { show: false };
      if (long) {
        x.rotate = -35;
        x.size = Math.min(130, 22 + 4.2 * Math.max(...panel.names.map((name) => name.length)));
      }
    } else if (few && panel.series.some((series) => series.n.length)) {
      x.splits = (u) => ticked(u, xs);
      x.values = (u, splits) => splits.map(short);
      x.filter = (u, splits) => splits;
    } else x.values = (u, splits) => splits.map((value) => (value === null ? "" : short(value)));
    if (panel.logX && !x.splits) Object.assign(x, { splits: decades, filter: (u, splits) => splits });
    const y = { ...common, label: panel.y, labelSize: 22, size: 52, values: (u, splits) => splits.map((value) => (value === null ? "" : short(value))) };
    if (panel.logY) Object.assign(y, { splits: decades, filter: (u, splits) => splits });
    return [x, y];
  }

  function chart(panel, hidden, box) {
    const zoom = { x: null, y: null };
    const height = () => Math.round(Math.min(330, Math.max(230, box.clientWidth * 0.62)));
    const hint = make("div", { class: "hint" });
    hint.hidden = true;
    const options = {
      width: box.clientWidth,
      height: height(),
      legend: { show: false },
      padding: [8, 18, 0, 0],
      cursor: {
        points: { show: false },
        drag: { x: true, y: true, uni: 24, setScale: false },
        bind: { dblclick: () => () => { reset(); return null; } },
      },
      scales: {
        x: { time: false, auto: false, distr: panel.logX ? 3 : 1, range: () => zoom.x || panel.xr },
        y: { auto: true, distr: panel.logY ? 3 : 1, range: () => yRange(panel, hidden, zoom) },
      },
      axes: axes(panel),
      series: [{}, { stroke: "transparent", points: { show: false } }],
      hooks: {
        draw: [(u) => draw(u, panel, hidden)],
        setCursor: [(u) => tell(u, panel, hidden, hint)],
        setSelect: [(u) => {
          const { left, top, width, height: tall } = u.select;
          if (width < 4 && tall < 4) return;
          if (width >= 4) zoom.x = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
          if (tall >= 4 && tall < u.over.clientHeight - 1) zoom.y = [u.posToVal(top + tall, "y"), u.posToVal(top, "y")];
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          again();
        }],
      },
    };
    const ends = [panel.xr, panel.yr];
    const u = new uPlot(options, ends, box);
    u.over.append(hint);
    const again = () => {
      const [[left, right], [low, high]] = [zoom.x || panel.xr, yRange(panel, hidden, zoom)];
      u.batch(() => {
        u.setScale("x", { min: left, max: right });
        u.setScale("y", { min: low, max: high });
      });
      u.redraw(false);
    };
    const reset = () => { zoom.x = zoom.y = null; again(); };
    const scaled = (factor) => {
      const [low, high] = [u.scales.x.min, u.scales.x.max].map((value) => (panel.logX ? Math.log(value) : value));
      const centre = u.cursor.left >= 0 ? u.posToVal(u.cursor.left, "x") : null;
      const middle = centre === null ? (low + high) / 2 : panel.logX ? Math.log(centre) : centre;
      const range = [middle + (low - middle) * factor, middle + (high - middle) * factor];
      zoom.x = panel.logX ? range.map(Math.exp) : range;
      again();
    };
    const step = (by) => {
      const series = panel.series.find((one) => !hidden.has(one.label) && one.px.length && one.kind !== "stretch");
      if (!series) return;
      const at = u.cursor.left >= 0 ? u.posToVal(u.cursor.left, "x") : panel.xr[by > 0 ? 0 : 1];
      const slack = 1e-6 * Math.abs(panel.xr[1] - panel.xr[0]) + 0.5 * Math.abs(u.posToVal(1, "x") - u.posToVal(0, "x"));
      const rest = series.px.map((x, i) => [x, i]).filter(([x, i]) => series.py[i] !== null && (by > 0 ? x > at + slack : x < at - slack));
      if (!rest.length) return;
      const [x, i] = by > 0 ? rest[0] : rest[rest.length - 1];
      u.setCursor({ left: u.valToPos(x, "x"), top: u.valToPos(series.py[i], "y") });
    };
    const keys = { "+": () => scaled(0.6), "=": () => scaled(0.6), "-": () => scaled(1 / 0.6), 0: reset, Escape: reset, ArrowRight: () => step(1), ArrowLeft: () => step(-1) };
    box.addEventListener("keydown", (event) => {
      const act = keys[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
    new ResizeObserver(() => {
      if (!box.clientWidth || box.clientWidth === u.width) return;
      requestAnimationFrame(() => u.setSize({ width: box.clientWidth, height: height() }));
    }).observe(box);
    return { again, reset, redraw: () => u.redraw() };
  }

  function legend(panels, hidden, changed) {
    const bar = make("div", { class: "legend", role: "group", "aria-label": "Series" });
    const seen = new Map();
    for (const series of panels.flatMap((panel) => panel.series)) if (series.label && !seen.has(series.label)) seen.set(series.label, series);
    if (seen.size < 2) hidden.clear();
    for (const [label, series] of seen) {
      const button = make("button", { type: "button", "aria-pressed": "true", title: "Show or hide this series; with Shift, show it alone" });
      const key = make("span", { class: "key" + (series.dash ? " dashed" : "") });
      key.style.borderColor = typeof series.c === "number" ? `var(--s${series.c})` : series.c;
      button.append(key, label);
      button.addEventListener("click", (event) => {
        if (event.shiftKey) {
          const alone = !hidden.has(label) && hidden.size === seen.size - 1;
          hidden.clear();
          if (!alone) for (const other of seen.keys()) if (other !== label) hidden.add(other);
        } else if (!hidden.delete(label)) hidden.add(label);
        for (const [index, name] of [...seen.keys()].entries()) bar.children[index].setAttribute("aria-pressed", String(!hidden.has(name)));
        changed();
      });
      bar.append(button);
    }
    return bar;
  }

  function enliven(figure) {
    const panels = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    const hidden = new Set();
    const charts = [];
    const holder = make("div", { class: "charts" });
    const tools = make("div", { class: "tools" });
    tools.append(legend(panels, hidden, () => charts.forEach((one) => one.again())));
    const reset = make("button", { type: "button", class: "tool" }, "Reset zoom");
    reset.addEventListener("click", () => charts.forEach((one) => one.reset()));
    const still = make("button", { type: "button", class: "tool", "aria-pressed": "false" }, "Still picture");
    still.addEventListener("click", () => still.setAttribute("aria-pressed", String(figure.classList.toggle("still"))));
    tools.append(reset, still);
    const grid = make("div", { class: "panels" });
    if (panels.length === 1) grid.classList.add("one");
    holder.append(tools, grid);
    figure.prepend(holder);
    figure.classList.add("live");
    const boxes = panels.map((panel) => {
      const cell = make("div", { class: "panel" });
      if (panel.title) cell.append(make("div", { class: "panel-title" }, panel.title));
      const box = make("div", { class: "box", tabindex: "0", role: "group", "aria-label": `${panel.title || panel.y}: ${panel.y} over ${panel.x}. Arrow keys read values, plus and minus zoom, 0 resets.` });
      cell.append(box);
      if (panel.series.some((series) => series.thin)) cell.append(make("div", { class: "dim note" }, "Long series show the extremes of short intervals."));
      grid.append(cell);
      return box;
    });
    /* Only now do the boxes have their widths. */
    panels.forEach((panel, index) => charts.push(chart(panel, hidden, boxes[index])));
    live.push(...charts);
  }

  function tryTo(figure) {
    try {
      enliven(figure);
    } catch (error) {
      figure.classList.remove("live"); /* the picture stays */
      figure.querySelector(".charts")?.remove();
      console.error(`figure ${figure.id}:`, error);
    }
  }

  /* A long page has hundreds of panels: those out of sight wait. */
  const waiting = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      waiting.unobserve(entry.target);
      tryTo(entry.target);
    }
  }, { rootMargin: "400px" });
  for (const figure of document.querySelectorAll("figure[data-charts]")) {
    const { top, width } = figure.getBoundingClientRect();
    if (width && top < innerHeight + 400) tryTo(figure);
    else waiting.observe(figure);
  }
  const again = () => live.forEach((one) => one.redraw());
  document.addEventListener("netlull-theme", again);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
})();
