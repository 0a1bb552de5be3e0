"use strict";
// Makes the pages live: filters the library, makes boards clickable, checks what is written.
// Text from the server becomes text nodes; only drawings, which herbrand makes itself, become markup.
document.documentElement.classList.add("live");
const $ = (id) => document.getElementById(id);
const token = () => document.querySelector('meta[name="herbrand-token"]')?.content ?? "";

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value != null) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

async function answer(response) {
  let reply;
  try { reply = await response.json(); } catch { reply = { error: "The server did not answer." }; }
  if (!response.ok) throw new Error(reply.error ?? "The server did not answer.");
  return reply;
}

// -- library --------------------------------------------------------------------------------

function library() {
  const field = $("query");
  const cards = [...document.querySelectorAll("#cards > li")];
  const filter = () => {
    const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const card of cards) {
      card.hidden = !wanted.every((word) => card.dataset.said.includes(word));
      shown += card.hidden ? 0 : 1;
    }
    $("amount").textContent = shown === 1 ? "1 game" : `${shown} games`;
    $("nothing").hidden = shown > 0;
  };
  field.addEventListener("input", filter);
}

// -- what matches and records share ---------------------------------------------------------

const plain = (move) => (move.startsWith("(") && move.endsWith(")") ? move.slice(1, -1) : move);

function replay(go, place) {
  $("slider").addEventListener("input", () => go(Number($("slider").value)));
  document.querySelectorAll("#replay button").forEach((one) => one.addEventListener("click", () => {
    const [step, steps] = place();
    go({ first: 0, back: step - 1, on: step + 1, last: steps }[one.dataset.step]);
  }));
  $("history").addEventListener("click", (event) => {
    const line = event.target.closest("li");
    if (line) go([...$("history").children].indexOf(line) + 1);
  });
}

function placed(step, steps) {
  $("slider").max = steps;
  $("slider").value = step;
  $("step").textContent = `${step}/${steps}`;
  [...$("history").children].forEach((line, i) => line.classList.toggle("here", i === step - 1));
}

// the report of a program's search: values and visits of moves, and the expected line
function thought(report, title) {
  const rows = report.moves.map((one) => element("tr", {},
    element("th", { scope: "row" }, one.text),
    element("td", {}, one.value == null ? null : element("meter", { min: 0, max: 100, value: one.value, "aria-label": `${one.value.toFixed(0)} of 100` })),
    element("td", { class: "number" }, one.value == null ? "" : one.value.toFixed(0)),
    element("td", { class: "number muted" }, one.proved ? "proved" : one.visits.toLocaleString("en"))));
  const head = element("tr", {}, element("th", { scope: "col" }, "move"), element("th", { scope: "col", colspan: 2 }, "points"), element("th", { scope: "col", class: "number" }, "games"));
  const line = report.line.length > 1 ? element("p", {}, element("span", { class: "muted" }, "Expected: "), report.line.join("; ")) : null;
  return element("div", { class: "hint" }, element("strong", {}, title), element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)), line,
    report.notes.length ? element("p", { class: "muted small" }, report.notes.join("; ")) : null);
}

// calls `changed` when the database of records was written to
const listen = (changed) => new EventSource("/records/changes").addEventListener("changed", changed);

// -- matches --------------------------------------------------------------------------------

function match() {
  const key = $("match").dataset.key;
  const board = $("board");
  let now = JSON.parse($("view").textContent);
  let view = now;
  let chosen = [];
  let busy = false;
  let since = Date.now();
  let paused = false;
  let keyed = null;  // the cell that the keyboard was on, while the board is drawn anew

  const ask = (address) => fetch(`/match/${key}/${address}`, { headers: { accept: "application/json" } }).then(answer);
  const act = (what, fields = {}) => {
    const body = new URLSearchParams({ token: token(), ...fields });
    return fetch(`/match/${key}/${what}`, { method: "POST", body, headers: { accept: "application/json" } }).then(answer);
  };
  const complain = (text) => { $("problem").textContent = text; $("problem").hidden = !text; };

  async function run(what, fields) {
    if (busy) return;
    busy = true;
    if (what === "undo") expected = new Map();
    complain("");
    $("turn").classList.add("thinking");
    try { show(await act(what, fields), true); } catch (error) { complain(error.message); paused = true; }
    $("turn").classList.remove("thinking");
    busy = false;
    light();
    refocus();
    goOn();
  }

  const watching = () => now.people.length === 0;

  function goOn() {
    if (!now.auto || busy || paused || view !== now) return;
    setTimeout(() => { if (!busy && now.auto && !paused && view === now) run("advance"); }, watching() ? 700 : 250);
  }

  function show(shown, current) {
    view = shown;
    if (current) { now = shown; since = Date.now(); }
    chosen = [];
    board.innerHTML = shown.svg;
    $("turn").textContent = status(shown);
    $("veil").hidden = !shown.hidden;
    $("roles").replaceChildren(...shown.roles.map(role));
    $("choose").hidden = !shown.moves;
    $("count").textContent = shown.count ?? "";
    $("advance-form").hidden = !(now.auto && (paused || watching()));
    $("advance").textContent = paused ? "Continue" : "Pause";
    $("hint-text").hidden = true;
    $("hint").hidden = !shown.moves || shown.hidden;
    $("seen-title").textContent = now.over || watching() ? "Percepts of all roles" : "Your percepts";
    list("seen", now.seen.map((one) => `${one.role} ${plain(one.move)}: saw ${one.seen.join(" ") || "nothing"}`));
    list("history", now.history);
    placed(shown.step, now.steps);
    $("thoughts").hidden = shown.thoughts.length === 0;
    $("thoughts").replaceChildren(...shown.thoughts.map((one) => thought(one, `${one.role} (${one.player}) chose ${one.moves[0].text}`)));
    if (current && shown.last.length) $("heard").textContent = `${shown.last.filter((one) => plain(one.move) !== "noop").map((one) => `${one.role}: ${plain(one.move)}`).join(", ")}. ${status(shown)}`;
    moves();
    light();
    refocus();
    if (!current || !now.auto || watching()) bar();
  }

  function status(shown) {
    if (shown.over && shown.step === shown.steps) {
      const goals = shown.roles.filter((one) => one.seat !== "chance").map((one) => `${one.name} ${one.goal ?? "–"}`);
      return `The game is over: ${goals.join(", ")}`;
    }
    if (shown.step < shown.steps) return `Step ${shown.step} of ${shown.steps}`;
    if (shown.turns.length) return `Your move, ${shown.turns[0]}`;
    const choosing = shown.roles.filter((one) => one.choosing).map((one) => one.name);
    return choosing.length ? `${choosing.join(" and ")} to move` : "Advancing";
  }

  function role(one) {
    return element("li", { class: one.choosing ? "active" : null },
      element("span", { class: `dot c-${one.colour}`, "aria-hidden": "true" }), element("strong", {}, one.name),
      element("span", { class: "muted" }, one.seat), element("span", { class: "now" }, one.choosing ? "to move" : ""),
      element("span", { class: "goal" }, one.goal == null ? "" : String(one.goal)));
  }

  function list(name, lines) {
    $(`${name}-box`).hidden = lines.length === 0;
    $(name).replaceChildren(...lines.map((line) => element("li", {}, line)));
    $(name).scrollTop = $(name).scrollHeight;
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

  // clicking on the board
  const fits = (pattern, name) => {
    if (!pattern.includes("*")) return pattern === name;
    const one = pattern.split(":"), two = name.split(":");
    return one.length === two.length && one.every((part, i) => part === "*" || part === two[i]);
  };
  const candidates = () => (view.moves ?? []).filter((move) => chosen.every((name, i) => i < move.clicks.length && fits(move.clicks[i], name)));
  const cells = () => [...board.querySelectorAll("[data-cell]")];

  function light() {
    const some = view.moves && !busy ? candidates() : [];
    const next = new Set(some.filter((move) => move.clicks.length > chosen.length).map((move) => move.clicks[chosen.length]));
    const exact = new Set([...next].filter((name) => !name.includes("*")));
    const open = [...next].filter((name) => name.includes("*"));
    let first = true;
    for (const cell of cells()) {
      const name = cell.dataset.cell;
      const can = exact.has(name) || open.some((pattern) => fits(pattern, name));
      const taken = chosen.includes(name);
      cell.classList.toggle("can", can);
      cell.classList.toggle("taken", taken);
      if (can || taken) {
        cell.setAttribute("role", "button");
        cell.setAttribute("tabindex", first ? "0" : "-1");
        cell.setAttribute("aria-label", cell.dataset.say + (taken ? ", chosen" : ""));
        first = false;
      } else {
        cell.removeAttribute("role");
        cell.removeAttribute("tabindex");
      }
    }
    const svg = board.querySelector("svg");
    if (svg) svg.setAttribute("role", view.moves ? "group" : "img");
  }

  // the keyboard stays on the board when it is drawn anew
  function refocus() {
    if (keyed == null || !view.moves || busy) return;
    const was = cells().find((one) => one.dataset.cell === keyed), [x, y] = was ? middle(was) : [0, 0];
    const far = (one) => { const [a, b] = middle(one); return Math.hypot(a - x, b - y); };
    cells().filter((one) => one.hasAttribute("tabindex")).sort((a, b) => far(a) - far(b))[0]?.focus({ preventScroll: true });
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
    if (whole.length) which(whole, true);
  }

  const follows = (name) => candidates().some((move) => move.clicks.length > chosen.length && fits(move.clicks[chosen.length], name));
  const again = () => { light(); moves(); };

  function which(some) {
    $("choices").replaceChildren(...some.map((move) => element("button", { type: "button", class: "move", onclick: () => { $("which").close("chosen"); make(move); } }, move.text)));
    $("which").showModal();
  }
  $("cancel").addEventListener("click", () => $("which").close());
  $("which").addEventListener("close", () => { if ($("which").returnValue !== "chosen") { chosen = []; again(); } $("which").returnValue = ""; });

  board.addEventListener("click", (event) => {
    const cell = event.target.closest("[data-cell]");
    if (cell) click(cell.dataset.cell);
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
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      keyed = cell.dataset.cell;
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
      if (other === cell || !other.hasAttribute("tabindex")) continue;
      const to = middle(other), dx = to[0] - from[0], dy = to[1] - from[1];
      const along = dx * way[0] + dy * way[1], off = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
      if (along > 1 && along + 3 * off < least) { best = other; least = along + 3 * off; }
    }
    best?.focus();
  });
  const middle = (cell) => { const box = cell.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };

  // tools
  $("filter").addEventListener("input", moves);
  const submit = (form, what) => form.addEventListener("submit", (event) => { event.preventDefault(); what(); });
  submit($("move-form"), () => {});
  submit(document.querySelector('form[action$="/undo"]'), () => { paused = watching(); run("undo"); });
  submit($("advance-form"), () => {
    if (paused) { paused = false; run("advance"); } else { paused = true; $("advance").textContent = "Continue"; }
  });
  submit($("hint").form, async () => {
    if (!view.moves || busy) return;
    busy = true;
    $("hint").disabled = true;
    try {
      const hint = await act("hint", { role: view.role });
      const title = `Try ${plain(hint.move)}`;
      $("hint-text").replaceChildren(hint.thought ? thought(hint.thought, title) : element("strong", {}, title));
      $("hint-text").hidden = false;
      const move = view.moves.find((one) => one.move === hint.move);
      for (const cell of cells()) cell.classList.toggle("tip", Boolean(move) && move.clicks.some((name) => fits(name, cell.dataset.cell)));
      for (const one of document.querySelectorAll("#moves .move")) one.classList.toggle("best", one.dataset.move === hint.move);
    } catch (error) { complain(error.message); }
    $("hint").disabled = false;
    busy = false;
  });

  // replay
  let wanted = null;
  async function go(step) {
    step = Math.max(0, Math.min(now.steps, step));
    if (step === now.steps) { show(now, false); return goOn(); }
    wanted = step;
    const shown = await ask(`state?step=${step}`);
    if (wanted === step) show(shown, false);
  }
  replay(go, () => [view.step, now.steps]);

  // the expected goals of each role, cached by step
  let expected = new Map();
  let asking = false;

  async function bar() {
    const step = view.step, cache = expected;
    $("bar").hidden = $("bar-said").hidden = true;
    if (view.hidden) return;
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
}

// -- writing --------------------------------------------------------------------------------

function write() {
  const text = $("text");
  let played = [];
  let findings = [];
  let timer = 0;
  let tab = "findings";
  let playable = false;
  const ask = (what, more = {}) => fetch(`/api/${what}`, {
    method: "POST", headers: { "content-type": "application/json", accept: "application/json", "x-herbrand-token": token() },
    body: JSON.stringify({ text: text.value, notation: $("notation").value, ...more }),
  }).then(answer);

  function paint() {
    const worst = new Map();
    for (const one of findings) if (one.severity !== "note") worst.set(one.line, worst.get(one.line) === "error" ? "error" : one.severity);
    const lines = text.value.split("\n");
    $("gutter").replaceChildren(...lines.flatMap((_, i) => {
      const kind = { error: "b", warning: "i" }[worst.get(i + 1)];
      return [kind ? element(kind, {}, String(i + 1)) : document.createTextNode(String(i + 1)), document.createTextNode("\n")];
    }));
    const parts = [];
    let at = 0;
    const points = [...text.value];  // places count code points
    for (const one of [...findings].sort((a, b) => a.start - b.start)) {
      if (one.start < at) continue;
      parts.push(points.slice(at, one.start).join(""), element("mark", { class: one.severity }, points.slice(one.start, one.end).join("")));
      at = one.end;
    }
    parts.push(points.slice(at).join("") + "\n");
    $("backdrop").replaceChildren(...parts);
    scroll();
  }
  const scroll = () => { $("backdrop").scrollTop = $("gutter").scrollTop = text.scrollTop; $("backdrop").scrollLeft = text.scrollLeft; };
  text.addEventListener("scroll", scroll);

  function select(one) {
    const units = (count) => [...text.value].slice(0, count).join("").length;
    text.focus();
    text.setSelectionRange(units(one.start), units(one.end));
    const line = parseFloat(getComputedStyle(text).lineHeight);
    text.scrollTop = Math.max(0, (one.line - 6) * line);
  }

  function replace(value) {
    if (value === text.value) return;
    text.focus();
    text.select();
    if (!document.execCommand("insertText", false, value)) text.value = value;  // so that undo works
    changed();
  }

  function card(one, number) {
    const fix = one.fix && element("button", { type: "button", class: "fix", onclick: async () => {
      const checkedText = text.value;
      fix.disabled = true;
      try {
        const reply = await ask("fix", { number });
        if (checkedText === text.value) replace(reply.text);
      } catch { check(); }  // the text has changed since it was checked
    } }, `Fix: ${one.fix}`);
    return element("li", { class: one.severity },
      element("button", { type: "button", class: "where", onclick: () => select(one) }, `line ${one.line}, column ${one.column}`),
      element("span", { class: "check" }, `  ${one.check}`),
      element("p", {}, one.message), one.help && element("p", { class: "muted" }, one.help), ...one.notes.map((note) => element("p", { class: "muted" }, note)), fix || null);
  }

  function verdict(said, kind) { $("verdict").textContent = said; $("verdict").className = `verdict ${kind}`; }

  async function check() {
    const checkedText = text.value;
    let reply;
    try { reply = await ask("check"); } catch (error) { verdict(error.message, "bad"); return; }
    if (checkedText !== text.value) return;
    findings = reply.findings;
    playable = reply.playable;
    const errors = findings.filter((one) => one.severity === "error").length;
    const others = findings.filter((one) => one.severity === "warning").length;
    verdict(errors ? `${errors} error${errors > 1 ? "s" : ""}` : others ? `playable, ${others} warning${others > 1 ? "s" : ""}` : "no problems", errors ? "bad" : "good");
    $("play").disabled = !playable;
    const cards = findings.map(card);
    if (!cards.length) cards.push(element("li", { class: "fine" }, `No problems: ${reply.statements} statements in ${reply.notation} notation, roles ${reply.roles.join(", ")}.`));
    if (reply.more) cards.push(element("li", { class: "note" }, `and ${reply.more} more`));
    $("findings").replaceChildren(...cards);
    paint();
    refresh();
  }

  function changed() { paint(); played = []; clearTimeout(timer); verdict("…", ""); timer = setTimeout(check, 250); }
  text.addEventListener("input", changed);
  $("notation").addEventListener("change", changed);

  async function refresh() {
    if (tab === "game") {
      if (!playable) { $("preview").replaceChildren(); $("preview-moves").replaceChildren(); $("preview-said").textContent = "Fix the errors in the rules to see the game here."; return; }
      try {
        const reply = await ask("preview", { moves: played });
        $("preview").innerHTML = reply.svg;
        $("preview-said").textContent = reply.caption;
        choose(reply);
      } catch (error) { $("preview-said").textContent = error.message; }
    }
    if (tab === "relations") {
      try {
        const reply = await ask("graph");
        $("drawn").innerHTML = reply.svg;
        $("drawn").scrollLeft = ($("drawn").scrollWidth - $("drawn").clientWidth) / 2;
        $("relations").replaceChildren(...reply.relations.map((one) => element("tr", {}, element("th", { scope: "row" }, one.relation),
          element("td", {}, ...one.on.flatMap((name) => [element("span", { class: name.startsWith("not ") ? "not" : "" }, name), " "])))));
      } catch (error) { verdict(error.message, "bad"); }
    }
  }

  // a click on a relation leaves only its own ties
  $("drawn").addEventListener("click", (event) => {
    const name = event.target.closest("[data-relation]")?.dataset.relation;
    const again = name && $("drawn").dataset.shown === name;
    $("drawn").dataset.shown = again ? "" : name ?? "";
    const shown = $("drawn").dataset.shown;
    const near = new Set([shown]);
    for (const edge of $("drawn").querySelectorAll("[data-from]")) {
      const tied = !shown || edge.dataset.from === shown || edge.dataset.to === shown;
      edge.classList.toggle("faint", !tied);
      if (tied) near.add(edge.dataset.from).add(edge.dataset.to);
    }
    for (const one of $("drawn").querySelectorAll("[data-relation]")) one.classList.toggle("faint", Boolean(shown) && !near.has(one.dataset.relation));
  });

  function choose(reply) {
    const names = Object.keys(reply.legal);
    const plan = names.map((name) => (reply.legal[name].length === 1 ? reply.legal[name][0] : null));
    const draw = () => {
      const at = plan.indexOf(null);
      if (reply.over || !names.length) return $("preview-moves").replaceChildren();
      if (at < 0) { played.push(plan.map(String)); return refresh(); }
      $("preview-moves").replaceChildren(element("h3", {}, `${names[at]} · ${reply.legal[names[at]].length}`),
        ...reply.legal[names[at]].map((move) => element("button", { type: "button", class: "move", onclick: () => { plan[at] = move; draw(); } }, move)));
    };
    if (!reply.over && names.length && plan.indexOf(null) < 0) {
      $("preview-moves").replaceChildren(element("button", { type: "button", class: "move", onclick: draw }, `on: ${plan.join(", ")}`));
    } else draw();
  }
  $("again").addEventListener("click", () => { played = []; refresh(); });

  document.querySelectorAll("[data-tab]").forEach((one) => one.addEventListener("click", () => {
    tab = one.dataset.tab;
    document.querySelectorAll("[data-tab]").forEach((other) => {
      other.setAttribute("aria-selected", String(other === one));
      $(`panel-${other.dataset.tab}`).hidden = other !== one;
    });
    refresh();
  }));

  $("format").addEventListener("click", async () => { try { replace((await ask("layout")).text); } catch (error) { verdict(error.message, "bad"); } });
  $("to").addEventListener("change", async () => {
    const to = $("to").value;
    $("to").value = "";
    if (!to) return;
    try { const reply = await ask("convert", { to }); $("notation").value = to; replace(reply.text); } catch (error) { verdict(error.message, "bad"); }
  });
  $("repair").addEventListener("click", async () => {
    const repairedText = text.value;
    $("repair").disabled = true;
    verdict("looking for an edit…", "");
    try {
      const reply = await ask("repair");
      if (repairedText !== text.value) return;
      $("tab-findings").click();
      document.querySelector("#findings > .fine")?.remove();
      $("findings").prepend(repairCard(reply));
      verdict(!reply.faults.length ? "nothing to repair" : reply.text ? "an edit mends the game" : "no edit found", reply.faults.length && !reply.text ? "bad" : "good");
    } catch (error) { verdict(error.message, "bad"); } finally { $("repair").disabled = false; }
  });

  function repairCard(reply) {
    if (!reply.faults.length) return element("li", { class: "fine" }, "Nothing to repair: no play was found that does not end, gets stuck or has no result.");
    const edits = reply.edits.map((edit) => element("p", {}, edit.line ? `line ${edit.line}: ` : "new: ",
      edit.before && element("del", {}, element("code", {}, edit.before)), " ", ...edit.after.map((rule) => element("ins", {}, element("code", {}, rule)))));
    const proofs = reply.properties.map(([said, proved]) => `${proved ? "Proved" : "Not refuted"}: ${said}.`).join(" ");
    return element("li", { class: reply.text ? "note" : "error" },
      element("p", {}, element("strong", {}, reply.faults.join("; "))),
      ...(reply.text ? [element("p", {}, reply.edits.length > 1 ? "These changes mend it:" : "This one change mends it:"), ...edits, element("p", { class: "muted" }, proofs),
        element("button", { type: "button", class: "fix", onclick: () => replace(reply.text) }, "Make the change")]
        : [element("p", {}, `No edit mends it; ${reply.tried} were tried.`)]));
  }

  $("explain").addEventListener("click", async () => {
    try { $("why").textContent = (await ask("why", { atom: $("atom").value, moves: played })).text; } catch (error) { $("why").textContent = error.message; }
  });
  $("atom").addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); $("explain").click(); } });
  document.addEventListener("keydown", (event) => {
    if (event.key === "s" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); document.querySelector('[formaction="/edit/download"]').click(); }
    if (event.key === "n" && event.altKey && findings.length) {
      event.preventDefault();
      select(findings.find((one) => [...text.value.slice(0, text.selectionEnd)].length < one.start + 1) ?? findings[0]);
    }
  });
  paint();
  check();
}

// -- records --------------------------------------------------------------------------------

function record() {
  let match = JSON.parse($("match-data").textContent);
  let step = JSON.parse($("shown").textContent).step;
  let wanted = step;
  const id = encodeURIComponent(match.id);
  const ask = (what, more = "") => fetch(`/record/${what}?match=${id}${more}`, { headers: { accept: "application/json" } }).then(answer);
  const complain = (text) => { $("problem").textContent = text; $("problem").hidden = !text; };

  async function go(to) {
    wanted = Math.max(0, Math.min(match.steps.length, to));
    const requested = wanted;
    try {
      const shown = await ask("state", `&step=${requested}`);
      if (requested !== wanted) return;
      step = requested;
      $("board").innerHTML = shown.svg;
      $("turn").textContent = shown.said;
      complain("");
    } catch (error) { return complain(error.message); }
    placed(step, match.steps.length);
    notes();
    judge();
    mark();
  }

  // what a search thinks of the moves of this step, a moment after the slider came to rest
  const judged = new Map();
  let resting = 0;
  function judge() {
    clearTimeout(resting);
    const requested = step;
    $("judged").replaceChildren();
    if (judged.has(requested)) return judgement(judged.get(requested));
    if (!match.steps[requested - 1] || match.steps[requested - 1].opening) return;
    resting = setTimeout(async () => {
      if (match.steps[requested - 1].moves.every((made) => made.move === "noop")) return;
      $("judged").replaceChildren(element("p", { class: "muted small" }, "mcts is analysing this step…"));
      try { judged.set(requested, await ask("judged", `&step=${requested}`)); } catch { judged.set(requested, []); }
      if (requested === step) judgement(judged.get(requested));
    }, 400);
  }

  function judgement(judgements) {
    $("judged").replaceChildren(...judgements.map((one) => element("p", { class: "hint" },
      element("strong", {}, `${one.role} ${plain(one.move)}: ${one.grade}`),
      `, worth ${one.value.toFixed(0)} to mcts${one.proved ? ", proved" : ""}. `,
      one.best === one.move ? null : `Better: ${plain(one.best)}, worth ${one.best_value.toFixed(0)}. `,
      one.line.length > 1 ? element("span", { class: "muted" }, `Expected line: ${one.line.slice(1).map(chosen).join("; ")}`) : null)));
  }
  const chosen = (joint) => joint.filter((move) => move !== "noop").map(plain).join(" / ") || joint[0];

  function notes() {
    const one = match.steps[step - 1];
    if (!one) return $("notes").replaceChildren(element("p", { class: "muted" }, "Initial state."));
    const rows = one.moves.map((made) => element("tr", {}, element("th", { scope: "row" }, made.role), element("td", {}, made.move),
      element("td", { class: "number" }, made.seconds == null ? "" : `${made.seconds.toFixed(2)} s`),
      element("td", {}, [made.seen.length ? `saw ${made.seen.join(" ")}` : "", made.problem ?? ""].filter(Boolean).join("; "))));
    $("notes").replaceChildren(one.opening ? element("p", { class: "muted" }, "A move of the opening, which nobody chose.") : "",
      element("div", { class: "scroll" }, element("table", { class: "listed" }, element("tbody", {}, ...rows))));
  }

  function mark() {
    const svg = document.querySelector("#curve svg"), line = svg?.querySelector(".now");
    if (!line) return;
    const x = Number(svg.dataset.left) + Number(svg.dataset.step) * step;
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
  }

  async function curve() {
    try {
      const drawn = await ask("curve");
      $("curve").innerHTML = drawn.svg;
      $("curve-said").textContent = `Goals: ${drawn.said}.`;
      mark();
    } catch (error) { $("curve").textContent = error.message; }
  }

  async function renew() {
    const before = match;
    try { match = await ask("match"); } catch (error) { return complain(error.message); }
    if (match.steps.length === before.steps.length && match.status === before.status) return;
    $("history").replaceChildren(...match.steps.map((one) => element("li", {}, one.moves.filter((made) => made.move !== "noop").map((made) => `${made.role} ${plain(made.move)}${made.problem ? " !" : ""}`).join(", "))));
    document.querySelectorAll("#roles .goal").forEach((goal, i) => { goal.textContent = match.roles[i].goal ?? ""; });
    $("status").textContent = match.status === "running" ? "running" : `${match.status}, ${match.reason}`;
    if (wanted === before.steps.length) await go(match.steps.length);
    else placed(step, match.steps.length);
    if (match.status !== "running") curve();
  }

  replay(go, () => [wanted, match.steps.length]);
  placed(step, match.steps.length);
  curve();
  judge();
  if (match.status === "running") listen(renew);
}

// a page that is fetched again when the database was written to
function live() {
  let busy = false, again = false;
  listen(async () => {
    again = true;
    if (busy) return;
    busy = true;
    while (again) {
      again = false;
      try {
        const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
        const fresh = page.getElementById("live");
        if (fresh && fresh.innerHTML !== $("live").innerHTML) $("live").innerHTML = fresh.innerHTML;
      } catch { /* the server is gone; the stream comes back with it */ }
      await new Promise((done) => setTimeout(done, 500));
    }
    busy = false;
  });
}

document.addEventListener("submit", (event) => {
  const busy = event.target.dataset?.busy;
  if (busy) { const button = event.target.querySelector("button"); button.textContent = busy; setTimeout(() => { button.disabled = true; }, 0); }
});
if ($("cards")) library();
if ($("match")) match();
if ($("text") && $("edit")) write();
if ($("record")) record();
if ($("live")?.dataset.live) live();
