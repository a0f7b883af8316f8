"use strict";
// The two figures that are not line charts: the capacities and the strip of
// destinations.

// Knees draws, for each policy, its capacity under every objective.
class Knees {
  constructor(id) {
    this.figure = figure(id);
    this.plot = this.figure.querySelector(".plot");
    this.off = new Set();
    if (DATA.capacity.some(c => c.per_seed.length > 1))
      checkbox(id, "each seed", false, on => { this.seeds = on; this.draw(); });
    this.legend();
    new ResizeObserver(() => { if (this.width !== widthOf(this.plot)) this.draw(); }).observe(this.plot);
    charts.add(this);
  }

  // An objective has the shape and the dash of a line, but no colour.
  style(slo) { return {...styleOf(slo + 1), color: "ink"}; }

  legend() {
    this.figure.querySelector(".legend").replaceChildren(...DATA.slos.map((s, i) => el("button", {
      "aria-pressed": String(!this.off.has(i)), onclick: () => {
        if (!this.off.delete(i)) this.off.add(i);
        this.legend();
        this.draw();
      },
    }, swatch(this.style(i), false), `p99 TTFT ≤ ${digits(s)} s`)));
  }

  draw() {
    const width = this.width = widthOf(this.plot);
    if (!width) return;
    const loads = DATA.loads, top = loads[loads.length - 1];
    const shown = DATA.slos.map((_, i) => i).filter(i => !this.off.has(i));
    const label = Math.min(160, 20 + 7.4 * Math.max(...DATA.policies.map(p => p.length))), right = 26;
    const row = Math.max(26, 12 * shown.length + 10), height = row * DATA.policies.length + 44;
    const X = q => label + (width - label - right) * q / top;
    const root = svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": this.figure.querySelector("h3").textContent + ". The table below has the values."});
    this.axis(root, X, height - 40, top);
    DATA.policies.forEach((name, p) => {
      if (hidden.has(name)) return;
      const y = row * p + row / 2 + 4;
      root.append(svg("path", {class: "rule", d: `M0 ${row * (p + 1) + 4}H${width}`}));
      const text = svg("text", {x: 0, y: y + 4, class: DATA.lead && p === DATA.best ? "strong" : ""}, shorten(name, label));
      text.append(svg("title", {}, name));
      root.append(text);
      shown.forEach((slo, k) => {
        const c = DATA.capacity.find(c => c.policy === p && c.slo === slo);
        if (c) root.append(this.mark(c, X, y + 12 * (k - (shown.length - 1) / 2), top));
      });
    });
    this.plot.replaceChildren(root);
  }

  axis(root, X, bottom, top) {
    let last = -Infinity;
    for (const q of [0, ...DATA.loads]) {
      if (X(q) - last < 30) continue;
      last = X(q);
      root.append(svg("path", {class: "grid", d: `M${X(q)} 0V${bottom}`}),
        svg("text", {x: X(q), y: bottom + 16, "text-anchor": "middle", class: "tick"}, digits(q, 6)));
    }
    root.append(svg("text", {x: X(top / 2), y: bottom + 34, "text-anchor": "middle", class: "tick"}, "requests/s (grid: loads that were tried)"));
  }

  mark(c, X, y, top) {
    const [mean, lo, hi] = c.qps, style = this.style(c.slo), g = svg("g", {class: "knee c" + policyStyle(c.policy).color});
    const low = DATA.loads[0], at = c.censor === "left" ? low : mean;
    const line = (d, more = {}) => g.append(svg("path", {d, fill: "none", stroke: "currentColor", "stroke-width": 1.6, ...more}));
    if (c.censor === "left") line(`M${X(low)} ${y}H${X(0) + 5}m6 -4l-6 4l6 4`);
    else if (c.censor === "right") line(`M${X(top)} ${y}h18m-6 -4l6 4l-6 4`);
    else if (isNumber(lo)) line(`M${X(Math.max(0, lo))} ${y}H${X(Math.min(top, hi))}`);
    if (c.censor === "mixed") line(`M${X(Math.min(top, hi ?? mean))} ${y}m-1 -4l5 4l-5 4`);
    const filled = c.censor === "none" && !isOpen(style.mark);
    g.append(svg("path", {d: outline(style.mark, X(at), y, 4.5), fill: filled ? "currentColor" : "var(--paper)", stroke: "currentColor", "stroke-width": 1.6}));
    if (this.seeds) for (const [, q] of c.per_seed) g.append(svg("circle", {cx: X(q), cy: y, r: 2, fill: "var(--paper)", stroke: "currentColor", "stroke-opacity": .7}));
    g.append(svg("path", {d: `M${X(0)} ${y - 6}H${X(top)}v12H${X(0)}Z`, fill: "transparent"}));
    g.addEventListener("mousemove", e => showTip(e.clientX, e.clientY, el("div", {class: "at"}, DATA.policies[c.policy]),
      el("div", {}, `p99 TTFT ≤ ${digits(DATA.slos[c.slo])} s: `, el("b", {}, c.text), ` requests/s${c.times ? `, ${c.times} the best other` : ""}`),
      el("div", {class: "faint"}, c.per_seed.map(([seed, q, censor]) => `seed ${seed}: ${seedText(q, censor)}`).slice(0, 12).join(" · "))));
    g.addEventListener("mouseleave", hideTip);
    return g;
  }

  update() { this.draw(); }
  resize() { this.draw(); }
}

function seedText(q, censor) {
  if (censor === "left") return "< " + digits(DATA.loads[0], 6);
  return (censor === "right" ? "> " : "") + digits(q, 6) + (censor === "open" ? "?" : "");
}

const shorten = (name, width) => name.length > width / 7 ? name.slice(0, Math.floor(width / 7) - 1) + "…" : name;

// Strip draws a row for each policy, a cell for each destination.
class Strip {
  constructor(id) {
    this.figure = figure(id);
    this.plot = this.figure.querySelector(".plot");
    this.canvas = el("canvas", {role: "img", "aria-label": this.figure.querySelector("h3").textContent + ". The table below has the values."});
    this.plot.append(this.canvas, this.scale());
    this.canvas.addEventListener("mousemove", e => this.hover(e));
    this.canvas.addEventListener("mouseleave", hideTip);
    this.refill = onOpen(this.figure.querySelector("details"), () => this.table());
    chooseLoad(id);
    follow("load", () => { this.draw(); this.refill(); });
    new ResizeObserver(() => { if (this.width !== widthOf(this.plot)) this.draw(); }).observe(this.plot);
    charts.add(this);
  }

  scale() {
    return el("div", {class: "scale"}, "0", el("span", {class: "ramp"}), "twice the mean or more");
  }

  rows() {
    return profiled().filter(r => !hidden.has(DATA.policies[r.policy])).map(r => {
      const mean = r.destinations.reduce((a, b) => a + b, 0) / r.destinations.length;
      const sorted = r.destinations.map((n, i) => ({n, i, times: mean ? n / mean : NaN})).sort((a, b) => b.n - a.n || a.i - b.i);
      return {policy: r.policy, sorted};
    });
  }

  draw() {
    const width = this.width = widthOf(this.plot), px = Math.max(2, devicePixelRatio);
    if (!width) return;
    this.drawn = this.rows();
    const label = this.label = Math.min(110, 12 + 7 * Math.max(...this.drawn.map(r => DATA.policies[r.policy].length), 0));
    const row = this.row = Math.max(14, Math.min(30, 220 / Math.max(1, this.drawn.length))), height = row * this.drawn.length;
    Object.assign(this.canvas, {width: width * px, height: height * px});
    this.canvas.style.width = width + "px";
    this.canvas.style.height = height + "px";
    const ctx = this.canvas.getContext("2d");
    ctx.scale(px, px);
    ctx.font = "12px " + css("--font");
    ctx.textBaseline = "middle";
    const from = css("--ramp-0"), to = css("--ramp-1");
    this.drawn.forEach((r, y) => {
      ctx.fillStyle = css("--ink");
      ctx.fillText(shorten(DATA.policies[r.policy], label), 0, (y + .5) * row);
      const w = (width - label) / r.sorted.length, gap = w > 6 ? 1 : 0;
      r.sorted.forEach((d, x) => {
        ctx.fillStyle = `color-mix(in srgb, ${to} ${Math.min(100, 50 * d.times || 0)}%, ${from})`;
        ctx.fillRect(label + x * w, y * row + 1, Math.max(.5, w - gap), row - 2);
      });
    });
  }

  hover(e) {
    const box = this.canvas.getBoundingClientRect();
    const r = this.drawn[Math.floor((e.clientY - box.top) / this.row)];
    const d = r?.sorted[Math.floor((e.clientX - box.left - this.label) / (this.width - this.label) * r.sorted.length)];
    if (!d) return hideTip();
    showTip(e.clientX, e.clientY, el("div", {class: "at"}, DATA.policies[r.policy]),
      el("div", {}, `destination ${d.i}: `, el("b", {}, String(d.n)), ` requests, ${times(d.times)} the mean`));
  }

  table() {
    const rows = this.rows(), most = Math.max(...rows.map(r => r.sorted.length));
    return table("Requests of each destination in one run, the busiest first", 
      ["place", ...rows.flatMap(r => [DATA.policies[r.policy], "destination"])],
      Array.from({length: most}, (_, i) => [String(i + 1), ...rows.flatMap(r => [String(r.sorted[i].n), String(r.sorted[i].i)])]));
  }

  update() { this.draw(); this.refill(); }
  resize() { this.draw(); }
}
