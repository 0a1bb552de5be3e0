"""Games as modules in TypeScript and JavaScript, run by Node and read by the compiler of TypeScript."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import herbrand
from herbrand import games
from herbrand.analyse import Budget
from herbrand.analyse.solving.strategy import make_strategy
from herbrand.analyse.solving.value import value_of
from herbrand.cli.main import cli
from herbrand.convert.movereader import MoveReader
from herbrand.convert.wasm import stages_module
from herbrand.errors import BudgetExceeded, GameError
from herbrand.publish import game_module, javascript, published_solution, typescript

ROOT = Path(__file__).parents[3]
NODE = shutil.which("node")
TSC = shutil.which("tsc")
needs_node = pytest.mark.skipif(NODE is None, reason="running JavaScript needs node")
needs_tsc = pytest.mark.skipif(TSC is None, reason="checking types needs tsc (npm install -g typescript)")

sys.path.insert(0, str(ROOT / "benchmarks"))
from published import compare  # noqa: E402

sys.path.pop(0)


def run(folder: Path, program: str, **modules: str) -> Any:
    """Run a program of Node beside some modules; return what its last line says, as JSON."""
    assert NODE is not None
    for name, source in {**modules, "program": program}.items():
        (folder / f"{name}.mjs").write_text(source, encoding="utf-8")
    done = subprocess.run(
        [NODE, "program.mjs"], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def compiled(folder: Path, *files: str) -> None:
    """Compile TypeScript, with the strictest checks, as one does for Node and for browsers."""
    assert TSC is not None
    strict = ["--strict", "--noUnusedLocals", "--noImplicitReturns", "--noFallthroughCasesInSwitch"]
    options = [*strict, "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom", "--types", ""]
    done = subprocess.run(
        [TSC, *options, "--rewriteRelativeImportExtensions", *files],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@needs_node
@pytest.mark.slow_except("ticTacToe", "hex", "kuhn")
@pytest.mark.parametrize("name", games.names())
def test_random_games_are_those_of_herbrand(name: str) -> None:
    """Facts, legal moves, goals and percepts agree in every state; `benchmarks/published.py` plays a thousand."""
    outcome = compare(herbrand.load(name), plays=3)
    assert outcome["agrees"], outcome
    assert outcome["states"] > 3
    assert outcome["engine"] == "wasm"


@needs_node
@pytest.mark.slow_except("(goal a 07)")
@pytest.mark.parametrize("goals", ["(goal a 100) (goal a 50)", "(goal a 07)", "(<= (goal a 9) (true (n 7)))"])
def test_rules_that_are_not_well_formed_agree_too(goals: str) -> None:
    """No goal, several, and a value written otherwise; a loop; chance; percepts of several roles."""
    text = f"""
        (role a) (role random) (init (p 0)) (init (n 0))
        (input a (go 0)) (input a (go 1)) (input a stay) (input random (go 0)) (input random (go 1))
        (<= (legal a (go ?x)) (r ?x)) (legal a stay)
        (<= (legal random (go ?x)) (true (p ?x))) (<= (legal random (go ?x)) (true (p ?y)) (s ?y ?x))
        (s 0 1) (s 1 0)
        (<= (r ?x) (true (p ?x))) (<= (r ?y) (r ?x) (s ?x ?y) (true (n 1)))
        (<= (next (p ?x)) (does random (go ?x))) (<= (next (n 1)) (does a stay))
        (<= (next (n 2)) (does a (go ?x)) (true (n 1))) (<= (next (n 0)) (does a (go ?x)) (not (true (n 1))))
        (<= (sees a (saw ?x)) (does random (go ?x))) (<= (sees random ?m) (does a ?m))
        (<= terminal (true (n 2))) {goals}
    """
    outcome = compare(herbrand.loads(text), plays=40, engine="rules")
    assert outcome["agrees"], outcome


@needs_tsc
def test_the_compiler_of_typescript_has_no_complaint(tmp_path: Path) -> None:
    """Modules of games with and without boards or hidden information, and programs that use all of them."""
    board = herbrand.load("ticTacToe")
    value = value_of(board, budget=Budget(30), search=True)
    assert value.forced is not None
    assert value.searched is not None
    solution = published_solution(board, make_strategy(value.forced, value.searched))
    (tmp_path / "board.mts").write_text(game_module(board, "typescript", solution=solution), encoding="utf-8")
    (tmp_path / "cards.mts").write_text(typescript(herbrand.load("kuhn")), encoding="utf-8")
    (tmp_path / "use.mts").write_text(
        """
        import { LEVELS, RemotePlayer, drawState, game, initialState, readMove, serve } from "./board.mjs";
        import { Chance as Luck, solution } from "./board.mjs";
        import { Chance, Knowledge, initialState as dealing, think, type State } from "./cards.mjs";
        const after: State = dealing.next(["noop", "noop", dealing.legalMoves("random")[0]]);
        const seen: string[][] = dealing.percepts(["noop", "noop", dealing.legalMoves("random")[0]]);
        const knowledge = new Knowledge(dealing, 0, new Chance(1));
        knowledge.observe(dealing.legalNumbers(0)[0], seen[0], after.isTerminal);
        console.log(think(knowledge.states, 0, LEVELS[0], new Chance())[0].value, readMove("xplayer", "noop"));
        const goal: number | null = initialState.goals[0];
        console.log(goal, drawState(initialState).length);
        const player = new RemotePlayer(new Worker(new URL("./worker.mjs", import.meta.url), { type: "module" }));
        const { text, opinions } = await player.choose(initialState, game.role("xplayer"), LEVELS[2], 7);
        console.log(text, opinions[0].certain);
        const move: number | null = solution.choose(initialState, 0, new Luck(1));
        console.log(move, solution.moves(initialState, 0)[0].outcome?.steps, solution.claims.length);
        serve(game, self);
        """,
        encoding="utf-8",
    )
    compiled(tmp_path, "use.mts")


def test_javascript_is_typescript_without_types() -> None:
    """No type is left over, and no mark of the templates."""
    game = herbrand.load("ticTacToe")
    assert not re.search("[‹›]", javascript(game) + typescript(game))
    assert "interface" in typescript(game)
    assert not re.search(
        r"^(export )?(interface|type) |: (string|number|boolean)\b(?!.*[\"`])", javascript(game), re.MULTILINE
    )
    with pytest.raises(ValueError, match="no language 'python'"):
        game_module(game, "python")


def test_names_of_games_and_facts_are_only_text() -> None:
    """Nothing that stands in a rulesheet becomes a program."""
    nasty = "\n*/alert(1)//`${alert(1)}`</script>"
    game = herbrand.loads(
        f"(role a) (init p) (legal a go) (next p) (goal a 0) (<= terminal (true q)) ; {nasty}", name=nasty
    )
    head = typescript(game).splitlines()[0]
    assert head.startswith("// ")
    assert "alert(1)" not in typescript(game)


def test_games_that_cannot_be_written_are_refused_with_the_reason(tmp_path: Path) -> None:
    """Faulty rules, and rules without a network within the limits."""
    with pytest.raises(GameError, match="no statement defines `role`"):
        javascript(herbrand.loads("(init p)"))
    huge = (
        "(role a) (s 0) (<= (s (f ?x)) (true (c ?x))) (init (c 0)) (<= (next (c (f ?x))) (true (c ?x)))"
        "(legal a go) (goal a 0) (<= terminal (true q))"
    )
    with pytest.raises(BudgetExceeded):
        javascript(herbrand.loads(huge, limits=herbrand.Limits(seconds=0.2)))


@needs_node
def test_moves_are_read_as_the_move_reader_reads_them(tmp_path: Path) -> None:
    """Prefix and infix notation, any spaces and letters; every other text is refused, however long or deep."""
    game = herbrand.load("breakthrough")
    reader = MoveReader(game)
    chance = random.Random(5)
    moves = [str(move) for move in chance.sample(reader.moves("white"), 20)]
    texts = [
        "noop",
        "(noop)",
        "",
        "(",
        ")",
        "()",
        "(" * 40_000,
        "noop(",
        "move(a)",
        "(move(a 2 a 3))",
        "()" * 30,
    ]
    for text in moves:
        infix = reader.text("white", reader.find("white", text) or 0, "infix")
        texts += [text, text.upper(), f" {text} ", infix, infix.replace(" ", ""), infix.replace(",", " , ")]
        for whole in (text, infix):
            tokens = re.findall(r"[(),]|[^\s(),]+", whole)
            place = chance.randrange(len(tokens))
            texts.append(
                " ".join(
                    [*tokens[:place], chance.choice(["", "a", "2", "(", ")", ","]), *tokens[place + 1 :]]
                )
            )
    program = """
        import { readMove, MoveError } from "./game.mjs";
        const read = (text) => {
          try { return readMove("white", text); }
          catch (error) { if (error instanceof MoveError) return null; throw error; }
        };
        console.log(JSON.stringify(TEXTS.map(read)));
    """.replace("TEXTS", json.dumps(texts))
    answers = run(tmp_path, program, game=javascript(game))
    for text, answer in zip(texts, answers, strict=True):
        index = reader.find("white", text)
        assert answer == (None if index is None else reader.text("white", index)), text


@needs_node
def test_a_player_thinks_in_a_worker(tmp_path: Path) -> None:
    """It sees a win and a threat, the answer is a legal move, and a question that fails is answered by its error."""
    program = """
        import { Worker, isMainThread, parentPort } from "node:worker_threads";
        import { game, initialState, LEVELS, RemotePlayer, serve } from "./game.mjs";
        if (!isMainThread) serve(game, parentPort);
        else {
          const worker = new Worker(new URL(import.meta.url));
          const player = new RemotePlayer(worker);
          const play = (...marks) => marks.reduce((state, mark, i) => {
            const move = `(mark ${mark})`;
            return state.next(i % 2 ? ["noop", move] : [move, "noop"]);
          }, initialState);
          const level = { ...LEVELS[2], seconds: 0.2 };
          const win = player.choose(play("1 1", "3 3", "1 2", "3 2"), 0, level, 1);
          const threat = player.choose(play("1 1", "3 3", "1 2"), 1, level, 1);
          const over = play("1 1", "3 3", "1 2", "3 2", "1 3");
          const failed = player.choose(over, 1, level).then(() => "", (error) => String(error.message));
          const answers = await Promise.all([win, threat, failed]);
          await worker.terminate();
          console.log(JSON.stringify(answers));
        }
    """
    win, threat, failed = run(tmp_path, program, game=javascript(herbrand.load("ticTacToe")))
    assert win["text"] == "(mark 1 3)"
    assert win["opinions"][0]["certain"]
    assert win["opinions"][0]["value"] == 100
    assert threat["text"] == "(mark 1 3)"
    assert failed


@needs_node
def test_random_games_as_webassembly_and_interpreted_are_as_good(tmp_path: Path) -> None:
    """The same averages as herbrand's within four standard deviations, and the same for the same seed."""
    game = herbrand.load("breakthrough")
    program = """
        import { game, initialState, Chance } from "./game.mjs";
        const play = (count) => game.playouts(initialState, count, new Chance(3), 500)[0] / count;
        const wasm = [game.engine, play(20003), play(20003), play(5) * 5];
        game.interpret();
        console.log(JSON.stringify([wasm, [game.engine, play(4001), play(4001), play(5) * 5]]));
    """
    answers = run(tmp_path, program, game=javascript(game))
    expected = game.simulate(20_000, seed=2).goals["white"].mean
    for (engine, mean, again, few), count, wanted in zip(
        answers, (20_003, 4_001), ("wasm", "javascript"), strict=True
    ):
        assert engine == wanted
        assert mean == again
        assert few in range(0, 501, 100)
        assert abs(mean - expected) < 4 * 50 * (1 / count + 1 / 20_000) ** 0.5


@needs_node
@pytest.mark.parametrize("offered", ["undefined", "{ Module: null }"])
def test_players_go_without_webassembly_where_it_is_refused(offered: str, tmp_path: Path) -> None:
    """They see the same, only later. (Refused to the module alone: Node's own `Response` needs it.)"""
    program = """
        import { game, initialState, Chance, Search } from "./game.mjs";
        const state = initialState.next(["(mark 1 1)", "noop"]).next(["noop", "(mark 3 3)"])
          .next(["(mark 1 2)", "noop"]);
        const search = new Search(state, new Chance(1));
        search.run(2000, 10);
        console.log(JSON.stringify([game.engine, game.moveTexts[search.opinions(1)[0].move]]));
    """
    source = f"const WebAssembly = {offered};\n" + javascript(herbrand.load("ticTacToe"))
    answer = run(tmp_path, program, game=source)
    assert answer == ["javascript", "(mark 1 3)"]


@needs_node
@pytest.mark.slow_except("hex", "montyHall")
@pytest.mark.parametrize("name", ["connectFour", "hex", "kuhn", "montyHall"])
def test_the_encoder_in_javascript_writes_the_bytes_of_the_one_in_python(name: str, tmp_path: Path) -> None:
    """Gates, loops, and outputs that are constants or inputs."""
    network = herbrand.load(name).network
    source = (
        javascript(herbrand.load(name))
        + """
        export const written = new StageWriter(game.program).module();
    """
    )
    program = """
        import { written } from "./game.mjs";
        console.log(JSON.stringify(Buffer.from(written).toString("hex")));
    """
    assert run(tmp_path, program, game=source) == stages_module(network).hex()


@needs_node
@needs_tsc
def test_the_example_plays_a_game(tmp_path: Path) -> None:
    """`examples/play_in_node.mts`, with the command that its first lines name."""
    source = (ROOT / "examples" / "play_in_node.mts").read_text(encoding="utf-8")
    (tmp_path / "play_in_node.mts").write_text(source, encoding="utf-8")
    (tmp_path / "node.d.ts").write_text(  # of @types/node, only this is used
        """
        declare module "node:worker_threads" {
          export class Worker {
            constructor(file: URL);
            postMessage(message: unknown): void;
            on(event: string, listener: (value: any) => void): this;
            terminate(): Promise<number>;
          }
          export const isMainThread: boolean;
          export const parentPort: Worker | null;
        }
        """,
        encoding="utf-8",
    )
    command = re.search(r"herbrand (convert.*)", source)
    assert command is not None
    arguments = command[1].replace("game.mts", str(tmp_path / "game.mts")).split()
    assert CliRunner().invoke(cli, arguments).exit_code == 0
    compiled(tmp_path, "play_in_node.mts", "node.d.ts")
    assert NODE is not None
    done = subprocess.run(
        [NODE, "play_in_node.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    *moves, goals, picture = done.stdout.splitlines()
    assert re.fullmatch(r"red: \(drop [1-7]\), worth \d+ of 100", moves[0])
    assert re.fullmatch(r"red \d+, yellow \d+", goals)
    assert int(picture.split()[6]) > 5000
