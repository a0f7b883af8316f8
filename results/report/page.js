"use strict";
// Everything is set up here.

// cells fills the table of all cells when it is opened; a heading sorts it.
function cells() {
  const details = figure("cells"), {columns, rows} = DATA.cells;
  let by = -1, falling = false;
  const text = (column, v) => typeof v === "string" ? v : column.unit === "%" ? digits(100 * v) : digits(v, column.name === "load_qps" ? 6 : 4);
  const order = (a, b) => {
    const [x, y] = [a[by], b[by]];
    if (!isNumber(x) || !isNumber(y)) return isNumber(y) - isNumber(x);
    const less = typeof x === "string" ? x.localeCompare(y, undefined, {numeric: true}) : x === y ? 0 : x - y;
    return falling ? -less : less;
  };
  const fill = onOpen(details, () => {
    const sorted = by < 0 ? rows : [...rows].sort(order);
    return el("table", {}, el("caption", {}, "All cells"),
      el("thead", {}, el("tr", {}, ...columns.map((c, i) => el("th",
        {scope: "col", "data-name": c.name, "aria-sort": i !== by ? "none" : falling ? "descending" : "ascending"},
        el("button", {onclick: () => { falling = by === i && !falling; by = i; fill(); }},
          c.label + (c.unit ? ` (${c.unit})` : "") + (i === by ? falling ? " ↓" : " ↑" : "")))))),
      el("tbody", {}, ...sorted.map(r => el("tr", {}, ...r.map((v, i) => i ? el("td", {}, text(columns[i], v)) : el("th", {scope: "row"}, v))))));
  });
}

// redraw follows a change of the theme or of the medium.
function redraw() {
  for (const c of charts) c.u ? c.u.redraw(false) : c.draw();
}

function forPrint(on) {
  printing = on;
  figure("study").open = on;
  document.documentElement.classList.toggle("print", on);
  for (const c of charts) c.resize();
  redraw();
}

function start() {
  chosen.load = DATA.profiles.length ? startLoad() : 0;
  drawLadder();
  drawTokens();
  if (DATA.capacity.length) new Knees("knees").draw();
  if (figure("hit")) drawCache(); // else the page says why there are no hits
  drawBalance();
  if (DATA.drift.length) drawDrift();
  if (DATA.profiles.length) {
    new Strip("strip");
    drawECDF();
    drawWithin();
  } else for (const id of ["strip", "ecdf", "within"]) figure(id).hidden = true;
  if (DATA.goodput.length) drawGoodput();
  else figure("goodput").hidden = true;
  cells();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", () => forPrint(true));
  addEventListener("afterprint", () => forPrint(false));
  addEventListener("scroll", hideTip, {passive: true});
  document.documentElement.dataset.ready = Math.round(performance.now());
}

start();
