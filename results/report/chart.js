"use strict";
// Line charts. A chart is drawn from a spec:
//   x: {label, values, text, log}, y: {label, text, log, min, max}
//   series: [{name, style, y, lo, hi, dots}], each as long as x.values
//   lines: [{x | y, label}] objectives, diagonal: true draws y = x
//   measured: [from, to] is left white, the rest of x shaded
// A value of Infinity leaves a gap in its line and a mark at the top.

const charts = new Set();
const hidden = new Set(); // names of series that a reader has switched off
let printing = false;

// A printed page has no width of its own until it is too late to draw.
function widthOf(plot) {
  if (!printing) return plot.clientWidth;
  return plot.closest(".triple") ? 222 : plot.closest(".pair") ? 340 : 700;
}

// logTicks are 1, 2 and 5 times powers of ten.
function logTicks(min, max) {
  const ticks = [];
  for (let e = Math.floor(Math.log10(min)); e <= Math.ceil(Math.log10(max)); e++)
    for (const m of [1, 2, 5]) {
      const t = Number((m * 10 ** e).toPrecision(3));
      if (t >= min && t <= max) ticks.push(t);
    }
  return ticks;
}

// padded widens a range, by a factor where it is a scale of factors.
function padded(min, max, log) {
  if (!(min <= max)) return log ? [0.1, 10] : [0, 1];
  if (log) return [min / 1.25, max * 1.25];
  const pad = (max - min || Math.abs(max) || 1) * 0.06;
  return [min - pad, max + pad];
}

class Chart {
  constructor(figure, height = 260, legend = figure.querySelector(".legend")) {
    this.figure = figure;
    this.keys = legend;
    this.plot = figure.querySelector(".plot");
    this.plot.setAttribute("role", "img");
    this.plot.setAttribute("aria-label", figure.querySelector("h3").textContent + ". The table below has the values.");
    this.height = height;
    this.reset = el("button", {class: "reset", hidden: true, onclick: () => this.zoom(null)}, "Reset zoom");
    this.ylabel = el("div", {class: "ylabel"});
    this.canvas = el("div", {class: "canvas"});
    this.plot.append(this.ylabel, this.canvas);
    figure.querySelector(".controls").append(this.reset);
    const details = figure.querySelector("details");
    this.refill = figure.id === "ladder" ? () => {} : onOpen(details, () => this.table());
    charts.add(this);
    this.width = 0;
    new ResizeObserver(() => this.resize()).observe(this.plot);
  }

  // show draws a spec in the place of the one before.
  show(spec) {
    this.spec = spec;
    this.zoomed = null;
    this.reset.hidden = true;
    this.ylabel.textContent = spec.y.label;
    this.legend();
    this.draw();
    this.refill();
  }

  visible() { return this.spec.series.filter(s => !hidden.has(s.name)); }

  legend() {
    this.keys.replaceChildren(...this.spec.series.map(s => el("button", {
      "aria-pressed": String(!hidden.has(s.name)), title: "Click to hide or show, double-click to see it alone",
      onclick: () => toggle(s.name), ondblclick: () => alone(s.name, this.spec.series),
    }, swatch(s.style), s.name)));
  }

  draw() {
    this.u?.destroy();
    this.width = widthOf(this.plot);
    this.u = new uPlot(this.options(), this.data(), this.canvas);
  }

  data() {
    return [this.spec.x.values, ...this.spec.series.map(s => s.y.map(v => v === Infinity || !isNumber(v) ? null : v))];
  }

  resize() {
    const width = widthOf(this.plot);
    if (!this.u || width === this.width || width === 0) return;
    this.width = width;
    this.u.setSize({width, height: this.tall()});
  }

  tall() { return printing ? 0.54 * this.height : this.height; }

  // update follows what has been hidden or shown.
  update() {
    if (!this.spec) return;
    this.legend();
    this.draw();
  }

  zoom(range) {
    this.zoomed = range;
    this.reset.hidden = !range;
    this.u.setData(this.u.data);
  }

  axis(a, isX) {
    return {
      stroke: () => css("--ink-2"), font: "12px " + css("--font"), grid: {stroke: () => css("--grid"), width: 1},
      ticks: {stroke: () => css("--grid"), width: 1, size: 4}, gap: 4, size: isX ? 26 : 44, space: isX ? 52 : 34,
      ...(isX ? {label: a.label, labelSize: 18, labelGap: 2, labelFont: "12px " + css("--font")} : {}),
      values: (u, ticks) => this.labels(ticks, a, isX),
      ...(a.log ? {splits: (u, i, min, max) => logTicks(min, max), filter: (u, ticks) => ticks} : {}),
    };
  }

  // labels leaves out every other label of a scale of factors where it is tight.
  labels(ticks, a, isX) {
    const room = isX ? this.width / 44 : this.height / 24;
    return ticks.map(t => a.log && ticks.length > room && !/^1(0*|e.*)$/.test(String(t).replace(/^0\.0*/, "")) ? "" : (a.tick || digits)(t, 4));
  }

  options() {
    const {x, y, series} = this.spec;
    const hooks = {
      drawClear: [u => this.shade(u)], drawAxes: [u => this.under(u)], drawSeries: [(u, i) => this.over(u, i)],
      draw: [u => this.names(u)],
      setCursor: [u => this.hover(u)], setSelect: [u => this.select(u)],
      ready: [u => {
        u.over.addEventListener("dblclick", () => this.zoom(null));
        u.over.addEventListener("mouseleave", hideTip);
      }],
    };
    return {
      width: this.width, height: this.tall(), hooks, legend: {show: false}, padding: [8, 18, 0, 0],
      cursor: {drag: {x: true, y: false, setScale: false}, y: false, points: {size: 9, width: 2, fill: () => css("--paper")}},
      scales: {
        x: {time: false, distr: x.log ? 3 : 1, range: () => this.rangeX()},
        y: {distr: y.log ? 3 : 1, range: () => this.rangeY()},
      },
      axes: [this.axis(x, true), this.axis(y, false)],
      series: [{}, ...series.map(s => ({
        label: s.name, show: !hidden.has(s.name), stroke: () => css("--s" + s.style.color), dash: s.style.dash,
        width: s.strong ? 2.6 : 1.7, points: {show: false},
      }))],
    };
  }

  rangeX() {
    if (this.zoomed) return this.zoomed;
    const {values, log, tight} = this.spec.x;
    const range = [values[0], values[values.length - 1]];
    if (tight) return range;
    const [min, max] = padded(...range, log);
    // The names of objectives stand beside the lines.
    return [min, this.spec.lines ? max + (max - min) * 36 / Math.max(200, this.width - 60) : max];
  }

  // rangeY holds what is drawn within the zoomed part of x; intervals may be cut.
  rangeY() {
    const {x, y, lines = []} = this.spec, [from, to] = this.rangeX();
    let min = Infinity, max = -Infinity;
    const take = v => {
      if (isNumber(v) && v !== Infinity && (!y.log || v > 0)) { min = Math.min(min, v); max = Math.max(max, v); }
    };
    for (const s of this.visible())
      x.values.forEach((at, i) => {
        if (at < from || at > to) return;
        take(s.y[i]);
        if (!y.log) { take(s.lo?.[i]); take(s.hi?.[i]); }
        if (this.dots) s.dots?.[i]?.forEach(take);
      });
    lines.forEach(l => take(l.y));
    [min, max] = padded(min, max, y.log);
    return [y.min ?? Math.max(min, y.floor ?? -Infinity), y.max ?? Math.min(max, y.ceiling ?? Infinity)];
  }

  select(u) {
    if (u.select.width < 8) return;
    const range = [u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")];
    u.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
    this.zoom(range);
  }

  // clipped draws within the plot; pixel sizes are of the canvas.
  clipped(u, draw) {
    const {ctx, bbox} = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    draw(ctx, bbox, uPlot.pxRatio, v => u.valToPos(v, "x", true), v => u.valToPos(v, "y", true));
    ctx.restore();
  }

  shade(u) {
    const {measured} = this.spec;
    if (!measured) return;
    this.clipped(u, (ctx, box, px, X) => {
      ctx.fillStyle = css("--shade");
      const right = box.left + box.width, from = X(measured[0]), to = measured[1] === null ? right : X(measured[1]);
      ctx.fillRect(box.left, box.top, from - box.left, box.height);
      ctx.fillRect(to, box.top, Math.max(0, right - to), box.height);
    });
  }

  // under draws what lies behind the lines: intervals and objectives.
  under(u) {
    this.clipped(u, (ctx, box, px, X, Y) => {
      if (!this.bandless) this.visible().forEach(s => this.band(ctx, s, X, v => this.yPixel(v, box, Y)));
      ctx.strokeStyle = css("--ink-2");
      ctx.lineWidth = px;
      for (const l of this.spec.lines || []) {
        ctx.setLineDash([3 * px, 3 * px]);
        ctx.beginPath();
        if (l.y !== undefined) { ctx.moveTo(box.left, Y(l.y)); ctx.lineTo(box.left + box.width, Y(l.y)); }
        else { ctx.moveTo(X(l.x), box.top); ctx.lineTo(X(l.x), box.top + box.height); }
        ctx.stroke();
      }
      if (this.spec.diagonal) {
        const [from, to] = this.rangeX();
        ctx.setLineDash([px, 3 * px]);
        ctx.beginPath();
        ctx.moveTo(X(from), Y(from));
        ctx.lineTo(X(to), Y(to));
        ctx.stroke();
      }
    });
  }

  // names writes the objectives into their lines, each on a piece of paper: what
  // is behind a name does not run through it.
  names(u) {
    this.clipped(u, (ctx, box, px, X, Y) => {
      ctx.setLineDash([]);
      ctx.font = 11 * px + "px " + css("--font");
      ctx.textAlign = "center";
      ctx.textBaseline = "middle";
      const boxes = [];
      for (const l of this.spec.lines || []) {
        const across = l.y !== undefined, w = ctx.measureText(l.label).width + 6 * px, h = 14 * px;
        let x = across ? box.left + box.width - w / 2 - px : X(l.x), y = across ? Y(l.y) : box.top + box.height - h;
        while (boxes.some(b => Math.abs(b.x - x) < (b.w + w) / 2 && Math.abs(b.y - y) < h))
          if (across) x -= w; else y -= h;
        boxes.push({x, y, w});
        ctx.fillStyle = css("--paper");
        ctx.fillRect(x - w / 2, y - h / 2, w, h);
        ctx.fillStyle = css("--ink-2");
        ctx.fillText(l.label, x, y);
      }
    });
  }

  // yPixel keeps a bound that a scale of factors cannot show at its edge.
  yPixel(v, box, Y) { return this.spec.y.log && v <= 0 ? box.top + box.height : Y(v); }

  band(ctx, s, X, Y) {
    if (!s.lo) return;
    ctx.fillStyle = css("--s" + s.style.color);
    ctx.globalAlpha = 0.1;
    const {values} = this.spec.x;
    for (let i = 0; i + 1 < values.length; i++) {
      if (![s.lo[i], s.hi[i], s.lo[i + 1], s.hi[i + 1]].every(isNumber)) continue;
      ctx.beginPath();
      ctx.moveTo(X(values[i]), Y(s.lo[i]));
      ctx.lineTo(X(values[i]), Y(s.hi[i]));
      ctx.lineTo(X(values[i + 1]), Y(s.hi[i + 1]));
      ctx.lineTo(X(values[i + 1]), Y(s.lo[i + 1]));
      ctx.fill();
    }
    ctx.globalAlpha = 1;
  }

  // over draws the marks of one line, its seeds and what is infinite.
  over(u, index) {
    const s = this.spec.series[index - 1];
    if (!s || hidden.has(s.name)) return;
    const {values} = this.spec.x, rank = this.visible().indexOf(s);
    this.clipped(u, (ctx, box, px, X, Y) => {
      ctx.strokeStyle = ctx.fillStyle = css("--s" + s.style.color);
      ctx.lineWidth = 1.5 * px;
      ctx.setLineDash([]);
      const put = (mark, x, y, r) => {
        const path = new Path2D(outline(mark, x, y, r * px));
        ctx.stroke(path);
        if (!isOpen(mark)) ctx.fill(path);
      };
      values.forEach((at, i) => {
        if (s.y[i] === Infinity) {
          const y = box.top + (7 + 10 * rank) * px, x = X(at);
          ctx.stroke(new Path2D(outline("triangle", x, y, 4.5 * px)));
        } else if (isNumber(s.y[i]) && !this.spec.markless) put(s.style.mark, X(at), Y(s.y[i]), s.strong ? 4 : 3.2);
        if (!this.dots) return;
        ctx.globalAlpha = 0.55;
        s.dots?.[i]?.forEach(v => { if (isNumber(v) && v !== Infinity) put("ring", X(at), Y(v), 2.4); });
        ctx.globalAlpha = 1;
      });
    });
  }

  hover(u) {
    const {idx, left, top} = u.cursor;
    if (idx === null || idx === undefined || left < 0) return hideTip();
    const {x, y} = this.spec;
    const rows = this.visible().filter(s => isNumber(s.y[idx])).sort((a, b) => b.y[idx] - a.y[idx]);
    const most = 16;
    const lines = rows.slice(0, most).map(s => el("tr", {}, el("td", {}, swatch(s.style)), el("td", {}, s.name),
      el("td", {class: "number"}, y.text(s.y[idx])), el("td", {class: "number faint"}, this.doubt(s, idx))));
    if (rows.length > most) lines.push(el("tr", {}, el("td"), el("td", {}, `and ${rows.length - most} more`)));
    const box = u.over.getBoundingClientRect();
    showTip(box.left + left, box.top + top, el("div", {class: "at"}, x.text(x.values[idx])), el("table", {}, ...lines));
  }

  // doubt is the interval of a value, or why it has none.
  doubt(s, i) {
    if (s.y[i] === Infinity) {
      const dots = s.dots?.[i]?.filter(isNumber);
      return dots ? `${dots.filter(v => v === Infinity).length} of ${dots.length} seeds: over 1 % failed` : "over 1 % failed";
    }
    return isNumber(s.lo?.[i]) ? `${this.spec.y.text(s.lo[i])} to ${this.spec.y.text(s.hi[i])}` : "";
  }

  // table has a column for each line and, where there are intervals, one for
  // half their width.
  table() {
    const {x, y, series} = this.spec, cell = y.tick || digits, wide = s => s.hi?.some(isNumber);
    const head = series.flatMap(s => wide(s) ? [s.name, "±"] : [s.name]);
    const row = i => series.flatMap(s => wide(s) ? [cell(s.y[i]), isNumber(s.hi[i]) ? cell(s.hi[i] - s.y[i], 2) : "–"] : [cell(s.y[i])]);
    return table(`${this.figure.querySelector("h3").textContent}: ${y.label}`, [x.label, ...head],
      x.values.map((at, i) => [digits(at, 6), ...row(i)]));
  }
}

// toggle hides or shows a series in every chart that has it.
function toggle(name) {
  if (!hidden.delete(name)) hidden.add(name);
  refresh();
}

function alone(name, series) {
  for (const s of series) hidden.add(s.name);
  hidden.delete(name);
  refresh();
}

function refresh() {
  for (const c of charts) c.update();
}
