// The editor: checks what is written, keeps it in the browser, and saves it into the library.
import { $, Lost, display, element, fetched, renewed, stored, token } from "./common.js";

function write() {
  const text = $("text");
  let played = [];
  let findings = [];
  let timer = 0;
  let tab = "findings";
  let playable = false;
  const ask = async (what, more = {}) => {
    const body = JSON.stringify({ text: text.value, notation: $("notation").value, ...more });
    const send = () => fetched(`/api/${what}`, { method: "POST", headers: { "content-type": "application/json", "x-herbrand-token": token() }, body });
    try { return await send(); } catch (error) {
      if (error.status !== 403 || !(await renewed())) throw error;
      return send();  // the server was started anew
    }
  };

  // -- what is written stays in the browser until it is saved or discarded

  const draft = () => `draft-${$("opened").value || "new"}`;
  const saved = { text: text.value, notation: $("notation").value, title: $("title").value };
  let inBrowser = true;
  const isChanged = () => text.value !== saved.text || $("title").value !== saved.title;

  function keep() {
    const now = { text: text.value, notation: $("notation").value, title: $("title").value, at: Date.now() };
    inBrowser = stored.set(draft(), isChanged() ? JSON.stringify(now) : null);
    tell(!isChanged() ? "" : inBrowser ? "Not saved: your changes are kept in this browser only." : "Not saved, and this browser keeps nothing: save or download before you leave.");
  }

  function tell(said, ...more) { $("kept").replaceChildren(said, ...more); }

  function restore() {
    let kept = null;
    try { kept = JSON.parse(stored.get(draft()) ?? "null"); } catch { /* not ours */ }
    if (!kept || typeof kept.text !== "string" || kept.text === text.value) return;
    text.value = kept.text;
    $("notation").value = kept.notation;
    $("title").value = kept.title;
    const discard = element("button", { type: "button", class: "link", onclick: () => {
      $("title").value = saved.title;
      $("notation").value = saved.notation;
      replace(saved.text);
      keep();
    } }, "Discard them");
    tell(`These are your changes of ${new Date(kept.at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })}, which are not saved. `, discard);
  }

  async function save(replacing = false) {
    const fields = { token: token(), opened: $("opened").value, title: $("title").value, notation: $("notation").value, text: text.value };
    const send = () => fetched("/edit/save", { method: "POST", body: new URLSearchParams({ ...fields, token: token(), ...(replacing ? { replace: "yes" } : {}) }) });
    let reply;
    try {
      try { reply = await send(); } catch (error) {
        if (error.status !== 403 || !(await renewed())) throw error;
        reply = await send();
      }
    } catch (error) {
      if (error.status === 409 && !replacing && confirm(`${error.message}\n\nReplace it?`)) return save(true);
      return tell(error.message);
    }
    stored.set(draft(), null);
    $("opened").value = reply.key;
    Object.assign(saved, { text: fields.text, notation: fields.notation, title: fields.title });
    history.replaceState(null, "", `/edit?game=${encodeURIComponent(reply.key)}`);
    tell("Saved. ", element("a", { href: `/game/${encodeURIComponent(reply.key)}` }, "Its page in the library"));
  }

  addEventListener("beforeunload", (event) => { if (isChanged() && !inBrowser) event.preventDefault(); });
  $("save").addEventListener("click", (event) => { event.preventDefault(); save(); });
  $("title").addEventListener("input", keep);

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
    try { reply = await ask("check"); } catch (error) {
      verdict(error instanceof Lost ? "the server does not answer" : error.message, "bad");
      if (error instanceof Lost) timer = setTimeout(check, 3000);
      return;
    }
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

  function changed() { paint(); keep(); played = []; clearTimeout(timer); verdict("…", ""); timer = setTimeout(check, 250); }
  text.addEventListener("input", changed);
  $("notation").addEventListener("change", changed);

  async function refresh() {
    if (tab === "game") {
      if (!playable) { $("preview").replaceChildren(); $("preview-moves").replaceChildren(); $("preview-said").textContent = "Fix the errors in the rules to see the game here."; return; }
      try {
        const reply = await ask("preview", { moves: played });
        display($("preview"), reply.svg);
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
      verdict(!reply.faults.length ? "nothing to repair" : reply.text ? "an edit repairs the game" : "no edit found", reply.faults.length && !reply.text ? "bad" : "good");
    } catch (error) { verdict(error.message, "bad"); } finally { $("repair").disabled = false; }
  });

  function repairCard(reply) {
    if (!reply.faults.length) return element("li", { class: "fine" }, "Nothing to repair: no play was found that does not end, gets stuck or has no result.");
    const edits = reply.edits.map((edit) => element("p", {}, edit.line ? `line ${edit.line}: ` : "new: ",
      edit.before && element("del", {}, element("code", {}, edit.before)), " ", ...edit.after.map((rule) => element("ins", {}, element("code", {}, rule)))));
    const proofs = reply.properties.map(([said, proved]) => `${proved ? "Proved" : "Not refuted"}: ${said}.`).join(" ");
    return element("li", { class: reply.text ? "note" : "error" },
      element("p", {}, element("strong", {}, reply.faults.join("; "))),
      ...(reply.text ? [element("p", {}, reply.edits.length > 1 ? "These changes repair it:" : "This one change repairs it:"), ...edits, element("p", { class: "muted" }, proofs),
        element("button", { type: "button", class: "fix", onclick: () => replace(reply.text) }, "Make the change")]
        : [element("p", {}, `No edit repairs it; ${reply.tried} were tried.`)]));
  }

  $("explain").addEventListener("click", async () => {
    try { $("why").textContent = (await ask("why", { atom: $("atom").value, moves: played })).text; } catch (error) { $("why").textContent = error.message; }
  });
  $("atom").addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); $("explain").click(); } });
  document.addEventListener("keydown", (event) => {
    if (event.key === "s" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); save(); }
    if (event.key === "n" && event.altKey && findings.length) {
      event.preventDefault();
      select(findings.find((one) => [...text.value.slice(0, text.selectionEnd)].length < one.start + 1) ?? findings[0]);
    }
  });
  restore();
  paint();
  check();
}

write();

