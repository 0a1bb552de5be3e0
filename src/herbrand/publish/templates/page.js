// The page of a published game: seats, clicks, the list of moves, and players that think in a worker.

"use strict";

const PERSON = "person";
const $ = (id) => document.getElementById(id);
const plain = (term) => term.replace(/^\((.*)\)$/, "$1").replace(/[()]/g, " ").replace(/\s+/g, " ").trim();

/** Keep a choice for the next visit; browsers may forbid that for files. */
const memory = {
  get(key) {
    try {
      return localStorage.getItem(`herbrand ${document.title} ${key}`);
    } catch {
      return null;
    }
  },
  set(key, value) {
    try {
      localStorage.setItem(`herbrand ${document.title} ${key}`, value);
    } catch {
      // it is forgotten
    }
  },
};

// -- a player in a worker, or on the page where workers are refused -------------------------------

const IN_WORKER = `
onmessage = async ({ data }) => {
  onmessage = null;
  const packed = await inflate(data);
  const [tables] = unpack(packed);
  serve(new Game(tables, decodeWires(tables, packed, wiresStart(packed))), self);
  postMessage("ready");
};`;

class Thinker {
  constructor(game, packed) {
    this.game = game;
    this.packed = packed;
    this.questions = new Set();
    this.start();
  }

  /** Begin a worker; `this.player` is its player once it is ready, and null where workers are refused. */
  start() {
    this.player = new Promise((resolve) => {
      try {
        const source = `${$("library").textContent}\n${IN_WORKER}`;
        this.worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
        this.worker.onerror = () => resolve(null);
        this.worker.onmessage = () => resolve(new RemotePlayer(this.worker));
        this.worker.postMessage(this.packed);
      } catch {
        resolve(null);
      }
    });
  }

  /** Ask for a move; an answer that is no longer wanted never comes. */
  async choose(states, role, level) {
    const question = Symbol("question");
    this.questions.add(question);
    const player = await this.player;
    const choice = await (player ? player.choose(states, role, level) : this.here(states, role, level));
    this.questions.delete(question);
    return choice;
  }

  async here(states, role, level) {
    await new Promise((resolve) => setTimeout(resolve, 30)); // the page is drawn first
    return answer(this.game, { id: 0, states: states.map(({ bits }) => bits), role, level, seed: Math.random() * 2 ** 31 });
  }

  /** Stop thinking about what was asked. */
  stop() {
    if (!this.questions.size) return;
    this.questions.clear();
    if (!this.worker) return;
    this.worker.terminate();
    this.start();
  }
}

// -- a match ---------------------------------------------------------------------------------------

class Match {
  constructor(game) {
    this.game = game;
    this.states = [game.initialState];
    this.joints = [];
    this.resigned = null;
    this.knowledge = null;
    this.remember();
  }

  get state() {
    return this.states[this.states.length - 1];
  }

  get isOver() {
    return this.state.isTerminal || this.resigned !== null;
  }

  play(joint) {
    const before = this.state;
    const seen = this.game.tables.hidden ? before.seen(joint) : null;
    const after = before.after(joint);
    this.joints.push(joint);
    this.states.push(after);
    this.knowledge?.forEach((one) => one.observe(joint[one.role], seen[one.role], after.isTerminal));
  }

  /** Go back to the state after a number of steps. */
  back(steps) {
    this.resigned = null;
    const joints = this.joints.slice(0, steps);
    this.states.length = 1;
    this.joints = [];
    this.remember();
    joints.forEach((joint) => this.play(joint));
  }

  remember() {
    if (!this.game.tables.hidden) return;
    const [initial] = this.states;
    this.knowledge = this.game.roles.map((_, role) => new Knowledge(initial, role, new Chance(role + 1)));
  }

  /** The states that a role thinks possible. */
  possible(role) {
    return this.knowledge ? this.knowledge[role].states : [this.state];
  }

  /** What a role knows of each fluent. */
  facts(role) {
    const fluents = this.game.tables.fluents.map((_, f) => f);
    if (!this.knowledge || this.isOver || role === null) return fluents.map((f) => this.state.holds(f));
    return this.knowledge[role].facts();
  }

  /** The moves as text, for the address of the page. */
  toString() {
    return this.joints.map((joint) => joint.map((move) => move.toString(36)).join(".")).join("-");
  }

  /** Replay moves from an address; throws for a text that is none. */
  static read(game, text) {
    const match = new Match(game);
    for (const step of text ? text.split("-") : []) {
      const joint = step.split(".").map((move) => parseInt(move, 36));
      const isLegal = joint.length === game.roles.length &&
        joint.every((move, role) => match.state.legalNumbers(role).includes(move));
      if (!isLegal) throw new MoveError(step);
      match.play(joint);
    }
    return match;
  }
}

// -- the page --------------------------------------------------------------------------------------

class Page {
  constructor(game, picture, thinker) {
    this.game = game;
    this.picture = picture;
    this.thinker = thinker;
    this.players = game.roles.map((_, role) => role).filter((role) => game.roles[role].toLowerCase() !== RANDOM);
    const [first] = this.players;
    this.seats = game.roles.map((_, role) => (role === first ? PERSON : "club"));
    this.pending = new Map();
    this.picked = [];
    this.viewer = null;
    this.covered = false;
    this.byKeys = false;
    this.turn = 0;
    this.match = new Match(game);
    this.thoughts = [];
    this.recall();
    this.connect();
    this.showSeats();
    let text = "";
    try {
      this.match = Match.read(game, decodeURIComponent(location.hash.slice(1)));
    } catch {
      text = "The address has moves that are not legal here, so the game begins anew.";
    }
    this.note(text);
    void this.advance();
  }

  recall() {
    const kept = (memory.get("seats") ?? "").split(",");
    const known = [PERSON, ...LEVELS.map((level) => level.name)];
    if (kept.length === this.seats.length && kept.every((seat) => known.includes(seat))) this.seats = kept;
    const theme = memory.get("theme");
    if (theme) document.documentElement.dataset.theme = theme;
  }

  connect() {
    $("new").onclick = () => this.restart(new Match(this.game));
    $("undo").onclick = () => this.undo();
    $("hint").onclick = () => this.hint();
    $("resign").onclick = () => this.resign();
    $("share").onclick = () => this.share();
    $("flip").onclick = () => $("board").classList.toggle("flipped");
    $("flip").hidden = !this.picture.svg || this.players.length !== 2;
    $("uncover").onclick = () => this.uncover();
    $("theme").onclick = () => {
      const root = document.documentElement;
      const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = isDark ? "light" : "dark";
      memory.set("theme", root.dataset.theme);
    };
    $("board").onclick = (event) => this.click(event.target.closest("[data-cell]"));
    $("board").onkeydown = (event) => this.key(event);
    document.addEventListener("keydown", () => (this.byKeys = true), true);
    document.addEventListener("pointerdown", () => (this.byKeys = false), true);
    $("thoughts-panel").ontoggle = () => this.showThoughts();
    addEventListener("hashchange", () => {
      const text = decodeURIComponent(location.hash.slice(1));
      if (text === this.match.toString()) return;
      try {
        this.restart(Match.read(this.game, text));
      } catch {
        this.note("The address has moves that are not legal here.");
      }
    });
  }

  restart(match) {
    this.thinker.stop();
    this.match = match;
    this.pending.clear();
    this.picked = [];
    this.thoughts = [];
    this.viewer = null;
    this.note("");
    void this.advance();
  }

  get people() {
    return this.players.filter((role) => this.seats[role] === PERSON);
  }

  /** The person who is to choose a move, or null. */
  get chooser() {
    if (this.match.isOver) return null;
    const asked = this.people.filter((role) => !this.pending.has(role) && this.match.state.legalNumbers(role).length > 1);
    return asked.length ? asked[0] : null;
  }

  /** Ask programs and chance until a person is to choose, or the game is over. */
  async advance() {
    const turn = ++this.turn;
    for (;;) {
      const { state } = this.match;
      this.address();
      if (this.match.isOver) break;
      const stuck = this.game.roles.findIndex((_, role) => state.legalNumbers(role).length === 0);
      if (stuck >= 0) {
        this.show();
        $("status").textContent = `${this.game.roles[stuck]} has no legal move: the rules have a dead end here.`;
        return;
      }
      if (this.chooser !== null) {
        this.handOver(this.chooser);
        break;
      }
      this.show();
      for (let role = 0; role < this.game.roles.length; role++) {
        if (this.pending.has(role)) continue;
        const legal = state.legalNumbers(role);
        if (legal.length === 1) this.pending.set(role, legal[0]);
        else if (!this.players.includes(role)) this.pending.set(role, legal[Math.floor(Math.random() * legal.length)]);
        else {
          const level = LEVELS.find((one) => one.name === this.seats[role]) ?? LEVELS[2];
          const reply = await this.thinker.choose(this.match.possible(role), role, level);
          if (turn !== this.turn) return;
          this.pending.set(role, reply.move);
          this.thoughts.push({ role, step: this.match.joints.length, ...reply });
        }
      }
      if (!this.people.length) await new Promise((resolve) => setTimeout(resolve, 400));
      if (turn !== this.turn) return;
      const joint = this.game.roles.map((_, role) => this.pending.get(role));
      this.pending.clear();
      this.picked = [];
      this.match.play(joint);
    }
    this.show();
  }

  /** Hide the screen where the next person may not see what the last one saw. */
  handOver(role) {
    const isSecret = this.game.tables.hidden || this.pending.size > 0;
    if (this.people.length > 1 && isSecret && this.viewer !== role) {
      this.covered = true;
      $("cover-text").textContent = `${this.game.roles[role]}, it is your turn. Nobody else should look now.`;
      $("cover").hidden = false;
      $("uncover").focus();
    }
    this.viewer = role;
  }

  uncover() {
    this.covered = false;
    $("cover").hidden = true;
    this.show();
  }

  undo() {
    this.thinker.stop();
    this.pending.clear();
    this.picked = [];
    const { match } = this;
    let steps = match.resigned === null ? match.joints.length - 1 : match.joints.length;
    const hadChoice = (step) => this.people.some((role) => match.states[step].legalNumbers(role).length > 1);
    while (steps > 0 && this.people.length && !hadChoice(steps)) steps--;
    if (steps >= 0) match.back(steps);
    this.thoughts = this.thoughts.filter((thought) => thought.step < match.joints.length);
    this.note("");
    void this.advance();
  }

  resign() {
    const role = this.chooser ?? this.people[0];
    if (role === undefined || this.match.isOver) return;
    this.thinker.stop();
    this.turn++;
    this.match.resigned = role;
    this.pending.clear();
    this.show();
  }

  async hint() {
    const role = this.chooser;
    if (role === null) return;
    const turn = this.turn;
    this.note("Thinking …");
    const level = { ...LEVELS[3], seconds: 1.5 };
    const { opinions: [best] } = await this.thinker.choose(this.match.possible(role), role, level);
    if (turn !== this.turn) return;
    const worth = best.certain
      ? `it leads to ${best.value} for certain`
      : `it led to ${Math.round(best.value)} of 100 on the average`;
    this.note(`Hint: ${plain(this.game.moveTexts[best.move])} – ${worth}.`);
    for (const place of this.clicksOf(role, best.move)) {
      for (const cell of this.cells(place)) cell.classList.add("hinted");
    }
  }

  share() {
    const text = location.href;
    const done = () => this.note("The address of this position was copied.");
    const failed = () => this.note(`The address of this position: ${text}`);
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, failed);
    else failed();
  }

  address() {
    const text = this.match.toString();
    try {
      history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
    } catch {
      location.hash = text;
    }
  }

  // -- moves by clicks ------------------------------------------------------------------------------

  clicksOf(role, move) {
    return this.picture.clicks[role][move - this.game.firstMove[role]];
  }

  /** The legal moves that begin with the cells picked so far. */
  candidates(role) {
    return this.match.state
      .legalNumbers(role)
      .filter((move) => this.picked.every((cell, i) => isPlace(this.clicksOf(role, move)[i] ?? "", cell)));
  }

  click(element) {
    const role = this.chooser;
    if (role === null || !element || this.covered) return;
    const cell = element.dataset.cell;
    const next = this.candidates(role).filter((move) => isPlace(this.clicksOf(role, move)[this.picked.length] ?? "", cell));
    if (next.length) {
      this.picked.push(cell);
      const ended = next.filter((move) => this.clicksOf(role, move).length === this.picked.length);
      if (next.length === 1 && ended.length === 1) return this.choose(role, next[0]);
    } else if (this.picked.includes(cell)) {
      this.picked = [];
    } else if (this.picked.length) {
      this.picked = [];
      return this.click(element);
    }
    this.show(cell);
    return undefined;
  }

  choose(role, move) {
    this.pending.set(role, move);
    this.picked = [];
    this.note("");
    void this.advance();
  }

  key(event) {
    const here = event.target.closest("[data-cell]");
    if (!here) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.click(here);
    } else if (event.key === "Escape") {
      this.picked = [];
      this.show(here.dataset.cell);
    } else if (event.key.startsWith("Arrow")) {
      event.preventDefault();
      this.moveFocus(here, event.key);
    }
  }

  /** Focus the nearest cell in a direction. */
  moveFocus(here, key) {
    const middle = (cell) => {
      const box = cell.firstElementChild.getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const [x, y] = middle(here);
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    let best = null;
    let nearest = Infinity;
    for (const cell of $("board").querySelectorAll("[data-cell]")) {
      const [cx, cy] = middle(cell);
      const along = (cx - x) * dx + (cy - y) * dy;
      const across = Math.abs((cx - x) * dy) + Math.abs((cy - y) * dx);
      if (along > 1 && along + 3 * across < nearest) [best, nearest] = [cell, along + 3 * across];
    }
    if (!best) return;
    here.tabIndex = -1;
    best.tabIndex = 0;
    best.focus();
  }

  // -- showing --------------------------------------------------------------------------------------

  cells(place) {
    return [...$("board").querySelectorAll("[data-cell]")].filter((cell) => isPlace(place, cell.dataset.cell));
  }

  show(focused = null) {
    const role = this.chooser;
    const looker = role ?? this.viewer ?? this.people[0] ?? null;
    const facts = this.match.facts(this.people.length ? looker : null);
    this.showBoard(facts, role, focused);
    this.showBeside(facts);
    this.showChoices(role);
    this.showStatus(role);
    this.showPlayed(looker);
    this.showThoughts();
    this.showTurn();
    $("undo").disabled = this.match.joints.length === 0;
    $("hint").disabled = role === null;
    $("resign").disabled = this.match.isOver || !this.people.length;
  }

  showBoard(facts, role, focused) {
    const board = $("board");
    const hadFocus = this.byKeys ? (focused ?? document.activeElement?.dataset?.cell) : null;
    board.innerHTML = drawBoards(this.picture, facts);
    const svg = board.querySelector("svg");
    if (!svg) return;
    svg.setAttribute("role", "group");
    const moves = role === null ? [] : this.candidates(role);
    const places = moves.map((move) => this.clicksOf(role, move)[this.picked.length]).filter(Boolean);
    const named = new Set(places.filter((place) => !place.includes("*")));
    const open = [...new Set(places.filter((place) => place.includes("*")))];
    const last = this.lastClicks();
    let first = null;
    for (const cell of board.querySelectorAll("[data-cell]")) {
      const name = cell.dataset.cell;
      const can = named.has(name) || open.some((place) => isPlace(place, name));
      cell.setAttribute("role", can || this.picked.includes(name) ? "button" : "img");
      cell.tabIndex = -1;
      if (can) {
        cell.classList.add("can");
        first ??= cell;
        if (this.picked.length) this.addSpot(cell, name);
      }
      if (this.picked.includes(name)) cell.classList.add("picked");
      if (last.some((place) => isPlace(place, name))) cell.classList.add("last");
    }
    const start = (hadFocus && this.cells(hadFocus)[0]) || first || board.querySelector("[data-cell]");
    if (start) start.tabIndex = 0;
    if (hadFocus) start?.focus();
  }

  /** Mark a cell as one that may be clicked next. */
  addSpot(cell, name) {
    const found = this.picture.cells.find((one) => one[0] === name);
    if (!found) return;
    const spot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    spot.setAttribute("class", "spot");
    spot.setAttribute("cx", found[1]);
    spot.setAttribute("cy", found[2]);
    spot.setAttribute("r", found[3] * 0.16);
    cell.append(spot);
  }

  /** The cells of the moves made last, but of those that no person may know. */
  lastClicks() {
    const { joints, states } = this.match;
    if (!joints.length || (this.game.tables.hidden && !this.match.isOver)) return [];
    const before = states[joints.length - 1];
    return joints[joints.length - 1].flatMap((move, role) => {
      if (before.legalNumbers(role).length < 2) return [];
      return this.clicksOf(role, move).flatMap((place) => (place.includes("*") ? this.filled(place) : [place]));
    });
  }

  /** The cells of a row or column into which the last step put something. */
  filled(place) {
    const { states } = this.match;
    const [before, after] = states.slice(-2);
    return this.picture.content.flatMap((content, f) => {
      if (!content || before.holds(f) || !after.holds(f)) return [];
      const [name] = this.picture.cells[content[0]];
      return isPlace(place, name) ? [name] : [];
    });
  }

  showBeside(facts) {
    const groups = besideBoards(this.picture, facts);
    const isCard = (label) => /^(holds?|hand|cards?|dealt|public|covered|open|die|dice|hidden|shown)$/i.test(label);
    const lines = groups.map(([label, values]) => {
      const shown = values.map((value) => `<dd>${escapeText(plain(value) || "yes")}</dd>`).join("");
      return `<div class="${isCard(label) ? "cards" : ""}"><dt>${escapeText(label)}</dt>${shown}</div>`;
    });
    const lamps = this.picture.lamps.map((f) => {
      const state = facts[f] === null ? "unknown" : facts[f] ? "lit" : "unlit";
      return `<dd class="${state}">${escapeText(plain(this.game.tables.fluents[f]))}${facts[f] ? " ✓" : ""}</dd>`;
    });
    if (lamps.length) lines.push(`<div><dt>facts</dt>${lamps.join("")}</div>`);
    $("beside").innerHTML = lines.join("");
    $("more").hidden = lines.length === 0;
  }

  /** List the moves that no click makes, and all where the board shows none. */
  showChoices(role) {
    const box = $("choices");
    box.replaceChildren();
    if (role === null) return;
    const moves = this.candidates(role);
    const listed = moves.filter((move) => this.clicksOf(role, move).length <= this.picked.length || !this.picture.svg);
    if (!listed.length) {
      if (this.picked.length) this.addChoice(box, "Start over", () => this.click(this.cells(this.picked[0])[0]));
      return;
    }
    if (this.picked.length) box.insertAdjacentHTML("beforeend", "<p>Which of these?</p>");
    for (const move of listed.slice(0, 400)) {
      this.addChoice(box, plain(this.game.moveTexts[move]), () => this.choose(role, move));
    }
  }

  addChoice(box, text, action) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.onclick = action;
    box.append(button);
  }

  showStatus(role) {
    const { match, game } = this;
    const status = $("status");
    status.classList.toggle("over", match.isOver);
    if (match.resigned !== null) {
      status.textContent = `${game.roles[match.resigned]} resigned.`;
    } else if (match.isOver) {
      status.textContent = this.result();
    } else if (role !== null) {
      const alone = this.people.length === 1;
      const color = game.roles[role];
      const picked = this.picked.length ? " Pick where it goes." : "";
      status.textContent = (alone ? `Your move, ${color}.` : `${color} to move.`) + picked;
    } else {
      const names = match.state.choosing.map((one) => game.roles[one]).join(" and ");
      status.textContent = `${names} ${match.state.choosing.length > 1 ? "are" : "is"} thinking …`;
    }
  }

  result() {
    const { goals } = this.match.state;
    const scores = this.players.map((role) => `${this.game.roles[role]} ${goals[role] ?? "–"}`).join(", ");
    const values = this.players.map((role) => goals[role] ?? 0);
    const best = Math.max(...values);
    const winners = this.players.filter((_, i) => values[i] === best);
    let said = `The game is over.`;
    if (this.players.length === 1) said = best === 100 ? "Solved!" : "The game is over.";
    else if (winners.length === this.players.length) said = "A draw.";
    else if (winners.length === 1) {
      const [winner] = winners;
      said = this.people.length === 1
        ? this.people[0] === winner ? "You won!" : "You lost."
        : `${this.game.roles[winner]} wins.`;
    }
    return `${said} (${scores})`;
  }

  showPlayed(looker) {
    const { match, game } = this;
    const hides = game.tables.hidden && !match.isOver;
    $("played").innerHTML = match.joints
      .map((joint, step) => {
        const moves = joint
          .map((move, role) => [move, role])
          .filter(([, role]) => match.states[step].legalNumbers(role).length > 1 && (!hides || role === looker))
          .map(([move, role]) => `<b>${escapeText(game.roles[role])}</b> ${escapeText(plain(game.moveTexts[move]))}`);
        return `<li>${moves.join(", ") || "–"}</li>`;
      })
      .join("");
    $("played").scrollTop = $("played").scrollHeight;
  }

  showThoughts() {
    if (!$("thoughts-panel").open) return;
    const thought = this.thoughts[this.thoughts.length - 1];
    if (!thought || (this.game.tables.hidden && !this.match.isOver)) {
      $("thoughts").textContent = thought ? "Shown once the game is over." : "No player has thought yet.";
      return;
    }
    const rows = thought.opinions.map(
      (one) =>
        `<tr><td>${escapeText(plain(this.game.moveTexts[one.move]))}</td><td>${one.value.toFixed(0)}${one.certain ? " for certain" : ""}</td>` +
        `<td>${Math.round(100 * one.share)} %</td></tr>`,
    );
    $("thoughts").innerHTML =
      `<p>${escapeText(this.game.roles[thought.role])} thought for ${thought.seconds.toFixed(1)} s before move ${thought.step + 1}.</p>` +
      `<table><thead><tr><th>move</th><th>goal</th><th>looked at</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
  }

  // -- seats ------------------------------------------------------------------------------------------

  showSeats() {
    const box = $("seats");
    box.replaceChildren();
    for (const role of this.players) {
      const label = document.createElement("label");
      label.htmlFor = `seat-${role}`;
      label.id = `label-${role}`;
      label.textContent = this.game.roles[role];
      const select = document.createElement("select");
      select.id = `seat-${role}`;
      select.add(new Option("a person here", PERSON));
      for (const level of LEVELS) select.add(new Option(`${level.name} – ${level.about}`, level.name));
      select.value = this.seats[role];
      select.onchange = () => {
        this.seats[role] = select.value;
        memory.set("seats", this.seats.join(","));
        this.thinker.stop();
        this.pending.clear();
        this.picked = [];
        void this.advance();
      };
      box.append(label, select);
    }
    const hidden = this.game.tables.hidden ? "Each player knows only what the rules show it. " : "";
    $("about").textContent = hidden;
  }

  showTurn() {
    const choosing = this.match.isOver ? [] : this.match.state.choosing;
    for (const role of this.players) $(`label-${role}`).classList.toggle("turn", choosing.includes(role));
  }

  note(text) {
    $("note").textContent = text;
  }
}

/** Unpack the game and show it. */
async function main() {
  const text = $("packed").textContent.trim();
  const packed = await inflate(text);
  const [tables, picture] = unpack(packed);
  const game = new Game(tables, decodeWires(tables, packed, wiresStart(packed)));
  const style = document.createElement("style");
  style.textContent = picture.style;
  document.head.append(style);
  window.page = new Page(game, picture, new Thinker(game, text));
}

main().catch((error) => {
  $("status").textContent = `This browser cannot show the game: ${error.message}`;
});
