// Records: a match is gone through step by step; tables renew themselves while matches are played.
import { $, complain, display, element, fetched, placed, replay } from "./common.js";

// calls `changed` when the database of records was written to
const listen = (changed) => new EventSource("/records/changes").addEventListener("changed", changed);

function record() {
  let match = JSON.parse($("match-data").textContent);
  let step = JSON.parse($("shown").textContent).step;
  let wanted = step;
  const id = encodeURIComponent(match.id);
  const ask = (what, more = "") => fetched(`/record/${what}?match=${id}${more}`);

  async function go(to) {
    wanted = Math.max(0, Math.min(match.steps.length, to));
    const requested = wanted;
    try {
      const shown = await ask("state", `&step=${requested}`);
      if (requested !== wanted) return;
      step = requested;
      display($("board"), shown.svg, shown.decided);
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
      element("strong", {}, `${one.role}: ${one.text}, ${one.grade}`),
      `, worth ${one.value.toFixed(0)} to mcts${one.proved ? ", proved" : ""}. `,
      one.best === one.move ? null : `Better: ${one.best_text}, worth ${one.best_value.toFixed(0)}. `,
      one.line.length > 1 ? element("span", { class: "muted" }, `Expected line: ${one.line.slice(1).map(chosen).join("; ")}`) : null)));
  }
  const chosen = (joint) => joint.filter((move) => move !== "noop").join(" / ") || joint[0];

  function notes() {
    const one = match.steps[step - 1];
    if (!one) return $("notes").replaceChildren(element("p", { class: "muted" }, "Initial state."));
    const rows = one.moves.map((made) => element("tr", {}, element("th", { scope: "row" }, made.role), element("td", {}, made.text),
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
    $("history").replaceChildren(...match.steps.map((one) => element("li", {}, one.moves.filter((made) => made.move !== "noop").map((made) => `${made.role}: ${made.text}${made.problem ? " !" : ""}`).join(", "))));
    document.querySelectorAll("#roles .goal").forEach((goal, i) => { goal.textContent = match.roles[i].goal ?? ""; });
    $("status").textContent = match.status === "running" ? "running" : `${match.status}, ${match.reason}`;
    if (wanted === before.steps.length) await go(match.steps.length);
    else placed(step, match.steps.length);
    if (match.status !== "running") curve();
  }

  display($("board"), $("board").innerHTML, JSON.parse($("shown").textContent).decided);
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

if ($("record")) record();
if ($("live")?.dataset.live) live();
