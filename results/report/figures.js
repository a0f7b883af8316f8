"use strict";
// The line charts of the page. What a reader chooses (a load, a policy, an
// objective) holds for all charts that depend on it.

const figure = id => document.getElementById(id);
const chosen = {load: 0, policy: Math.max(0, DATA.best), slo: DATA.primary};
const followers = []; // [key, draw]

// chooser puts a list into the controls of a figure.
function chooser(id, key, label, options) {
  const list = el("select", {onchange: () => {
    chosen[key] = Number(list.value);
    for (const [k, draw] of followers) if (k === key) draw();
  }}, ...options.map(([value, text]) => el("option", {value}, text)));
  const sync = () => { list.value = chosen[key]; };
  followers.push([key, sync]);
  sync();
  figure(id).querySelector(".controls").prepend(el("label", {}, label + " ", list));
}

// follow draws now and whenever the choice changes.
function follow(key, draw) {
  followers.push([key, draw]);
  draw();
}

function checkbox(id, label, on, change) {
  const box = el("input", {type: "checkbox", checked: on, onchange: () => change(box.checked)});
  figure(id).querySelector(".controls").prepend(el("label", {}, box, " " + label));
}

const series = (p, y, more = {}) => ({name: DATA.policies[p], style: policyStyle(p), strong: DATA.lead && p === DATA.best, y, ...more});

// overSeeds are the lines of a matrix of means with their intervals, by policy.
function overSeeds(matrix) {
  return DATA.policies.map((_, p) => {
    const row = matrix[p], part = i => row.map(v => v && v.length > i ? v[i] : null);
    return series(p, part(0), {lo: part(1), hi: part(2)});
  });
}

const byLoad = {label: "offered load (requests/s)", values: DATA.loads, text: v => digits(v, 6) + " requests/s offered"};
const asPercent = {text: percent, tick: (v, n) => isNumber(v) ? digits(100 * v, n) : "–"};
const byTTFT = {label: "TTFT (s)", log: true, text: v => "TTFT ≤ " + seconds(v)};

function drawLadder() {
  const chart = new Chart(figure("ladder"), 400);
  const lines = DATA.slos.map(s => ({y: s, label: `≤ ${digits(s)} s`}));
  const all = overSeeds(DATA.ladder.p99);
  if (DATA.dots.length) {
    all.forEach((s, p) => { s.dots = DATA.dots[p]; });
    if (DATA.seeds.length > 1) checkbox("ladder", "each seed", false, on => { chart.dots = on; chart.update(); });
  }
  if (DATA.seeds.length > 1) {
    // Intervals of two or three seeds are so wide that they hide all else.
    chart.bandless = DATA.seeds.length < 4;
    checkbox("ladder", "95 % intervals", !chart.bandless, on => { chart.bandless = !on; chart.update(); });
  }
  chart.show({x: byLoad, y: {label: "p99 TTFT (s, log scale)", log: true, text: seconds}, series: all, lines});
}

// drawTokens draws the times between the tokens of an answer.
function drawTokens() {
  const ms = {text: v => digits(1000 * v, 3) + " ms", tick: (v, n) => digits(1000 * v, n)};
  for (const part of ["tpot_p50", "tpot_p99"]) {
    const chart = new Chart(figure(part));
    chart.bandless = DATA.seeds.length < 4;
    chart.show({x: byLoad, y: {label: "TPOT (ms, log scale)", log: true, ...ms}, series: overSeeds(DATA.ladder[part])});
  }
}

function drawBalance() {
  new Chart(figure("imbalance")).show({x: byLoad, y: {label: "busiest over mean (×)", floor: 0.97, text: times}, series: overSeeds(DATA.ladder.imbalance)});
}

function drawCache() {
  new Chart(figure("hit")).show({x: byLoad, y: {label: "KV hit (% of prompt tokens)", ceiling: 1, floor: 0, ...asPercent}, series: overSeeds(DATA.ladder.hit)});
  const parts = new Chart(figure("parts"));
  chooser("parts", "policy", "Policy", DATA.policies.map((name, p) => [p, name]));
  follow("policy", () => parts.show({
    x: byLoad, y: {label: "part of the prompt tokens (%)", min: 0, ...asPercent},
    series: DATA.kinds.map((kind, k) => ({
      name: kind, style: styleOf(k), y: DATA.ladder["kind_" + kind][chosen.policy].map(v => v ? v[0] : null),
    })),
  }));
}

// profiled are the runs of the chosen load that the page has a profile of.
const profiled = () => DATA.profiles.filter(p => p.load === chosen.load);
const profiledLoads = () => [...new Set(DATA.profiles.map(p => p.load))];

const bestCapacity = () => DATA.capacity.find(c => c.policy === DATA.best && c.slo === DATA.primary);

// startLoad is the first profiled load at or above the best capacity, where the
// policies begin to differ.
function startLoad() {
  const best = bestCapacity();
  const loads = profiledLoads();
  return loads.find(l => best && DATA.loads[l] >= best.qps[0]) ?? loads[loads.length - 1];
}

const chooseLoad = id => chooser(id, "load", `Load (seed ${DATA.profile_seed})`, profiledLoads().map(l => [l, load(l) + " requests/s"]));

// The distributions share the edges of their buckets: before its first a line
// is 0, after its last it stays.
function drawECDF() {
  const chart = new Chart(figure("ecdf"));
  chooseLoad("ecdf");
  follow("load", () => {
    const runs = profiled();
    const values = [...new Set(runs.flatMap(r => r.ttft.s))].sort((a, b) => a - b);
    chart.show({
      x: {...byTTFT, values, tight: true}, y: {label: "requests (%)", min: 0, max: 1.02, ...asPercent}, markless: true,
      lines: DATA.slos.map(s => ({x: s, label: digits(s) + " s"})),
      series: runs.map(r => {
        const at = new Map(r.ttft.s.map((s, i) => [s, r.ttft.fraction[i]]));
        let last = 0;
        return series(r.policy, values.map(v => last = at.get(v) ?? last));
      }),
    });
  });
}

function drawGoodput() {
  const chart = new Chart(figure("goodput"));
  chooser("goodput", "slo", `Objective (seed ${DATA.profile_seed})`, DATA.slos.map((s, i) => [i, `TTFT ≤ ${digits(s)} s`]));
  follow("slo", () => chart.show({
    x: byLoad, y: {label: "in time (requests/s)", min: 0, text: rate}, diagonal: true,
    series: DATA.policies.map((_, p) => series(p, DATA.goodput[chosen.slo][p])),
  }));
}

function drawWithin() {
  const section = figure("within");
  const parts = [["over-waiting", "waiting", {label: "requests", min: 0, text: digits}],
    ["over-flight", "in_flight", {label: "requests", min: 0, text: digits}],
    ["over-hit", "kv_hit", {label: "KV hit (%)", min: 0, ceiling: 1, ...asPercent}]];
  chooseLoad("within");
  for (const [id, key, y] of parts) {
    if (!figure(id)) continue; // no hits
    const chart = new Chart(figure(id), 220, section.querySelector(".legend"));
    follow("load", () => {
      const runs = profiled(), longest = Math.max(...runs.map(r => r.timeline.requests.length));
      const {bin_s, from_s, to_s} = runs[0].timeline;
      const values = Array.from({length: longest}, (_, i) => (i + 0.5) * bin_s);
      chart.show({
        x: {label: "time since the start (s)", values, tight: true, text: v => `${digits(v - bin_s / 2)} to ${digits(v + bin_s / 2)} s`},
        y, markless: true, measured: [from_s, to_s],
        series: runs.map(r => series(r.policy, values.map((_, i) => r.timeline[key][i] ?? null))),
      });
    });
  }
}
