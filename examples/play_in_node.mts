// A game as a module in a program of yours: a player that thinks in a worker plays against random moves.
//
//     herbrand convert connectFour --to typescript -o game.mts
//     node --experimental-strip-types play_in_node.mts
//
// That needs Node 22.6 or later.  Before, compile it first, with TypeScript 5.7 or later and @types/node:
//
//     tsc --strict --target es2022 --module nodenext --rewriteRelativeImportExtensions play_in_node.mts
//     node play_in_node.mjs
import { Worker, isMainThread, parentPort } from "node:worker_threads";
import { LEVELS, RemotePlayer, drawState, game, initialState, serve } from "./game.mts";

async function main(): Promise<void> {
  const worker = new Worker(new URL(import.meta.url));
  const player = new RemotePlayer(worker);
  const [first] = game.roles;
  const level = LEVELS.find(({ name }) => name === "casual");
  let state = initialState;
  while (!state.isTerminal) {
    const joint = game.roles.map((role) => {
      const legal = state.legalMoves(role);
      return legal[Math.floor(Math.random() * legal.length)];
    });
    if (state.legalMoves(first).length > 1) {
      const { text, opinions } = await player.choose(state, game.role(first), level);
      console.log(`${first}: ${text}, worth ${opinions[0].value.toFixed(0)} of 100`);
      joint[0] = text;
    }
    state = state.next(joint);
  }
  console.log(game.roles.map((role, i) => `${role} ${state.goals[i]}`).join(", "));
  console.log(`The last state as a picture: ${drawState(state).length} characters of SVG`);
  await worker.terminate();
}

if (isMainThread) await main();
else if (parentPort) serve(game, parentPort);
