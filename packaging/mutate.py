"""Mutation testing: change one place of a package at a time, and see whether a test fails.

    python packaging/mutate.py PACKAGE... [--count 100] [--seed 1] [--seconds 20] [--only WORDS] [--list]

Prints what kills each mutant or that it survives, and the numbers of each package.  The interpreter needs
what `pip install -e '.[dev]'` brings, and coverage; the system is Linux.  The same seed draws the same
mutants wherever the code has not changed.

- The mutants of a package are a random sample, evenly over its lines, at most one for each line.  Imports,
  annotations, decorators, docstrings and texts are left alone, and what a module does while it is imported,
  other than assigning constants.
- Tests are collected once.  A forked process gives the functions of the imported module the code of the
  mutant, and runs tests up to the first failure.  Processes that tests start do not see the mutant.
- Which tests execute a line, and how long they take, is measured at first, kept in `build/mutants`, and
  measured again for test files that changed or execute changed modules.  A mutant meets the tests that
  execute its line, then the others of the same files (what the first test of a file builds, the others use);
  in both groups first those of the package's own folder, and the fastest first.  A test that takes ten times
  as long as usual has failed.
- `packaging/equivalent_mutants.json` lists mutants that change nothing that matters to a caller, with the
  reason.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import importlib.util
import json
import os
import resource
import signal
import sys
import types
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import coverage
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "herbrand"
KEPT = ROOT / "build" / "mutants" / "tests.json"
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.json")
FOLDERS = (
    "check",
    "cli",
    "convert",
    "draw",
    "engine",
    "ground",
    "machine",
    "network",
    "rules",
    "syntax",
    "verify",
)
PACKAGES = ("check", "machine", "network")
TESTS = (
    *(f"tests/unit/{name}" for name in FOLDERS),
    *("tests/unit/games/test_games_small.py", "tests/unit/games/test_games_hidden.py", "tests/property"),
    *("tests/unit/analyse/test_prove.py", "tests/unit/analyse/test_loose.py"),
)
"""The tests that mutants meet."""
MEMORY_BYTES = 12 << 30
"""Address space of a process with a mutant."""

Change = tuple[ast.expr | ast.stmt, str, str]
"""A node, what stands there instead, and the kind of the change."""

COMPARISONS: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.LtE(),
    ast.LtE: ast.Lt(),
    ast.Gt: ast.GtE(),
    ast.GtE: ast.Gt(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
}
ARITHMETIC: dict[type[ast.operator], ast.operator] = {
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.Mult: ast.FloorDiv(),
    ast.Div: ast.Mult(),
    ast.FloorDiv: ast.Mult(),
    ast.Mod: ast.FloorDiv(),
    ast.Pow: ast.Mult(),
    ast.LShift: ast.RShift(),
    ast.RShift: ast.LShift(),
    ast.BitAnd: ast.BitOr(),
    ast.BitOr: ast.BitAnd(),
    ast.BitXor: ast.BitAnd(),
}


@dataclass(frozen=True)
class Mutant:
    """A module of the package (`network/wire.py`), with one place changed."""

    module: str
    line: int
    """Its first line, counted from one."""
    before: str
    """That line as it stands, without indentation."""
    after: str
    """What stands there in the mutant: of several lines, the first that differs."""
    kind: str
    source: str
    """The whole text of the mutated module."""
    is_import: bool
    """Whether the place is executed when the module is imported."""

    @property
    def module_name(self) -> str:
        """The name by which Python imports it."""
        return "herbrand." + self.module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def key(self) -> tuple[str, str, str]:
        """Says which mutant it is, wherever the line may move to."""
        return self.module, self.before, self.after

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.kind}\n  - {self.before}\n  + {self.after}"


# -- mutants --------------------------------------------------------------------------------------


def _replaced(node: ast.AST, **fields: Any) -> str:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return ast.unparse(changed)


def _changes_of_expression(node: ast.expr) -> Iterator[Change]:
    match node:
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                other = [*ops[:at], COMPARISONS[type(op)], *ops[at + 1 :]]
                yield node, f"({_replaced(node, ops=other)})", "comparison"
        case ast.BoolOp(op=op):
            other_op = ast.And() if isinstance(op, ast.Or) else ast.Or()
            yield node, f"({_replaced(node, op=other_op)})", "boolean operator"
        case ast.BinOp(op=op) if type(op) in ARITHMETIC:
            yield node, f"({_replaced(node, op=ARITHMETIC[type(op)])})", "arithmetic"
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield node, f"({ast.unparse(operand)})", "operator removed"
        case ast.Constant(value=bool() as value):
            yield node, str(not value), "constant"
        case ast.Constant(value=int() | float() as value):
            yield node, f"{value + 1}", "constant"
            yield node, f"({value - 1})", "constant"
        case ast.IfExp(test=test):
            yield test, f"(not ({ast.unparse(test)}))", "condition negated"
        case ast.Call(func=ast.Name(id="isinstance" | "getattr")):
            pass  # whoever swaps these learns of it at once
        case ast.Call(args=[first, second, *others]) if not isinstance(first, ast.Starred):
            if not isinstance(second, ast.Starred) and ast.dump(first) != ast.dump(second):
                yield node, _replaced(node, args=[second, first, *others]), "arguments swapped"
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            for condition in (each for loop in node.generators for each in loop.ifs):
                yield condition, f"(not ({ast.unparse(condition)}))", "condition negated"
        case _:
            pass


def _changes_of_statement(node: ast.stmt) -> Iterator[Change]:
    match node:
        case ast.If(test=test) | ast.While(test=test):
            yield test, f"(not ({ast.unparse(test)}))", "condition negated"
        case ast.Return(value=value) if value is not None and not (
            isinstance(value, ast.Constant) and value.value is None
        ):
            yield node, "return None", "result removed"
        case ast.Expr(value=ast.Call() | ast.Await() | ast.Yield() | ast.YieldFrom()):
            yield node, "pass", "statement removed"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) | ast.Delete() | ast.Raise():
            yield node, "pass", "statement removed"
        case ast.Break():
            yield node, "continue", "statement removed"
        case ast.Continue():
            yield node, "pass", "statement removed"
        case ast.AugAssign(op=op):
            yield node, "pass", "statement removed"
            if type(op) in ARITHMETIC:
                yield node, _replaced(node, op=ARITHMETIC[type(op)]), "arithmetic"
        case _:
            pass


def _is_type(node: ast.expr) -> bool:
    """Whether a value is an alias of a type, such as `A | B` or `tuple[int, ...]`: only tools read it."""
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _is_type(left) and _is_type(right)
        case ast.Name(id=name):
            return name[0].isupper() or name in {"int", "str", "bool", "float", "bytes"}
        case ast.Subscript(value=value):
            return _is_type(value) or (isinstance(value, ast.Name) and value.id in {"tuple", "list", "dict"})
        case _:
            return isinstance(node, ast.Constant) and node.value is None


def find_changes(node: ast.AST) -> Iterator[Change]:
    """All changes of what is executed when a function is called, or of an expression."""
    left_alone: list[ast.AST] = []
    match node:
        case ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return  # of f-strings, only Python 3.12 knows where their parts stand
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            left_alone = [*node.decorator_list, *([node.returns] if node.returns else [])]
        case ast.arg(annotation=annotation) if annotation:
            left_alone = [annotation]
        case ast.AnnAssign():
            left_alone = [node.annotation]
        case ast.Call(func=ast.Name(id="cast")):
            left_alone = list(node.args[:1])
        case _:
            pass
    if isinstance(node, ast.expr):
        yield from _changes_of_expression(node)
    elif isinstance(node, ast.stmt):
        yield from _changes_of_statement(node)
    for child in ast.iter_child_nodes(node):
        if not any(child is each for each in left_alone):
            yield from find_changes(child)


def _changes_of_module(body: Sequence[ast.stmt]) -> Iterator[tuple[bool, Change]]:
    """All changes of a module or a class, and whether the place is executed when the module is imported."""
    for statement in body:
        match statement:
            case ast.ClassDef(body=inner):
                yield from _changes_of_module([each for each in inner if isinstance(each, ast.FunctionDef)])
            case ast.FunctionDef(args=arguments):
                defaults = {default for default in (*arguments.defaults, *arguments.kw_defaults) if default}
                of_defaults = {node for default in defaults for node in ast.walk(default)}
                for change in find_changes(statement):
                    yield change[0] in of_defaults, change
            case ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(value=value) if value:
                # tables that other modules build from the results of calls would not notice
                if not _is_type(value) and not any(isinstance(each, ast.Call) for each in ast.walk(value)):
                    for change in find_changes(value):
                        yield True, change
            case _:
                pass


def find_mutants(module: str) -> Iterator[Mutant]:
    """All mutants of a module, given by its path within the package."""
    text = (PACKAGE / module).read_bytes()
    lines = text.split(b"\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    tree = ast.parse(text)
    for is_import, (node, replacement, kind) in _changes_of_module(tree.body):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        source = text[:begin] + replacement.encode() + text[end:]
        at = next(
            at for at, pair in enumerate(zip(lines, source.split(b"\n"), strict=False)) if len(set(pair)) > 1
        )
        changed = source.split(b"\n")[at].decode().strip()
        yield Mutant(module, at + 1, lines[at].decode().strip(), changed, kind, source.decode(), is_import)


def draw(package: str, count: int, seed: int) -> list[Mutant]:
    """A sample of the mutants of a package, evenly over its lines, in the order of files and lines.

    The draw is by hashes of what the mutants say: a change of one line leaves the rest of the sample alone.
    """

    def number(*words: object) -> bytes:
        return hashlib.sha256(repr((seed, *words)).encode()).digest()

    on_lines: defaultdict[tuple[str, int], list[Mutant]] = defaultdict(list)
    for path in sorted((PACKAGE / package).rglob("*.py")):
        for mutant in find_mutants(path.relative_to(PACKAGE).as_posix()):
            on_lines[mutant.module, mutant.line].append(mutant)
    repeated: Counter[tuple[str, str]] = Counter()
    drawn = []
    for (module, _), mutants in sorted(on_lines.items()):
        before = mutants[0].before
        repeated[module, before] += 1
        chosen = min(mutants, key=lambda mutant: (number(before, mutant.kind), number(mutant.key)))
        drawn.append((number(module, before, repeated[module, before]), chosen))
    drawn.sort(key=lambda pair: pair[0])
    return sorted((mutant for _, mutant in drawn[:count]), key=lambda mutant: (mutant.module, mutant.line))


# -- tests ----------------------------------------------------------------------------------------


def _hash_of(paths: Iterable[Path]) -> str:
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()


@dataclass
class TestFile:
    """What is known of the tests in one file."""

    state: dict[str, str]
    """Hashes of the file and of the modules it executes, by their paths."""
    tests: list[str]
    """The pytest identifiers of the tests that pass."""
    seconds: list[float]
    """The processor time of each."""
    executed: dict[str, dict[str, list[int]]]
    """For each module of `PACKAGES` and each of its lines (in decimal), which of the tests execute it."""

    @property
    def is_valid(self) -> bool:
        """Whether nothing has changed since it was measured."""
        return all(
            (ROOT / path).is_file() and _hash_of([ROOT / path]) == known for path, known in self.state.items()
        )


def choose_tests(mutant: Mutant, files: Mapping[str, TestFile], at_most: float) -> list[str]:
    """Return the identifiers of the tests that a mutant meets, in order, for `at_most` seconds in all."""
    seconds: dict[str, float] = {}
    direct: set[str] = set()
    for file in files.values():
        if lines := file.executed.get(mutant.module):
            seconds.update(zip(file.tests, file.seconds, strict=True))
            # assignments of a module are executed when it is imported: all tests that use it may notice
            of_module = [test for tests in lines.values() for test in tests] if mutant.is_import else []
            direct.update(file.tests[test] for test in lines.get(str(mutant.line), of_module))
    folder = f"tests/unit/{mutant.module.partition('/')[0]}/"
    with_direct = {test.partition("::")[0] for test in direct}
    order = sorted(
        (test for test in seconds if test.partition("::")[0] in with_direct),
        key=lambda test: (test not in direct, not test.startswith(folder), seconds[test]),
    )
    spent = accumulate(seconds[test] for test in order)
    return [test for test, until in zip(order, spent, strict=True) if until <= at_most]


def _functions_in(namespace: Mapping[str, Any], module: str) -> Iterator[tuple[str, types.FunctionType]]:
    """Yield the functions that a module defines, methods too, by their qualified names."""
    for value in namespace.values():
        inner = value
        if isinstance(inner, property):
            parts: list[Any] = [inner.fget, inner.fset]
        else:
            parts = [inner.func if isinstance(inner, cached_property) else inner]
        for part in parts:
            while hasattr(part, "__wrapped__") or hasattr(part, "__func__"):
                part = part.__func__ if hasattr(part, "__func__") else part.__wrapped__
            if isinstance(part, types.FunctionType) and part.__module__ == module:
                yield part.__qualname__, part
            elif isinstance(part, type) and part.__module__ == module:
                yield from _functions_in(vars(part), module)


def execute(mutant: Mutant) -> dict[str, Any]:
    """Return the names that the mutant of a module defines, without touching the module."""
    module = importlib.import_module(mutant.module_name)
    names = {key: value for key, value in vars(module).items() if key.startswith("__")}
    exec(compile(mutant.source, str(PACKAGE / mutant.module), "exec"), names)  # noqa: S102
    return names


def graft(mutant: Mutant, fresh: Mapping[str, Any]) -> None:
    """Give the functions and constants of the imported module the code and values of `fresh`, the mutant's.

    A method that has lost its only `super()` takes the place of the one in the class.  Raises `ValueError`
    where the code of another function has other variables of outer functions than before.
    """
    module = importlib.import_module(mutant.module_name)
    present = dict(_functions_in(vars(module), mutant.module_name))
    for qualified, function in _functions_in(fresh, mutant.module_name):
        target = present[qualified]
        *path, name = qualified.split(".")
        if target.__code__.co_freevars == ("__class__",) and not function.__code__.co_freevars:
            owner = reduce(getattr, path, module)
            if vars(owner).get(name) is target:
                method = types.FunctionType(function.__code__, vars(module), name, function.__defaults__)
                method.__kwdefaults__ = function.__kwdefaults__
                setattr(owner, name, method)
                continue
        target.__code__ = function.__code__
        target.__defaults__, target.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    for statement in ast.parse(mutant.source).body:
        if statement.lineno <= mutant.line <= (statement.end_lineno or 0) and isinstance(
            statement, ast.Assign | ast.AnnAssign
        ):
            for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
                assert isinstance(target, ast.Name)
                before = getattr(module, target.id)
                for other_name, other in list(sys.modules.items()):
                    if other_name.startswith("herbrand") and vars(other).get(target.id) is before:
                        setattr(other, target.id, fresh[target.id])


def _in_fork(call: Callable[[], int]) -> int:
    """Call in a forked process, in a process group that ends with it; return the status of `os.waitpid`."""
    child = os.fork()
    if not child:
        try:
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            null = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(null, stream)
            os._exit(call())
        except BaseException:  # noqa: BLE001
            os._exit(CANNOT)
    status = os.waitpid(child, 0)[1]
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return status


SURVIVED, KILLED, NO_IMPORT, CANNOT = 200, 201, 202, 203
"""How a process with a mutant ends; what is tested may end it in other ways."""


class MutationTesting:
    """A plugin for pytest, which collects the tests and then lets this run them as often as it takes."""

    def __init__(self, mutants: Sequence[Mutant], packages: Sequence[str], at_most: float) -> None:
        self.mutants, self.packages, self.at_most = mutants, packages, at_most
        self.items: dict[str, pytest.Item] = {}
        self.running = Path(KEPT.parent / f"running-{os.getpid()}")
        """A file with the identifier of the test that is running."""
        self.results: dict[str, Counter[str]] = {package: Counter() for package in packages}
        self.failed: set[str] = set()
        self.is_judging = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """End the process with the first failure."""
        if report.failed and self.is_judging:
            os._exit(KILLED)
        if not report.passed:
            self.failed.add(report.nodeid)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Judge all mutants."""
        self.items = {item.nodeid: item for item in session.items if not item.get_closest_marker("skip")}
        files = self.measure()
        reasons = {
            (each["module"], each["before"], each["after"])
            for each in json.loads(EQUIVALENT.read_text(encoding="utf-8"))
        }
        for at, mutant in enumerate(self.mutants, start=1):
            results = self.results[mutant.module.partition("/")[0]]
            results["drawn"] += 1
            if mutant.key in reasons:
                results["equivalent"] += 1
                continue
            killer = self.judge(mutant, files)
            results["killed" if killer else "survived"] += 1
            print(f"{at}. {mutant}\n  {killer or 'SURVIVED'}", flush=True)
        self.running.unlink(missing_ok=True)
        for package, results in self.results.items():
            kinds = ("drawn", "killed", "equivalent", "survived")
            print(f"{package}: {', '.join(f'{results[kind]} {kind}' for kind in kinds)}", flush=True)
        return True

    def run(self, tests: Sequence[str], before: Callable[[pytest.Item], None]) -> Iterator[str]:
        """Run tests in their order."""
        items = [self.items[test] for test in tests]
        for item, following in zip_longest(items, items[1:]):
            before(item)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            yield item.nodeid

    def measure(self) -> dict[str, TestFile]:
        """Return what is known of all test files, after measuring those of which nothing valid is known."""
        kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {}
        known = {path: TestFile(**each) for path, each in kept.items()}
        by_file: defaultdict[str, list[str]] = defaultdict(list)
        for test in self.items:
            by_file[test.partition("::")[0]].append(test)
        files = {path: file for path, file in known.items() if path in by_file and file.is_valid}
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        for path in sorted(by_file.keys() - files.keys()):
            print(f"measuring {path}", flush=True)
            _in_fork(lambda: self._measure(path, by_file[path]))  # noqa: B023 - called at once
            measured = json.loads(self.running.read_text(encoding="utf-8"))
            files[path] = TestFile(**measured)
            KEPT.write_text(json.dumps({path: vars(file) for path, file in files.items()}), encoding="utf-8")
        return files

    def _measure(self, path: str, tests: Sequence[str]) -> int:
        measuring = coverage.Coverage(
            data_file=None, include=[f"{PACKAGE / package}/*" for package in PACKAGES], config_file=False
        )
        measuring.start()
        seconds: dict[str, float] = {}
        began = 0.0

        def begin(item: pytest.Item) -> None:
            nonlocal began
            measuring.switch_context(item.nodeid)
            began = sum(os.times()[:4])

        for test in self.run(tests, begin):
            seconds[test] = round(sum(os.times()[:4]) - began, 3)
        measuring.stop()
        data = measuring.get_data()
        passed = [test for test in tests if test not in self.failed]
        number = {test: at for at, test in enumerate(passed)}
        measured = [Path(file) for file in data.measured_files()]
        result = TestFile(
            state={
                source: _hash_of([ROOT / source])
                for source in (path, *(file.relative_to(ROOT).as_posix() for file in measured))
            },
            tests=passed,
            seconds=[seconds[test] for test in passed],
            executed={
                file.relative_to(PACKAGE).as_posix(): {
                    str(line): [number[test] for test in by if test in number]
                    for line, by in data.contexts_by_lineno(str(file)).items()
                    if any(by)
                }
                for file in measured
            },
        )
        self.running.write_text(json.dumps(vars(result)), encoding="utf-8")
        return 0

    def judge(self, mutant: Mutant, files: Mapping[str, TestFile]) -> str:
        """Run tests on a mutant; return what killed it, "" if it survived."""
        seconds = {
            test: took for file in files.values() for test, took in zip(file.tests, file.seconds, strict=True)
        }
        tests = [test for test in choose_tests(mutant, files, self.at_most) if test in self.items]

        def limit(item: pytest.Item) -> None:
            self.running.write_text(item.nodeid, encoding="utf-8")
            usual = seconds[item.nodeid]
            signal.setitimer(signal.ITIMER_PROF, 5 + 10 * usual)
            signal.setitimer(signal.ITIMER_REAL, 300 + 60 * usual)  # it waits, or the machine is busy

        def call() -> int:
            self.is_judging = True
            try:
                fresh = execute(mutant)
            except Exception:  # noqa: BLE001
                return NO_IMPORT
            graft(mutant, fresh)
            for _ in self.run(tests, limit):
                pass
            return SURVIVED

        self.running.write_text("", encoding="utf-8")
        status = _in_fork(call)
        test = self.running.read_text(encoding="utf-8")
        if os.WIFSIGNALED(status):
            return f"{signal.Signals(os.WTERMSIG(status)).name} in {test}"
        ended = os.WEXITSTATUS(status)
        if ended == CANNOT:
            raise RuntimeError(f"the mutant could not be tried: {mutant}")
        if ended == NO_IMPORT:
            return "cannot be imported"
        return "" if ended == SURVIVED else f"killed by {test}"


def main() -> int:
    """Draw, judge, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("packages", nargs="+", choices=PACKAGES, help="folders in src/herbrand")
    parser.add_argument("--count", type=int, default=100, help="how many mutants of each package to draw")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--seconds",
        type=float,
        default=20,
        help="usual processor time of the tests that a mutant meets, at most",
    )
    parser.add_argument(
        "--only", default="", help="of the drawn mutants, those whose description contains this"
    )
    parser.add_argument("--list", action="store_true", help="print the drawn mutants and stop")
    options = parser.parse_args()
    os.chdir(ROOT)
    spec = importlib.util.find_spec("herbrand")
    if spec is None or not spec.origin or not Path(spec.origin).samefile(PACKAGE / "__init__.py"):
        sys.exit(f"herbrand is not imported from {PACKAGE}: install it with `pip install -e .`")
    mutants = [
        mutant for package in options.packages for mutant in draw(package, options.count, options.seed)
    ]
    mutants = [mutant for mutant in mutants if options.only in str(mutant)]
    if options.list:
        print(*mutants, sep="\n")
        return 0
    # without plugins that start processes or remember failures
    arguments = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0", *TESTS]
    plugin = MutationTesting(mutants, options.packages, options.seconds)
    status = pytest.main(arguments, plugins=[plugin])
    return int(status or any(results["survived"] for results in plugin.results.values()))


if __name__ == "__main__":
    raise SystemExit(main())
