"use strict";
// The intervals of a drift of the rates, at one load.

const CHURN = [
  ["sets", "destinations of the mean key (1 − Jaccard)", "mean 1 − Jaccard (%)"],
  ["traffic", "traffic of the keys that move", "requests to come (%)"],
  ["keys", "keys that move", "admitted keys (%)"],
  ["counts", "keys with another number of destinations", "admitted keys (%)"],
];

const driftLines = name => {
  const rows = DATA.drift[chosen.drift].figures[name];
  return rows ? overSeeds(rows) : [];
};

// startDrift is the highest load that the best policy takes: beyond it nobody would run.
function startDrift() {
  const best = bestCapacity();
  return Math.max(0, DATA.drift.findLastIndex(d => best && DATA.loads[d.load] <= best.qps[0]));
}

function drawDrift() {
  chosen.drift = startDrift();
  chosen.churn = 0;
  chooser("drift", "drift", "Load", DATA.drift.map((d, i) => [i, load(d.load) + " requests/s"]));
  const x = () => ({label: "start of the interval (s)", values: DATA.drift[chosen.drift].from_s, text: v => `interval from ${digits(v, 6)} s`});
  const points = {text: v => isNumber(v) ? digits(100 * v) + " points" : "–", tick: (v, n) => digits(100 * v, n)};
  const charts = [
    ["hit", {label: "KV hit (% of prompt tokens)", ceiling: 1, floor: 0, ...asPercent}],
    ["p99", {label: "p99 TTFT (s, log scale)", log: true, text: seconds}, DATA.slos.map(s => ({y: s, label: `≤ ${digits(s)} s`}))],
    ["dip", {label: "dip (points of KV hit)", ...points}, [{y: 0, label: "no dip"}]],
  ];
  for (const [name, y, lines] of charts) {
    const chart = new Chart(figure("drift-" + name));
    chart.bandless = DATA.seeds.length < 4;
    follow("drift", () => chart.show({x: x(), y, lines, series: driftLines(name)}));
  }
  if (!figure("drift-churn").querySelector(".plot")) return;
  const churn = new Chart(figure("drift-churn"));
  chooser("drift-churn", "churn", "Moved", CHURN.map(([, text], i) => [i, text]));
  const draw = () => {
    const [name, , label] = CHURN[chosen.churn];
    churn.show({x: x(), y: {label, min: 0, ...asPercent}, series: driftLines(name).filter(s => s.y.some(isNumber))});
  };
  follow("drift", draw);
  follow("churn", draw);
}
