"use strict";
// The data of the page, and how it is worded. Everything that a user named
// (policies, study) becomes text of a node, never markup.
const DATA = JSON.parse(document.getElementById("data").textContent);

const isNumber = v => v !== null && v !== undefined && !Number.isNaN(v);

// digits rounds to n significant digits, but never to less than a whole number.
function digits(v, n = 4) {
  if (!isNumber(v)) return "–";
  if (v === Infinity) return "∞";
  return Math.abs(v) >= 10 ** n ? String(Math.round(v)) : String(Number(v.toPrecision(n)));
}

const seconds = v => digits(v) + (isNumber(v) && v !== Infinity ? " s" : "");
const percent = v => isNumber(v) ? digits(100 * v) + " %" : "–";
const times = v => isNumber(v) ? digits(v) + "×" : "–";
const rate = v => digits(v) + " requests/s";
const load = l => digits(DATA.loads[l], 6);

// el makes an element with attributes and children; strings become text.
function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else if (value !== false) e.setAttribute(name, value === true ? "" : value);
  }
  e.append(...children);
  return e;
}

function svg(tag, attributes = {}, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(...children);
  return e;
}

// table makes a table of texts; the first column heads its rows.
function table(caption, head, rows) {
  return el("table", {}, el("caption", {}, caption),
    el("thead", {}, el("tr", {}, ...head.map(h => el("th", {scope: "col"}, h)))),
    el("tbody", {}, ...rows.map(r => el("tr", {},
      ...r.map((c, i) => i ? el("td", {}, c) : el("th", {scope: "row"}, c))))));
}

// onOpen fills a details element when it is opened, and again when it is stale.
function onOpen(details, fill) {
  const box = details.querySelector(".scroll");
  const refill = () => { if (details.open) box.replaceChildren(fill()); };
  details.addEventListener("toggle", refill);
  return refill;
}

// Lines differ by colour, dash and mark, so that they differ in grey too.
const DASHES = [[], [9, 4], [2, 3], [10, 3, 2, 3], [5, 3], [16, 4], [1, 4], [8, 2, 2, 2, 2, 2], [3, 3, 9, 3], [12, 6]];
const MARKS = ["circle", "square", "triangle", "diamond", "cross", "plus", "down", "ring"];
const styleOf = i => ({
  color: i % 10, dash: DASHES[i % 10], mark: MARKS[(i + Math.floor(i / 10)) % 8],
});
// A known policy looks the same on every page.
const policyStyle = p => styleOf(DATA.styles[p]);

// outline is a mark of radius r around (x, y) as an SVG path, which canvases
// understand as well.
function outline(mark, x, y, r) {
  const p = (...at) => "M" + at.map(([a, b]) => `${x + a * r} ${y + b * r}`).join("L");
  switch (mark) {
    case "square": return p([-.85, -.85], [.85, -.85], [.85, .85], [-.85, .85]) + "Z";
    case "triangle": return p([0, -1.1], [1, .8], [-1, .8]) + "Z";
    case "down": return p([0, 1.1], [1, -.8], [-1, -.8]) + "Z";
    case "diamond": return p([0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]) + "Z";
    case "cross": return p([-.9, -.9], [.9, .9]) + p([.9, -.9], [-.9, .9]);
    case "plus": return p([-1.1, 0], [1.1, 0]) + p([0, -1.1], [0, 1.1]);
    default: return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
  }
}
const isOpen = mark => mark === "cross" || mark === "plus" || mark === "ring";

function swatch(style, line = true) {
  const w = line ? 30 : 14;
  const s = svg("svg", {class: "swatch c" + style.color, width: w, height: 12, viewBox: `${15 - w / 2} 0 ${w} 12`, "aria-hidden": "true"});
  if (line) s.append(svg("path", {d: "M0 6H30", "stroke-dasharray": style.dash.join(" "), fill: "none", stroke: "currentColor", "stroke-width": 2}));
  s.append(svg("path", {d: outline(style.mark, 15, 6, 4), fill: isOpen(style.mark) ? "none" : "currentColor", stroke: "currentColor", "stroke-width": 1.6}));
  return s;
}

// css reads a colour of the page's theme.
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Tip is the box of exact values beside the pointer.
const tip = el("div", {class: "tip", role: "status", hidden: true});
document.body.append(tip);

function showTip(x, y, ...children) {
  tip.replaceChildren(...children);
  tip.hidden = false;
  const w = tip.offsetWidth, h = tip.offsetHeight;
  const left = x + 16 + w > innerWidth ? x - 16 - w : x + 16;
  tip.style.left = Math.max(4, left) + scrollX + "px";
  tip.style.top = Math.max(4, Math.min(y - h / 2, innerHeight - h - 4)) + scrollY + "px";
}
const hideTip = () => { tip.hidden = true; };
