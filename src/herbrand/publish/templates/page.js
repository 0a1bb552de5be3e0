// The page of a published game: seats, clicks, the list of moves, and players that think in a worker.

"use strict";

const PERSON = "person";
/** The player that follows the solution, where the page has one. */
const PERFECT = "perfect";
/** Moves of which the page says what a program thought. */
const SHOWN_OPINIONS = 8;
/** Pixels that a finger hits. */
const TAP = 24;
const $ = (id) => document.getElementById(id);
const steps = (count) => `${count} step${count === 1 ? "" : "s"}`;
const plain = (term) => term.replace(/[()_]/g, " ").replace(/\s+/g, " ").trim();
const byNumber = new Intl.Collator("en", { numeric: true }).compare;

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
        const player = new RemotePlayer(this.worker);
        void player.ready.then(() => resolve(player));
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
    this.seen = [];
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
    const seen = this.game.tables.hidden ? before.seen(joint) : [];
    const after = before.after(joint);
    this.joints.push(joint);
    this.seen.push(seen);
    this.states.push(after);
    this.knowledge?.forEach((one) => one.observe(joint[one.role], seen[one.role], after.isTerminal));
  }

  /** Go back to the state after a number of steps. */
  back(steps) {
    this.resigned = null;
    const joints = this.joints.slice(0, steps);
    this.states.length = 1;
    this.joints = [];
    this.seen = [];
    this.remember();
    joints.forEach((joint) => this.play(joint));
  }

  remember() {
    if (!this.game.tables.hidden) return;
    const [initial] = this.states;
    this.knowledge = this.game.roles.map((_, role) => new Knowledge(initial, role, new Chance(role + 1)));
  }

  /** The states that a role thinks possible, as far as they are drawn: it knows at least its legal moves. */
  possible(role) {
    const { state } = this;
    if (!this.knowledge) return [state];
    const legal = String(state.legalNumbers(role));
    const states = this.knowledge[role].states.filter((one) => String(one.legalNumbers(role)) === legal);
    return states.length ? states : [state];
  }

  /** What a role knows of each fluent: never anything wrong, though not all states it thinks possible are drawn. */
  facts(role) {
    const facts = this.game.tables.fluents.map((_, f) => this.state.holds(f));
    if (!this.knowledge || this.isOver || role === null) return facts;
    return this.knowledge[role].facts().map((value, f) => (value === facts[f] ? value : null));
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
  constructor(game, picture, thinker, solution) {
    this.game = game;
    this.picture = picture;
    this.thinker = thinker;
    this.solution = solution;
    this.chance = new Chance(Math.floor(Math.random() * 2 ** 31));
    this.players = game.roles.map((_, role) => role).filter((role) => game.roles[role].toLowerCase() !== RANDOM);
    const [first] = this.players;
    this.seats = game.roles.map((_, role) => (role === first ? PERSON : "club"));
    this.pending = new Map();
    this.picked = [];
    this.viewer = null;
    this.covered = false;
    this.byKeys = false;
    this.turn = 0;
    this.zoomed = false;
    this.heard = 0;
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
    const known = [PERSON, ...LEVELS.map((level) => level.name), ...(this.solution ? [PERFECT] : [])];
    if (kept.length === this.seats.length && kept.every((seat) => known.includes(seat))) this.seats = kept;
    const theme = memory.get("theme");
    if (theme) document.documentElement.dataset.theme = theme;
    this.isRating = this.solution !== null && memory.get("values") === "shown";
  }

  connect() {
    $("new").onclick = () => this.restart(new Match(this.game));
    $("undo").onclick = () => this.undo();
    $("hint").onclick = () => this.hint();
    $("resign").onclick = () => this.resign();
    $("share").onclick = () => this.share();
    if (this.solution) $("worth").onclick = () => {
      this.isRating = !this.isRating;
      memory.set("values", this.isRating ? "shown" : "");
      this.show();
    };
    $("flip").onclick = () => $("board").classList.toggle("flipped");
    $("flip").hidden = !this.picture.svg || this.players.length !== 2;
    $("zoom").onclick = () => this.zoom(!this.zoomed);
    addEventListener("resize", () => this.zoom(this.zoomed));
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
    this.heard = 0;
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
          const isPerfect = this.seats[role] === PERFECT;
          const solved = isPerfect ? this.solution.choose(state, role, this.chance) : null;
          if (isPerfect) this.note(solved === null ? "The solution has no move for this position: perfect searches for one." : "");
          const level = LEVELS.find((one) => one.name === this.seats[role]) ?? LEVELS[isPerfect ? 4 : 2];
          const reply = solved === null
            ? await this.thinker.choose(this.match.possible(role), role, level)
            : { move: solved, solved: this.solution.moves(state, role) };
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
      document.querySelector("main").inert = true;
      $("cover-text").textContent = `${this.game.roles[role]}, it is your turn. Nobody else should look now.`;
      $("cover").hidden = false;
      $("uncover").focus();
    }
    this.viewer = role;
  }

  uncover() {
    this.covered = false;
    document.querySelector("main").inert = false;
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
    this.heard = match.joints.length;
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
    const [solved] = this.solution?.moves(this.match.state, role) ?? [];
    if (solved) {
      this.suggest(role, solved.move, `with best play: ${this.worthOf(role, solved)}`);
      return;
    }
    this.note("Thinking …");
    const level = { ...LEVELS[3], seconds: 1.5 };
    const { opinions: [best] } = await this.thinker.choose(this.match.possible(role), role, level);
    if (turn !== this.turn) return;
    if (!best.certain && best.value === 0) {
      this.note("No hint: nothing that leads to points was found in so short a time.");
      return;
    }
    const worth = best.certain
      ? `it leads to ${best.value} for certain`
      : `it led to ${Math.round(best.value)} of 100 on the average`;
    this.suggest(role, best.move, worth);
  }

  suggest(role, move, worth) {
    this.note(`Hint: ${this.spell(role, move)} – ${worth}.`);
    this.mark(this.clicksOf(role, move));
  }

  /** Outline cells as those of good moves. */
  mark(places) {
    for (const place of places) {
      for (const cell of this.cells(place)) cell.classList.add("hinted");
    }
  }

  /** What a solved move leads to, in words. */
  worthOf(role, { outcome, claim }) {
    if (outcome) return `${outcome.goals[role]} in ${steps(outcome.steps)}`;
    return `${claim.role} gets ${claim.holds ? "at least" : "less than"} ${claim.goal}`;
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

  /** A move in words: pieces by their names, squares as `e4` or `3,4`. */
  spell(role, move) {
    const { terms, names } = this.picture;
    const words = plain(this.game.moveTexts[move]).split(" ");
    const owner = `${this.game.roles[role]} `;
    const named = (word) => names[terms.indexOf(word.toLowerCase())]?.replace(owner, "") ?? word;
    let text = words.map(named).join(" ");
    const squares = this.clicksOf(role, move).map((place) => place.split(":").slice(1));
    if (!squares.length || !squares.every((parts) => parts.length === 2 && parts.every((part) => /^\w+$/.test(part)))) return text;
    const short = squares.map(([x, y]) => (/^[a-z]$/i.test(x) ? x + y : `${x},${y}`));
    squares.forEach((parts, i) => (text = text.replace(parts.join(" "), short[i])));
    return text.replace(short.join(" "), short.join(" to "));
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
      const [after, ...more] = this.clicksOf(role, next[0]).slice(this.picked.length);
      const isForced = next.every((move) => this.clicksOf(role, move)[this.picked.length] === after);
      if (more.length && isForced && after.startsWith("item:")) this.picked.push(after); // where it stands
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
    this.showValues(role);
    this.showStatus(role);
    this.showSeen(looker);
    this.say(looker);
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
    const scrolled = [board.scrollLeft, board.scrollTop];
    board.innerHTML = drawBoards(this.picture, facts);
    for (const svg of board.querySelectorAll("svg")) svg.setAttribute("role", "group");
    const moves = role === null ? [] : this.candidates(role);
    const places = moves.map((move) => this.clicksOf(role, move)[this.picked.length]).filter(Boolean);
    const named = new Set(places.filter((place) => !place.includes("*")));
    const open = [...new Set(places.filter((place) => place.includes("*")))];
    const last = this.lastClicks();
    const decisive = this.decisive();
    let first = null;
    for (const cell of board.querySelectorAll("[data-cell]")) {
      const name = cell.dataset.cell;
      const can = named.has(name) || open.some((place) => isPlace(place, name));
      cell.setAttribute("role", can || this.picked.includes(name) ? "button" : "img");
      cell.tabIndex = -1;
      if (can) {
        cell.classList.add("can");
        first ??= cell;
        if (this.picked.length) this.addSpot(cell);
      }
      if (this.picked.includes(name)) cell.classList.add("picked");
      if (last.some((place) => isPlace(place, name))) cell.classList.add("last");
      if (decisive.has(name)) cell.classList.add("decisive");
      addHalo(cell);
    }
    const start = (hadFocus && this.cells(hadFocus)[0]) || first || board.querySelector("[data-cell]");
    if (start) start.tabIndex = 0;
    if (hadFocus) start?.focus();
    this.zoom(this.zoomed);
    board.scrollTo(...scrolled);
  }

  /** Offer to enlarge a board whose cells are too small to be hit by a finger. */
  zoom(zoomed) {
    const svg = $("board").querySelector("svg");
    const smallest = Math.min(...this.picture.cells.map(([, , , size]) => size));
    if (!svg || !this.picture.svg) return;
    const across = svg.viewBox.baseVal.width;
    const fitting = svg.getScreenCTM().a;
    if (!this.zoomed) this.small = fitting * smallest < TAP;
    this.zoomed = zoomed && this.small;
    $("board").classList.toggle("zoomed", this.zoomed);
    svg.style.width = this.zoomed ? `${(1.3 * TAP * across) / smallest}px` : "";
    $("zoom").hidden = !this.small;
    $("zoom").textContent = this.zoomed ? "Zoom out" : "Zoom in";
  }

  /** Mark a cell as one that may be clicked next, in its middle. */
  addSpot(cell) {
    const { x, y, width, height } = cell.firstElementChild.getBBox();
    const spot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    spot.setAttribute("class", "spot");
    spot.setAttribute("cx", x + width / 2);
    spot.setAttribute("cy", y + height / 2);
    spot.setAttribute("r", Math.min(width, height) * 0.16);
    cell.append(spot);
  }

  /** The cells without whose content the one winner would not have won, such as a line, unless they are many. */
  decisive() {
    const { state } = this.match;
    if (this.decisiveOf === state) return this.decisiveCells;
    this.decisiveOf = state;
    this.decisiveCells = new Set();
    if (!state.isTerminal || this.players.length < 2) return this.decisiveCells;
    const best = Math.max(...this.players.map((role) => state.goals[role] ?? 0));
    const winners = this.players.filter((role) => state.goals[role] === best);
    if (winners.length > 1) return this.decisiveCells;
    let pieces = 0;
    this.picture.content.forEach((content, f) => {
      if (!content || !state.holds(f)) return;
      pieces++;
      const bits = state.bits.slice();
      bits[f >>> 5] &= ~(1 << (f & 31));
      const without = new State(this.game, bits);
      if (without.isTerminal && without.goals[winners[0]] === best) return;
      this.decisiveCells.add(this.picture.cells[content[0]][0]);
    });
    if (3 * this.decisiveCells.size > 2 * pieces) this.decisiveCells.clear();
    return this.decisiveCells;
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
    const lines = besideBoards(this.picture, facts).map(({ label, values }) => {
      const shown = values.map(({ text, isCard, isKnown }) => {
        const kinds = [isCard && "card", !isKnown && "unknown"].filter(Boolean).join(" ");
        return `<dd class="${kinds}">${escapeText(text === "" ? "yes" : text.replace(/[()_]/g, " "))}</dd>`;
      });
      return `<div><dt>${escapeText(label)}</dt>${shown.join("") || "<dd class=\"unlit\">none</dd>"}</div>`;
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
    this.wasInChoices ||= this.byKeys && box.contains(document.activeElement);
    box.replaceChildren();
    if (role === null) return;
    const moves = this.candidates(role);
    const hasBoard = hasBoards(this.picture);
    const listed = moves.filter((move) => this.clicksOf(role, move).length <= this.picked.length || !hasBoard);
    if (!listed.length) {
      if (this.picked.length) this.addChoice(box, "Start over", () => this.click(this.cells(this.picked[0])[0]));
      return;
    }
    if (this.picked.length) box.insertAdjacentHTML("beforeend", "<p>Which of these?</p>");
    const named = listed.map((move) => [this.spell(role, move), move]).sort(([a], [b]) => byNumber(a, b));
    for (const [text, move] of named) this.addChoice(box, text, () => this.choose(role, move));
    if (this.wasInChoices) box.querySelector("button").focus();
    this.wasInChoices = false;
  }

  /** Say what the solution knows of the position, and of each move of the person who is to choose. */
  showValues(role) {
    if (!this.solution) return;
    const box = $("values");
    const { state } = this.match;
    $("worth").setAttribute("aria-pressed", this.isRating);
    box.hidden = !this.isRating || this.match.isOver;
    if (box.hidden) return;
    const outcome = this.solution.outcome(state);
    const moves = role === null ? [] : this.solution.moves(state, role);
    const goals = outcome && this.players.map((one) => `${this.game.roles[one]} ${outcome.goals[one]}`).join(", ");
    const said = outcome
      ? `With best play: ${goals}, in ${steps(outcome.steps)}.`
      : moves.length || role === null
        ? ""
        : `The solution has no move for ${this.game.roles[role]} in this position.`;
    const groups = new Map();
    for (const one of moves) {
      const worth = this.worthOf(role, one);
      groups.set(worth, [...(groups.get(worth) ?? []), this.spell(role, one.move)]);
    }
    const rows = [...groups].map(([worth, texts]) => `<dt>${escapeText(worth)}</dt><dd>${escapeText(texts.sort(byNumber).join("; "))}</dd>`);
    box.innerHTML = `${said && `<p>${escapeText(said)}</p>`}${rows.length ? `<dl>${rows.join("")}</dl>` : ""}`;
    box.hidden = !box.innerHTML;
    const best = moves.filter((one) => this.worthOf(role, one) === this.worthOf(role, moves[0]));
    if (groups.size > 1) this.mark(best.flatMap((one) => this.clicksOf(role, one.move).slice(this.picked.length, this.picked.length + 1)));
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
    status.classList.remove("won");
    if (match.resigned !== null) {
      const others = this.players.filter((one) => one !== match.resigned);
      const winner = others.length === 1 ? ` ${game.roles[others[0]]} wins.` : "";
      status.textContent = `${game.roles[match.resigned]} resigned.${winner}`;
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
    const isWon = winners.length === 1 && (this.players.length === 1 ? best === 100 : this.people.includes(winners[0]));
    $("status").classList.toggle("won", isWon);
    let said = "The game is over.";
    if (this.players.length === 1) said = !isWon ? said : this.game.roles.length === 1 ? "Solved!" : "You won!";
    else if (winners.length === this.players.length) said = "A draw.";
    else if (winners.length === 1) {
      const [winner] = winners;
      said = this.people.length === 1
        ? this.people[0] === winner ? "You won!" : "You lost."
        : `${this.game.roles[winner]} wins.`;
    }
    return `${said} (${scores})`;
  }

  /** The moves of a step that a role may know, in words: those of roles that had a choice. */
  known(step, looker) {
    const { match, game } = this;
    const hides = game.tables.hidden && !match.isOver;
    return match.joints[step]
      .map((move, role) => [game.roles[role], role, move])
      .filter(([, role]) => match.states[step].legalNumbers(role).length > 1 && (!hides || role === looker))
      .map(([name, role, move]) => [name, this.spell(role, move)]);
  }

  /** What a role saw of a step, in words, where the rules hide the rest. */
  seen(step, looker) {
    if (!this.game.tables.hidden || this.match.isOver || looker === null) return [];
    return this.match.seen[step][looker].map(plain).sort(byNumber);
  }

  showSeen(looker) {
    const { length } = this.match.joints;
    const seen = length && this.people.length ? this.seen(length - 1, looker) : [];
    $("seen").textContent = seen.length ? `${this.game.roles[looker]} sees: ${seen.join("; ")}.` : "";
  }

  showPlayed(looker) {
    $("played").innerHTML = this.match.joints
      .map((_, step) => {
        const moves = this.known(step, looker).map(([name, text]) => `<b>${escapeText(name)}</b> ${escapeText(text)}`);
        const seen = this.seen(step, looker).map((text) => `<i>${escapeText(text)}</i>`);
        return moves.length || seen.length ? `<li value="${step + 1}">${[...moves, ...seen].join(", ")}</li>` : "";
      })
      .join("");
    $("played").scrollTop = $("played").scrollHeight;
  }

  /** Tell screen readers what was played since the last time, and whose turn it is. */
  say(looker) {
    if (this.covered) return;
    const { length } = this.match.joints;
    const steps = this.match.joints.map((_, step) => step).slice(Math.max(this.heard, length - 3));
    this.heard = length;
    const said = steps.flatMap((step) => this.known(step, looker).map(([name, text]) => `${name}: ${text}.`));
    const text = [...said, $("seen").textContent, $("status").textContent].join(" ").trim();
    if ($("heard").textContent !== text) $("heard").textContent = text;
  }

  showThoughts() {
    if (!$("thoughts-panel").open) return;
    const thought = this.thoughts[this.thoughts.length - 1];
    if (!thought || (this.game.tables.hidden && !this.match.isOver)) {
      $("thoughts").textContent = thought ? "Shown once the game is over." : "No player has thought yet.";
      return;
    }
    if (thought.solved) {
      const [best] = thought.solved;
      $("thoughts").textContent =
        `${this.game.roles[thought.role]} followed the solution in move ${thought.step + 1}: ${this.worthOf(thought.role, best)}.`;
      return;
    }
    const rows = thought.opinions.slice(0, SHOWN_OPINIONS).map(
      (one) =>
        `<tr><td>${escapeText(this.spell(thought.role, one.move))}</td><td>${one.value.toFixed(0)}${one.certain ? " for certain" : ""}</td>` +
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
      if (this.solution) select.add(new Option(`${PERFECT} – plays by the solution`, PERFECT));
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
    $("about").textContent = this.game.tables.hidden ? "Everybody sees only what the rules of the game show." : "";
  }

  showTurn() {
    const choosing = this.match.isOver ? [] : this.match.state.choosing;
    for (const role of this.players) $(`label-${role}`).classList.toggle("turn", choosing.includes(role));
  }

  note(text) {
    $("note").textContent = text;
  }
}

/** Draw the outline of a cell again above its content, where neighbours do not cover it: it shows what is marked. */
function addHalo(cell) {
  const outline = cell.firstElementChild;
  const { x, y, width, height } = outline.getBBox();
  const halo = outline.cloneNode();
  const middle = [x + width / 2, y + height / 2];
  halo.setAttribute("class", "halo");
  halo.setAttribute("transform", `translate(${middle}) scale(0.94) translate(${middle.map((at) => -at)})`);
  cell.append(halo);
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
  const solved = $("solution");
  const solution = solved ? new Solution(game, await inflate(solved.textContent.trim())) : null;
  window.page = new Page(game, picture, new Thinker(game, text), solution);
}

main().catch((error) => {
  $("status").textContent = `This browser cannot show the game: ${error.message}`;
});
