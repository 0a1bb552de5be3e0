// A host of the modules that `herbrand convert --to wasm` writes: it answers requests as plain data, in Node and in browsers.

/** Instantiate a module, and answer requests one after the other. */
async function answerAll(bytes, requests) {
  const { instance, module } = await WebAssembly.instantiate(bytes);
  const [section] = WebAssembly.Module.customSections(module, "herbrand");
  const about = JSON.parse(new TextDecoder().decode(section));
  const host = { ...instance.exports, about };
  return requests.map((request) => ANSWERS[request.kind](host, request));
}

const number = ({ memory }, address) => Number(new BigInt64Array(memory.buffer, address, 1)[0]);
const numbers = (host, address, count) => Array.from({ length: count }, (_, k) => number(host, address + 8 * k));

const ANSWERS = {
  /** What the module says of itself. */
  about: ({ about }) => about,

  /** Random games from the initial state, for some seconds at most. */
  games(host, { seed, games, steps, limit = Infinity }) {
    const { memory, about } = host;
    host.start(BigInt(seed), BigInt(games), BigInt(steps));
    const started = performance.now();
    let status = 0;
    while (status === 0 && performance.now() - started < 1000 * limit) status = host.play(limit === Infinity ? 4096 : 16);
    const seconds = (performance.now() - started) / 1000;
    host.count();
    const at = about.games;
    const lengths = {};
    new BigInt64Array(memory.buffer, at.lengths).forEach((count, length) => {
      if (count) lengths[length] = Number(count);
    });
    const was = new Uint8Array(memory.buffer, at.stuck_state, about.fluents.length);
    return {
      status,
      seconds,
      ...Object.fromEntries(
        ["played", "ended", "truncated", "stuck", "transitions", "stuck_role"].map((name) => [name, number(host, at[name])]),
      ),
      goals: numbers(host, at.goals, about.goals.length),
      choices: numbers(host, at.choices, about.roles.length),
      stuck_fluents: [...was.keys()].filter((f) => was[f]),
      lengths,
    };
  },

  /** Evaluate 128 states: rows in, rows out, as hexadecimal digits. */
  evaluate(host, { fluents, moves }) {
    const { memory, about } = host;
    const bytes = new Uint8Array(memory.buffer);
    const write = (address, rows) =>
      rows.forEach((row, i) => bytes.set(Uint8Array.from(row.match(/../g), (digits) => parseInt(digits, 16)), address + 16 * i));
    const read = (address, count) =>
      Array.from({ length: count }, (_, i) =>
        Array.from(bytes.subarray(address + 16 * i, address + 16 * i + 16), (byte) => byte.toString(16).padStart(2, "0")).join(""),
      );
    write(about.rows.fluents, fluents);
    write(about.rows.moves, moves);
    host.legal();
    host.next();
    host.goals();
    return {
      legal: read(about.rows.legal, about.moves.length),
      terminal: read(about.rows.terminal, 1),
      next: read(about.rows.next, about.fluents.length),
      goals: read(about.rows.goals, about.goals.length),
      sees: read(about.rows.sees, about.percepts.length),
    };
  },

  /** Random games from given states: each with its lanes, as bits, and the games that each of them plays. */
  playouts(host, { states, longest, generator, stop = 128 }) {
    const { memory, about } = host;
    const at = about.playouts;
    const bytes = new Uint8Array(memory.buffer);
    const words = new Uint32Array(memory.buffer);
    words[at.longest / 4] = longest;
    generator.forEach((byte, i) => (bytes[at.generator + i] = byte));
    for (const { fluents, lanes, games } of states) {
      bytes.fill(0, at.state, at.state + Math.ceil(about.fluents.length / 8));
      for (const f of fluents) bytes[at.state + (f >> 3)] |= 1 << (f & 7);
      bytes.fill(0, at.mask, at.mask + 16);
      for (const lane of lanes) bytes[at.mask + (lane >> 3)] |= 1 << (lane & 7);
      host.begin(games);
    }
    const started = performance.now();
    let idle = 0;
    while (idle < stop) idle = host.run(1000, stop);
    return {
      seconds: (performance.now() - started) / 1000,
      idle,
      passes: words[at.clock / 4],
      generator: Array.from(bytes.subarray(at.generator, at.generator + 64)),
      sums: about.roles.map((_, role) => Array.from(words.subarray(at.sums / 4 + 128 * role, at.sums / 4 + 128 * role + 128))),
    };
  },
};
