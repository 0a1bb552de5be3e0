// A match: the board is clicked, dragged on or used by keys; all pages of the match follow each other.
import { $, Lost, cellsOf, complain, display, element, fetched, placed, renewed, replay, stored, token } from "./common.js";

const place = $("match").dataset.place;
const board = $("board");
let now = JSON.parse($("view").textContent);
let view = now;
let version = $("match").dataset.version;
const title = document.title;
let chosen = [];
let busy = false;
let since = Date.now();
let paused = false;
let keyed = null;  // the cell that the keyboard was on, while the board is drawn anew

const ask = (address) => fetched(`${place}/${address}`);
const act = (what, fields = {}) => fetched(`${place}/${what}`, { method: "POST", body: new URLSearchParams({ token: token(), ...fields }) });
const watching = () => now.people.length === 0 && now.awaited.length === 0;
const cells = () => cellsOf(board);

// -- the server -----------------------------------------------------------------------------

let lost = false;

// one line says that the server is gone, until it is back
function gone() {
  lost = true;
  complain("The server does not answer. The match is kept; this page goes on as soon as the server is back.");
}

async function back() {
  if (!(await renewed())) return complain("The server was started anew and asks for its token: open the address that it has printed.");
  lost = false;
  complain("");
}

async function follow() {
  if (!document.hidden && !busy) {
    try {
      const found = await ask("version");
      if (lost) await back();
      if (!lost && found.version !== version && !busy) {
        const shown = await ask("state");
        if (!busy) { version = shown.version; expected = new Map(); show(shown, true); goOn(); }
      }
    } catch (error) {
      if (error instanceof Lost) gone(); else complain(error.message);
    }
  }
  setTimeout(follow, 1000);
}

async function run(what, fields) {
  if (busy) return;
  busy = true;
  if (what === "undo") expected = new Map();
  if (!lost) complain("");
  $("turn").classList.add("thinking");
  light();
  try {
    const shown = await act(what, fields);
    version = shown.version;
    show(shown, true);
  } catch (error) {
    if (error instanceof Lost) gone(); else complain(error.message);
    paused = true;
  }
  $("turn").classList.remove("thinking");
  busy = false;
  light();
  refocus();
  goOn();
}

function goOn() {
  if (!now.auto || busy || paused || lost || view !== now) return;
  setTimeout(() => { if (!busy && now.auto && !paused && !lost && view === now) run("advance", { step: now.steps }); }, watching() ? 700 : 250);
}

// -- what is shown --------------------------------------------------------------------------

function show(shown, current) {
  const before = now;
  view = shown;
  if (current) { now = shown; since = Date.now(); }
  chosen = [];
  display(board, shown.svg, shown.decided);
  board.hidden = Boolean(shown.hand_over);
  $("hand-over").hidden = !shown.hand_over;
  for (const name of document.querySelectorAll(".next-role")) name.textContent = shown.hand_over;
  $("hand-over").querySelector('[name="role"]').value = shown.hand_over;
  $("turn").textContent = status(shown);
  $("turn").dataset.kind = shown.over && shown.step === shown.steps ? shown.result.kind : "";
  $("rematch").hidden = !now.over;
  $("veil").hidden = !shown.hidden || Boolean(shown.hand_over);
  $("roles").replaceChildren(...shown.roles.map(role));
  $("choose").hidden = !shown.moves;
  $("count").textContent = shown.count ?? "";
  $("advance-form").hidden = !(now.auto && (paused || watching()));
  $("advance").textContent = paused ? "Continue" : "Pause";
  $("hint-text").hidden = true;
  if ($("hint-form")) $("hint-form").hidden = !shown.moves || shown.hidden;
  $("flip-form").hidden = !shown.can_flip || Boolean(shown.hand_over);
  $("timer").hidden = now.over;
  if ($("record-link")) $("record-link").hidden = now.hidden;
  $("resign-form").hidden = now.over || !now.turns.length;
  $("resign-form").querySelector('[name="role"]').value = now.turns[0] ?? "";
  $("seen-title").textContent = shown.hidden ? "Your percepts" : "Percepts of all roles";
  list("seen", now.seen.map((one) => `${one.role}${one.move && " "}${one.move}: saw ${one.seen.join(", ") || "nothing"}`));
  list("history", now.history);
  $("others-box").hidden = shown.others.length === 0;
  $("others").replaceChildren(...shown.others.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
  placed(shown.step, now.steps);
  $("thoughts").replaceChildren(...shown.thoughts.map((one) => thought(one, `${one.role} (${one.player}) played ${one.moves[0].text}`)));
  $("analysis").hidden = $("replay").hidden = shown.hidden;
  document.title = `${now.turns.length && !now.over ? "● " : ""}${title}`;
  if (current && shown.last.length && shown.steps !== before.steps) {
    $("heard").textContent = `${shown.last.filter((one) => one.move !== "noop").map((one) => `${one.role}: ${one.move}`).join(", ")}. ${status(shown)}`;
  }
  if (current && (shown.steps > before.steps || (shown.over && !before.over))) chime(shown);
  moves();
  light();
  refocus();
  if (!current || !now.auto || watching()) bar();
}

function status(shown) {
  if (shown.over && shown.step === shown.steps) return shown.result.text;
  if (shown.step < shown.steps) return `Step ${shown.step} of ${shown.steps}`;
  if (shown.hand_over) return `${shown.hand_over} is next`;
  if (shown.turns.length) return `Your move, ${shown.turns[0]}`;
  if (shown.awaited.length) return `Waiting for ${shown.awaited.join(" and ")}`;
  const choosing = shown.roles.filter((one) => one.choosing).map((one) => one.name);
  return choosing.length ? `${choosing.join(" and ")} to move` : "Advancing";
}

function role(one) {
  return element("li", { class: one.choosing ? "active" : null },
    element("span", { class: `dot c-${one.colour}`, "aria-hidden": "true" }), element("strong", {}, one.name),
    element("span", { class: "muted" }, one.seat),
    ...one.counts.map(([name, value]) => element("span", { class: "tally" }, `${name} ${value}`)),
    element("span", { class: "now" }, one.choosing ? "to move" : ""),
    element("span", { class: "goal" }, one.goal == null ? "" : String(one.goal)));
}

function list(name, lines) {
  $(`${name}-box`).hidden = lines.length === 0;
  $(name).replaceChildren(...lines.map((line) => element("li", {}, line)));
  $(name).scrollTop = $(name).scrollHeight;
}

// the report of a program: values of moves, how often they were tried or are played, and the expected line
function thought(report, title) {
  const drawn = report.moves.some((one) => one.chance != null);
  const often = (one) => one.proved ? "proved" : drawn ? `${Math.round(100 * (one.chance ?? 0))} %` : one.visits.toLocaleString("en");
  const rows = report.moves.map((one) => element("tr", {},
    element("th", { scope: "row" }, one.text),
    element("td", {}, one.value == null ? null : element("meter", { min: 0, max: 100, value: one.value, "aria-label": `${one.value.toFixed(0)} of 100` })),
    element("td", { class: "number" }, one.value == null ? "" : one.value.toFixed(0)),
    element("td", { class: "number muted" }, often(one))));
  const head = element("tr", {}, element("th", { scope: "col" }, "move"), element("th", { scope: "col", colspan: 2 }, "points"), element("th", { scope: "col", class: "number" }, drawn ? "played" : "games"));
  const line = report.line.length > 1 ? element("p", {}, element("span", { class: "muted" }, "Expected: "), report.line.join("; ")) : null;
  return element("div", { class: "hint" }, element("strong", {}, title), element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)), line,
    report.notes.length ? element("p", { class: "muted small" }, report.notes.join("; ")) : null);
}

// the list of moves, by kind
function moves() {
  const wanted = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const fitting = candidates().filter((move) => wanted.every((word) => move.text.toLowerCase().includes(word)));
  const kinds = new Map();
  for (const move of fitting.slice(0, 300)) {
    if (!kinds.has(move.kind)) kinds.set(move.kind, []);
    kinds.get(move.kind).push(move);
  }
  const parts = [];
  for (const [kind, some] of kinds) {
    if (kinds.size > 1 && some.length > 1) parts.push(element("h3", {}, `${kind} · ${some.length}`));
    parts.push(...some.map(button));
  }
  if (fitting.length > 300) parts.push(element("p", { class: "muted small" }, `and ${fitting.length - 300} more: type to filter`));
  $("moves").replaceChildren(...parts);
}

const button = (move) => element("button", { type: "button", class: "move", "data-move": move.move, onclick: () => make(move) }, move.text);
const make = (move) => run("move", { role: view.role, move: move.move, step: view.steps });

// -- the board ------------------------------------------------------------------------------

const fits = (pattern, name) => {
  if (!pattern.includes("*")) return pattern === name;
  const one = pattern.split(":"), two = name.split(":");
  return one.length === two.length && one.every((part, i) => part === "*" || part === two[i]);
};
const candidates = () => (view.moves ?? []).filter((move) => chosen.every((name, i) => i < move.clicks.length && fits(move.clicks[i], name)));

// marks what can be clicked; one cell is reached by Tab, the others by the arrow keys
function light() {
  const some = view.moves && !busy ? candidates() : [];
  const next = new Set(some.filter((move) => move.clicks.length > chosen.length).map((move) => move.clicks[chosen.length]));
  const exact = new Set([...next].filter((name) => !name.includes("*")));
  const open = [...next].filter((name) => name.includes("*"));
  let first = null;
  for (const cell of cells()) {
    const name = cell.dataset.cell;
    const can = exact.has(name) || open.some((pattern) => fits(pattern, name));
    const taken = chosen.includes(name);
    cell.classList.toggle("can", can);
    cell.classList.toggle("taken", taken);
    cell.setAttribute("role", can || taken ? "button" : "img");
    cell.setAttribute("tabindex", "-1");
    cell.setAttribute("aria-label", cell.dataset.say + (taken ? ", chosen" : ""));
    if (can && !first) first = cell;
  }
  (first ?? cells()[0])?.setAttribute("tabindex", "0");
}

// the keyboard stays on the board when it is drawn anew
function refocus() {
  if (keyed == null || busy) return;
  const was = cells().find((one) => one.dataset.cell === keyed);
  const some = view.moves && !was?.classList.contains("can") ? cells().filter((one) => one.classList.contains("can")) : [];
  const [x, y] = was ? middle(was) : [0, 0];
  const far = (one) => { const [a, b] = middle(one); return Math.hypot(a - x, b - y); };
  (some.sort((a, b) => far(a) - far(b))[0] ?? was)?.focus({ preventScroll: true });
}
document.addEventListener("focusin", (event) => { if (!board.contains(event.target)) keyed = null; });

function click(name) {
  if (!view.moves || busy) return;
  if (chosen.length && chosen[chosen.length - 1] === name && !follows(name)) { chosen.pop(); return again(); }
  if (!follows(name)) {
    if (!chosen.length) return;
    chosen = [];
    if (!follows(name)) return again();
  }
  chosen.push(name);
  const some = candidates();
  // a click that all moves share, and that none ends with, goes without saying
  const same = () => new Set(some.map((move) => move.clicks[chosen.length])).size === 1;
  while (some.length && same() && some.every((move) => move.clicks.length > chosen.length + 1)) chosen.push(some[0].clicks[chosen.length]);
  const whole = some.filter((move) => move.clicks.length === chosen.length);
  if (whole.length === 1 && some.length === 1) return make(whole[0]);
  if (whole.length && whole.length === some.length) return which(whole);
  again();
  if (whole.length) which(whole);
}

const follows = (name) => candidates().some((move) => move.clicks.length > chosen.length && fits(move.clicks[chosen.length], name));
const again = () => { light(); moves(); };

function which(some) {
  $("choices").replaceChildren(...some.map((move) => element("button", { type: "button", class: "move", onclick: () => { $("which").close("chosen"); make(move); } }, move.text)));
  $("which").showModal();
}
$("cancel").addEventListener("click", () => $("which").close());
$("which").addEventListener("close", () => { if ($("which").returnValue !== "chosen") { chosen = []; again(); } $("which").returnValue = ""; });

// a piece is clicked, or dragged to where it goes
let drag = null;
board.addEventListener("pointerdown", (event) => {
  const cell = event.target.closest(".can");
  const figure = cell?.querySelector(".hb-piece");
  drag = figure && event.isPrimary && event.button === 0 ? { cell, figure, x: event.clientX, y: event.clientY, ghost: null } : null;
  if (drag && event.pointerType !== "mouse") event.target.releasePointerCapture?.(event.pointerId);
});
document.addEventListener("pointermove", (event) => {
  if (!drag || (!drag.ghost && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 6)) return;
  if (!drag.ghost) {
    const name = drag.cell.dataset.cell;
    if (!chosen.includes(name)) click(name);
    if (!chosen.includes(name)) { drag = null; return; }
    const space = "http://www.w3.org/2000/svg", box = drag.figure.getBoundingClientRect();
    const ghost = document.createElementNS(space, "svg");
    const inside = drag.figure.getBBox();
    ghost.setAttribute("class", "hb ghost");
    ghost.setAttribute("viewBox", `${inside.x} ${inside.y} ${inside.width} ${inside.height}`);
    ghost.append(drag.figure.cloneNode(true));
    ghost.style.width = `${box.width}px`;
    ghost.style.height = `${box.height}px`;
    document.body.append(ghost);
    drag.figure.classList.add("lifted");
    drag.ghost = ghost;
    drag.half = [box.width / 2, box.height / 2];
  }
  drag.ghost.style.left = `${event.clientX - drag.half[0]}px`;
  drag.ghost.style.top = `${event.clientY - drag.half[1]}px`;
});
let dropped = false;
function drop(event, there) {
  const done = drag;
  drag = null;
  if (!done?.ghost) return;
  done.ghost.remove();
  done.figure.classList.remove("lifted");
  dropped = true;  // the click that may follow
  setTimeout(() => { dropped = false; }, 0);
  const target = there && document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-cell]");
  if (target && target !== done.cell && follows(target.dataset.cell)) click(target.dataset.cell);
  else { chosen = []; again(); }
}
document.addEventListener("pointerup", (event) => drop(event, true));
document.addEventListener("pointercancel", (event) => drop(event, false));

board.addEventListener("click", (event) => {
  const cell = event.target.closest("[data-cell]");
  if (cell && !dropped) click(cell.dataset.cell);
});
board.addEventListener("mouseover", (event) => {
  const cell = event.target.closest(".can");
  const open = (view.moves ?? []).flatMap((move) => move.clicks).filter((name) => name.includes("*"));
  if (!open.length) return;
  const pattern = cell ? open.find((name) => fits(name, cell.dataset.cell)) : null;
  for (const one of cells()) one.classList.toggle("near", pattern != null && fits(pattern, one.dataset.cell));
});
board.addEventListener("keydown", (event) => {
  const cell = event.target.closest("[data-cell]");
  if (event.key === "Escape" && chosen.length) { chosen = []; again(); }
  if (!cell) return;
  keyed = cell.dataset.cell;
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    click(keyed);
    if (!busy) refocus();
    return;
  }
  const way = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
  if (!way) return;
  event.preventDefault();
  const from = middle(cell);
  let best = null, least = Infinity;
  for (const other of cells()) {
    const to = middle(other), dx = to[0] - from[0], dy = to[1] - from[1];
    const along = dx * way[0] + dy * way[1], off = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
    if (other !== cell && along > 1 && along + 3 * off < least) { best = other; least = along + 3 * off; }
  }
  if (!best) return;
  keyed = best.dataset.cell;
  best.focus();
});
const middle = (cell) => { const box = cell.firstElementChild.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };

// -- tools ----------------------------------------------------------------------------------

$("filter").addEventListener("input", moves);
const submit = (form, what) => form?.addEventListener("submit", (event) => { event.preventDefault(); what(form); });
submit($("move-form"), () => {});
submit($("undo-form"), () => { paused = watching(); run("undo"); });
submit($("flip-form"), () => run("flip"));
submit($("show-form"), (form) => run("show", { role: form.role.value }));
submit($("resign-form"), (form) => { if (confirm(`Give the match up for ${form.role.value}?`)) run("resign", { role: form.role.value }); });
submit($("advance-form"), () => {
  if (paused) { paused = false; run("advance", { step: now.steps }); } else { paused = true; $("advance").textContent = "Continue"; }
});
submit($("hint-form"), async () => {
  if (!view.moves || busy) return;
  busy = true;
  $("hint").disabled = true;
  $("hint").textContent = "Looking…";
  try {
    const hint = await act("hint", { role: view.role });
    const title = `Try ${hint.text}`;
    $("hint-text").replaceChildren(hint.thought ? thought(hint.thought, title) : element("strong", {}, title));
    $("hint-text").hidden = false;
    const move = view.moves.find((one) => one.move === hint.move);
    for (const cell of cells()) cell.classList.toggle("tip", Boolean(move) && move.clicks.some((name) => fits(name, cell.dataset.cell)));
    for (const one of document.querySelectorAll("#moves .move")) one.classList.toggle("best", one.dataset.move === hint.move);
  } catch (error) { complain(error.message); }
  $("hint").disabled = false;
  $("hint").textContent = "Hint";
  busy = false;
});
for (const one of document.querySelectorAll("[data-copy]")) {
  one.addEventListener("click", async () => {
    $(one.dataset.copy).select();
    try { await navigator.clipboard.writeText($(one.dataset.copy).value); one.textContent = "Copied"; } catch { /* it is selected */ }
  });
}

// a short sound for each move, and one for the end; off until it is asked for
let sounds = null;
const loud = $("sound");
loud.setAttribute("aria-pressed", String(stored.get("sound") === "on"));
loud.addEventListener("click", () => {
  const on = loud.getAttribute("aria-pressed") !== "true";
  loud.setAttribute("aria-pressed", String(on));
  stored.set("sound", on ? "on" : null);
  if (on) chime(now);
});
function chime(shown) {
  if (loud.getAttribute("aria-pressed") !== "true") return;
  sounds ??= new AudioContext();
  const tones = !shown.over ? [320] : shown.result.kind === "lost" ? [320, 240] : [320, 400, 480];
  tones.forEach((tone, i) => {
    const start = sounds.currentTime + 0.14 * i;
    const voice = sounds.createOscillator(), volume = sounds.createGain();
    voice.type = "triangle";
    voice.frequency.value = tone;
    volume.gain.setValueAtTime(0.12, start);
    volume.gain.exponentialRampToValueAtTime(0.001, start + 0.13);
    voice.connect(volume).connect(sounds.destination);
    voice.start(start);
    voice.stop(start + 0.14);
  });
  board.dataset.chimes = Number(board.dataset.chimes ?? 0) + 1;
}

// -- replay and analysis --------------------------------------------------------------------

let wanted = null;
async function go(step) {
  step = Math.max(0, Math.min(now.steps, step));
  wanted = step;
  if (step === now.steps) { show(now, false); return goOn(); }
  try {
    const shown = await ask(`state?step=${step}`);
    if (wanted === step) show(shown, false);
  } catch (error) { if (error instanceof Lost) gone(); else complain(error.message); }
}
replay(go, () => [view.step, now.steps]);

// what programs think of the match is nobody's business until it is asked for, except when one watches them
let expected = new Map();  // the expected goals of each role, by step
let asking = false;
$("analysis").open = watching() || stored.get("analysis") === "open";
$("analysis").addEventListener("toggle", () => {
  if (!watching()) stored.set("analysis", $("analysis").open ? "open" : null);
  bar();
});

async function bar() {
  const step = view.step, cache = expected;
  $("bar").hidden = $("bar-said").hidden = true;
  if (view.hidden || !$("analysis").open || $("match").dataset.friend) return;
  if (expected.has(step)) return drawBar(expected.get(step));
  if (asking) return;
  asking = true;
  try { cache.set(step, await ask(`bar?step=${step}`)); } catch { /* the match goes on without it */ }
  asking = false;
  if (view.step !== step || expected.has(step)) bar();
}

const HOW = { search: (games) => `Tree search with ${games.toLocaleString("en")} playouts`, proof: () => "Proved for best play", random: (games) => `Average of ${games.toLocaleString("en")} random games`, end: () => "Final goals" };

function drawBar(bar) {
  const values = Object.entries(bar.values);
  const total = values.reduce((sum, [, value]) => sum + value, 0);
  if (values.length < 2 || total <= 0) return;
  $("bar").hidden = $("bar-said").hidden = false;
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("class", "hb");
  svg.setAttribute("viewBox", "0 0 300 24");
  svg.setAttribute("preserveAspectRatio", "none");
  let x = 0;
  for (const [name, value] of values) {
    const wide = (300 * value) / total;
    const colour = now.roles.find((one) => one.name === name)?.colour ?? "ink";
    const box = document.createElementNS(space, "rect");
    for (const [key, number] of Object.entries({ x, y: 0, width: wide, height: 24 })) box.setAttribute(key, number);
    box.setAttribute("class", `f-${colour}`);
    const text = document.createElementNS(space, "text");
    text.setAttribute("x", x + wide / 2);
    text.setAttribute("y", 16);
    text.setAttribute("text-anchor", "middle");
    text.setAttribute("class", `t-${colour}`);
    text.textContent = wide > 26 ? value.toFixed(0) : "";
    svg.append(box, text);
    x += wide;
  }
  $("bar").replaceChildren(svg);
  $("bar-said").textContent = `${HOW[bar.by](bar.games)}: ${values.map(([name, value]) => `${name} ${value.toFixed(0)}`).join(", ")}`;
}

setInterval(() => {
  const seconds = now.turns.length && !now.over ? Math.floor((Date.now() - since) / 1000) : 0;
  $("timer").textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}, 500);
show(now, true);
goOn();
follow();
