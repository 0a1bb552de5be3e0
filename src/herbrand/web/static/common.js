// What the scripts of all pages share.
// Text from the server becomes text nodes; only drawings, which herbrand makes itself, become markup.
export const $ = (id) => document.getElementById(id);
const meta = () => document.querySelector('meta[name="herbrand-token"]');
export const token = () => meta()?.content ?? "";

export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value != null) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

// what the browser keeps between visits; nothing where it is not allowed to
export const stored = {
  get(name) { try { return localStorage.getItem(`herbrand-${name}`); } catch { return null; } },
  set(name, value) {
    try {
      if (value == null) localStorage.removeItem(`herbrand-${name}`);
      else localStorage.setItem(`herbrand-${name}`, value);
      return true;
    } catch { return false; }
  },
};

export class Lost extends Error {}
export class Refused extends Error {
  constructor(message, status) { super(message); this.status = status; }
}

// the JSON of a response; `Lost` if no server answers
export async function fetched(address, options = {}) {
  let response, reply;
  try {
    response = await fetch(address, { ...options, headers: { accept: "application/json", ...options.headers } });
    reply = await response.json();
  } catch { throw new Lost("The server does not answer."); }
  if (!response.ok) throw new Refused(reply.error ?? "The server did not answer.", response.status);
  return reply;
}

// after the server was started anew, forms need the token of this session; false if it asks for its own first
export async function renewed() {
  const response = await fetch(location.href);
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  const content = fresh.querySelector('meta[name="herbrand-token"]')?.content;
  if (meta() && content) {
    meta().content = content;
    for (const field of document.querySelectorAll('input[name="token"]')) field.value = content;
  }
  return response.ok;
}

export const cellsOf = (board) => [...board.querySelectorAll("[data-cell]")];

// a drawing whose cells can be heard one by one, and are large enough to be hit
export function display(board, svg, decided = []) {
  board.innerHTML = svg;
  const drawing = board.querySelector("svg");
  if (!drawing) return;
  drawing.setAttribute("role", "group");
  const cells = cellsOf(board);
  for (const cell of cells) {
    cell.setAttribute("role", "img");
    cell.setAttribute("aria-label", cell.dataset.say);
    cell.classList.toggle("decided", decided.includes(cell.dataset.cell));
  }
  enlarge(board, drawing, cells);
}

const LEAST = 24;  // pixels of a cell
const MOST = 2.2;  // times the size of a drawing
function enlarge(board, drawing, cells) {
  drawing.style.maxWidth = `${Math.round(MOST * drawing.viewBox.baseVal.width)}px`;
  const sizes = cells.slice(0, 40).map((cell) => cell.firstElementChild.getBoundingClientRect());
  const size = Math.min(...sizes.map((box) => Math.min(box.width, box.height)));
  const scale = cells.length && size > 0 && size < LEAST ? (LEAST + 0.5) / size : 1;
  board.classList.toggle("large", scale > 1);
  if (scale > 1) {  // drawings are scaled by their width or by their height
    const { width, height } = drawing.viewBox.baseVal, box = drawing.getBoundingClientRect();
    drawing.style.maxWidth = "none";
    drawing.style.width = `${Math.ceil(scale * Math.min(box.width, (box.height * width) / height))}px`;
  }
}

export function replay(go, place) {
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

export function placed(step, steps) {
  $("slider").max = steps;
  $("slider").value = step;
  $("step").textContent = `${step}/${steps}`;
  [...$("history").children].forEach((line, i) => {
    line.classList.toggle("here", i === step - 1);
    if (i === step - 1) line.setAttribute("aria-current", "step"); else line.removeAttribute("aria-current");
  });
}

export function complain(text) { $("problem").textContent = text; $("problem").hidden = !text; }

// -- the frame of every page ----------------------------------------------------------------

const THEMES = { "": "as in the system", light: "light", dark: "dark" };
const themeButton = $("theme");
if (themeButton) {
  const label = () => {
    const theme = document.documentElement.dataset.theme ?? "";
    themeButton.title = `Colours: ${THEMES[theme]}`;
    themeButton.setAttribute("aria-label", themeButton.title);
    themeButton.dataset.shown = theme;
  };
  themeButton.addEventListener("click", () => {
    const names = Object.keys(THEMES), now = document.documentElement.dataset.theme ?? "";
    const next = names[(names.indexOf(now) + 1) % names.length];
    if (next) document.documentElement.dataset.theme = next; else delete document.documentElement.dataset.theme;
    stored.set("theme", next || null);
    label();
  });
  label();
}

document.addEventListener("submit", (event) => {
  const busy = event.target.dataset?.busy;
  if (!busy) return;
  const button = event.target.querySelector("button"), label = button.textContent;
  button.textContent = busy;
  setTimeout(() => { button.disabled = true; }, 0);
  addEventListener("pageshow", () => { button.disabled = false; button.textContent = label; }, { once: true });  // when one comes back
});

// drawings of pages without a script of their own
for (const board of document.querySelectorAll("[data-drawn]")) display(board, board.innerHTML);
