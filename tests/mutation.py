"""Mutation run over the library: how many small faults do the tests notice? `make mutants`, or with SAMPLE=200.

A mutant is the code with one small fault: a comparison shifted or turned, + for −, a constant off by one, a condition
negated, a statement, a `not` or a method without arguments dropped, `min` for `max`, another default. It is killed
when a test fails (or does not end) and lives when all pass. Faults are planted one by one in a copy of the tree. Those
in a function are planted in memory, each in a process forked from one that has collected the tests; those at import and
in what numba compiles are planted in the source. (mutmut leaves out whatever has a decorator, so all that is compiled,
and all constants; cosmic-ray makes three times as many, runs one command on each, and knows a mutant by its number in a
file.)

Which tests to run is measured, not listed: in a first run every block notes which tests reach it. A mutant
then takes those that reach its block until one fails: first those of the files that are most about it (to collect the
tests of all files takes longer than most tests), and of these fast ones, and those that have killed others. Results are
kept in `.mutants/`: what was killed stays so while its function is the same, what lived is tried again when tests have
changed, and a run that was stopped goes on.

Mutants that no test can kill stand in `mutation_equivalents.tsv` with the reason, by what they change and not by line.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import csv
import gc
import hashlib
import importlib
import inspect
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, groupby
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, ClassVar

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".mutants"
MODULES = (
    "pairsig/**/*",
    "study/analysis/*",
    "study/reproduction/*",
    "study/beyond/*",
    "study/test_sets/resize",
    "study/test_sets",
)
"""Where faults are planted: all of the library, and what the study computes with it."""
ELSEWHERE = (
    "base_model*", "code", "config", "corpora*", "docs", "environments", "findings", "grammar", "ibm_model2", "itg",
    "joint_hmm", "joshua", "make", "mst", "profiles", "release", "retrain", "sequence_labelling", "setup", "site*",
    "slurm", "workflow",
)  # fmt: skip
"""Test files that are about something else: they reach these modules seldom, and slowly."""
PRELOADED = (
    "hypothesis.extra.numpy", "numba", "numpy", "pandas", "pyarrow.parquet", "pytest", "rouge_score.rouge_scorer",
    "sacrebleu.metrics", "scipy.fft", "scipy.integrate", "scipy.optimize", "scipy.special", "scipy.stats",
    "threadpoolctl", "udtools.udeval",
)  # fmt: skip
"""Imported once, before a process is forked for every mutant."""
MEMORY = 8 * 2**30
"""Bytes that a mutant may ask for: some would take all there are."""
FIRST_FILES = 3
"""Test files whose tests run before all others: those of which the largest share reaches the block."""
SLACK = 30.0
"""Seconds of processor time beyond three times what its tests take otherwise, after which a mutant does not end."""
NOT_PLANTED = 99
"""Exit status of a process that could not plant its mutant in memory."""

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Add,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.BitXor: ast.BitAnd,
}  # fmt: skip
OPPOSITES = (
    ("min", "max"), ("minimum", "maximum"), ("floor", "ceil"), ("any", "all"), ("argmin", "argmax"), ("zeros", "ones"),
)  # fmt: skip
SWAPPED = dict(OPPOSITES) | {second: first for first, second in OPPOSITES} | {"median": "max"}


@dataclass(frozen=True)
class Mutant:
    """One fault, named by `module`, `scope` (a function), `before` and `after` (with a number if it comes again).

    `start` and `end` are the bytes to replace by `text`; `block` is the line at which its block begins, 0 at import.
    `around` is a digest of the outermost function, or of the module.
    """

    module: str
    scope: str
    before: str
    after: str
    start: int
    end: int
    text: str
    block: int
    around: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.module, self.scope, self.before, self.after


def mutations(node: ast.AST) -> Iterator[ast.AST | None]:
    """The node with one fault each; None: without it."""

    def changed(**fields: object) -> ast.AST:
        return type(node)(**{name: getattr(node, name, None) for name in node._fields} | fields)

    match node:
        case ast.Compare(ops=ops):
            for place, operator in enumerate(ops):
                for replacement in COMPARISONS[type(operator)]:
                    yield changed(ops=[*ops[:place], replacement(), *ops[place + 1 :]])
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in ARITHMETIC:
            yield changed(op=ARITHMETIC[type(op)]())
            if isinstance(node, ast.AugAssign):
                yield None
        case ast.BoolOp(op=op):
            yield changed(op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            if not isinstance(test, ast.Compare | ast.UnaryOp | ast.Constant):
                yield ast.UnaryOp(ast.Not(), test)  # takes the place of the test
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)
        case ast.Constant(value=float(value)):
            yield ast.Constant(2 * value if value else 1.0)
        case ast.Name(id=name) if name in SWAPPED:
            yield ast.Name(SWAPPED[name])
        case ast.Attribute(attr=name) if name in SWAPPED:
            yield changed(attr=SWAPPED[name])
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=[], keywords=[]) if name != "to_numpy":
            yield value
        case ast.Raise(exc=ast.Name("NotImplementedError")):
            pass  # a method that is always overridden
        case ast.Raise() | ast.Expr(value=ast.Call()) | ast.Break() | ast.Continue():
            yield None
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            yield None


class Reader(ast.NodeVisitor):
    """Collects the mutants of a module, and where its blocks begin."""

    def __init__(self, module: str, source: bytes) -> None:
        self.module, self.source = module, source
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.parents: list[ast.AST] = []
        self.scope: list[str] = []
        self.block = 0
        self.compiled = False
        self.around = digest(source)
        self.blocks: list[tuple[int, int]] = []  # line and column of first statements
        self.mutants: list[Mutant] = []
        self.seen: Counter[tuple[str, str, str]] = Counter()
        self.visit(ast.parse(source))

    def place(self, line: int, column: int) -> int:
        return self.lines[line - 1] + column

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom):
            return  # what is said, not what is done
        if isinstance(node, ast.keyword) and node.arg == "strict":
            return  # an assertion about `zip`, which the code around makes true
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        if isinstance(node, ast.stmt | ast.expr):
            self.mutate(node)
        if isinstance(node, ast.Raise):
            return
        self.parents.append(node)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            self.define(node)
        elif isinstance(node, ast.AnnAssign):
            for child in (node.target, node.value):
                if child is not None:
                    self.visit(child)
        else:
            self.children(node)
        self.parents.pop()

    def define(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        outer = self.block, self.compiled, self.around
        if isinstance(node, ast.FunctionDef):
            if not self.block:
                end = self.place(node.end_lineno or 0, node.end_col_offset or 0)
                self.around = digest(self.source[self.place(node.lineno, node.col_offset) : end])
            self.compiled |= any(
                name in ast.unparse(decorator)
                for decorator in node.decorator_list
                for name in ("njit", "compiled", "inlined")
            )
            for default in (*node.args.defaults, *node.args.kw_defaults):
                if default is not None:
                    self.scope.append(node.name)
                    if isinstance(default, ast.Constant) and isinstance(default.value, str):
                        self.add(default, ast.Constant("other"))
                    self.visit(default)
                    self.scope.pop()
        self.scope.append(node.name)
        self.statements(node.body, isinstance(node, ast.FunctionDef))
        self.scope.pop()
        self.block, self.compiled, self.around = outer

    def children(self, node: ast.AST) -> None:
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                self.statements(value, bool(self.scope) and self.block > 0)
            else:
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        self.visit(child)

    def statements(self, body: list[ast.stmt], is_block: bool) -> None:
        outer = self.block
        first = body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):  # a docstring
            body = body[1:]
        # A block that begins on the line of its header is none of its own, nor is an `elif`.
        if is_block and not self.compiled and body and body[0].lineno != getattr(self.parents[-1], "lineno", 0):
            line = min(node.lineno for node in (body[0], *getattr(body[0], "decorator_list", ())))
            if not self.source.startswith(b"elif", self.place(line, body[0].col_offset)):
                self.block = line
                self.blocks.append((line, body[0].col_offset))
        for statement in body:
            self.visit(statement)
        self.block = outer

    def mutate(self, node: ast.stmt | ast.expr) -> None:
        for mutated in mutations(node):
            place: ast.stmt | ast.expr = node
            if isinstance(node, ast.If | ast.While | ast.IfExp):
                place = node.test
                self.parents.append(node)
                self.add(place, mutated)
                self.parents.pop()
            else:
                self.add(place, mutated)

    def add(self, node: ast.stmt | ast.expr, mutated: ast.AST | None) -> None:
        start = self.place(node.lineno, node.col_offset)
        end = self.place(node.end_lineno or 0, node.end_col_offset or 0)
        text = "pass" if mutated is None else ast.unparse(ast.fix_missing_locations(mutated))
        if isinstance(mutated, ast.expr):
            text = f"({text})"
        # The name: what is around the fault, as far as that is short.
        low, high = start, end
        for parent in reversed(self.parents):
            if not isinstance(parent, ast.stmt | ast.expr):
                continue
            around = (
                self.place(parent.lineno, parent.col_offset),
                self.place(parent.end_lineno or 0, parent.end_col_offset or 0),
            )
            if around[1] - around[0] > 70:
                break
            low, high = around
        before = " ".join(self.source[low:high].decode().split())
        after = " ".join((self.source[low:start] + text.encode() + self.source[end:high]).decode().split())
        scope = ".".join(self.scope)
        self.seen[scope, before, after] += 1
        if self.seen[scope, before, after] > 1:
            after += f"  #{self.seen[scope, before, after]}"
        self.mutants.append(Mutant(self.module, scope, before, after, start, end, text, self.block, self.around))


def modules() -> dict[str, bytes]:
    folder = ROOT / "src"
    paths = sorted({path for pattern in MODULES for path in folder.glob(f"{pattern}.py")})
    return {str(path.relative_to(ROOT)): path.read_bytes() for path in paths}


def instrumented(module: str, source: bytes) -> bytes:
    """The module with a note at the beginning of every block that says that it was reached."""
    reader = Reader(module, source)
    for line, column in sorted(reader.blocks, reverse=True):
        place = reader.place(line, column)
        note = f"__reached__({f'{module}:{line}'!r})\n" + " " * column
        source = source[:place] + note.encode() + source[place:]
    return source


def planted(mutant: Mutant, source: bytes) -> bytes:
    """The source of the module with the fault."""
    return source[: mutant.start] + mutant.text.encode() + source[mutant.end :]


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code of all functions and classes that are defined in a code."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from codes(constant)


def import_name(module: str) -> str:
    """The name by which a module is imported."""
    return module.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def live_functions(mutant: Mutant) -> Iterator[FunctionType]:
    """The functions of the imported module that bear the name of the mutant's outermost function."""
    holder: Any = importlib.import_module(import_name(mutant.module))
    for name in mutant.scope.split("."):
        holder = vars(holder).get(name)
        if not isinstance(holder, type):
            break
    if isinstance(holder, property):
        wrapped: tuple[Any, ...] = (holder.fget, holder.fset)
    else:
        wrapped = (getattr(holder, "__func__", getattr(holder, "func", holder)),)
    for function in wrapped:
        inner = inspect.unwrap(function) if callable(function) else None
        if isinstance(inner, FunctionType):
            yield inner


def plant_in_memory(mutant: Mutant, source: bytes) -> bool:
    """Give the function its code with the fault; whether that was possible."""
    try:
        changed = compile(planted(mutant, source), mutant.module, "exec", dont_inherit=True)
    except SyntaxError:
        return False
    by_place = {(code.co_qualname, code.co_firstlineno): code for code in codes(changed)}
    for function in live_functions(mutant):
        code = by_place.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        start = source.count(b"\n", 0, mutant.start) + 1
        lines = {
            line for inner in (function.__code__, *codes(function.__code__)) for *_, line in inner.co_lines() if line
        }
        if code is not None and min(lines) <= start <= max(lines) and code.co_freevars == function.__code__.co_freevars:
            function.__code__ = code
            return True
    return False


def digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


class Reached:
    """A pytest plugin: processor time of every test and the blocks it reaches; what fixtures reach is the file's."""

    def __init__(self) -> None:
        self.now: set[str] = set()
        self.clock = 0.0
        self.tests: dict[str, tuple[float, set[str]]] = {}
        self.files: defaultdict[str, set[str]] = defaultdict(set)
        self.imported: set[str] = set()
        self.failed: list[str] = []
        builtins.__reached__ = lambda block: self.now.add(block)  # type: ignore[attr-defined]

    def taken(self) -> set[str]:
        taken, self.now = self.now, set()
        builtins.__reached__ = self.now.add  # type: ignore[attr-defined]
        return taken

    def pytest_collectreport(self, report: object) -> None:
        taken = self.taken()
        self.imported |= taken
        self.files[report.nodeid.split("::")[0]] |= taken  # type: ignore[attr-defined]

    @property
    def noted(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in ("tests", "files", "imported", "failed")}

    def pytest_runtest_logreport(self, report: object) -> None:
        nodeid, taken = report.nodeid, self.taken()  # type: ignore[attr-defined]
        before, self.clock = self.clock, time.process_time()
        if report.when == "call":  # type: ignore[attr-defined]
            self.tests[nodeid] = self.clock - before, taken
        else:
            self.files[nodeid.split("::")[0]] |= taken
        if report.failed:  # type: ignore[attr-defined]
            self.failed.append(nodeid)


class First:
    """A pytest plugin that tells the first test that fails."""

    def __init__(self) -> None:
        self.failed = ""

    @property
    def noted(self) -> dict[str, object]:
        return {"failed": self.failed}

    def pytest_collectreport(self, report: object) -> None:
        if report.failed and not self.failed:  # type: ignore[attr-defined]
            self.failed = f"{report.nodeid} (collection)"  # type: ignore[attr-defined]

    def pytest_runtest_logreport(self, report: object) -> None:
        if report.failed and not self.failed:  # type: ignore[attr-defined]
            self.failed = report.nodeid  # type: ignore[attr-defined]


def limit_time(seconds: float) -> None:
    """Stop this process after so many seconds of processor time."""
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 5))


def was_stopped(status: int) -> bool:
    """Whether a process took too long."""
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)


class InMemory:
    """A pytest plugin that collects tests once and runs those of each mutant in a process forked from there.

    What cannot be planted in memory is left without a result, and so is what lives although it ran at import, too.
    """

    noted: ClassVar[dict[str, object]] = {}

    def __init__(
        self, mutants: list[Mutant], results: Results, imported: frozenset[str], n_jobs: int, ends: float
    ) -> None:
        self.mutants, self.results, self.imported, self.n_jobs, self.ends = mutants, results, imported, n_jobs, ends
        self.running: dict[int, tuple[Mutant, Path, float]] = {}

    def pytest_runtestloop(self, session: Any) -> bool:
        by_id = {item.nodeid: item for item in session.items}
        gc.freeze()
        with tempfile.TemporaryDirectory() as folder:
            for number, mutant in enumerate(self.mutants):
                if time.monotonic() > self.ends:
                    break
                while len(self.running) >= self.n_jobs:
                    self.wait()
                tests = self.results.ordered(mutant)
                self.start(mutant, [by_id[test] for test in tests], Path(folder) / str(number))
            while self.running:
                self.wait()
        return True

    def start(self, mutant: Mutant, items: list[Any], folder: Path) -> None:
        folder.mkdir()
        limit = self.results.limit(mutant, [item.nodeid for item in items])
        child = os.fork()
        if not child:
            status = NOT_PLANTED
            try:
                os.setpgid(0, 0)
                limit_time(limit)
                if plant_in_memory(mutant, Path(mutant.module).read_bytes()):
                    status = 1
                    (folder / "failed").write_text(self.run(items, folder))
            except BaseException:
                traceback.print_exc()
            os._exit(status)
        # Processor time is limited, since the machine may be busy; a mutant that waits for itself takes none.
        self.running[child] = mutant, folder, time.monotonic() + 4 * limit

    @staticmethod
    def run(items: list[Any], folder: Path) -> str:
        """The first test that fails, if any."""
        sys.dont_write_bytecode = True
        first = First()
        config = items[0].config
        config.pluginmanager.register(first)
        config._tmp_path_factory._basetemp = None
        config._tmp_path_factory._given_basetemp = folder / "tmp"
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if first.failed:
                break
        return first.failed

    def wait(self) -> None:
        """Until a process has ended."""
        while not (ended := os.waitpid(-1, os.WNOHANG))[0]:
            for child, (*_, ends) in self.running.items():
                if time.monotonic() > ends:
                    os.killpg(child, signal.SIGKILL)
            time.sleep(0.01)
        child, status = ended
        if child not in self.running:
            return
        mutant, folder, _ = self.running.pop(child)
        failed = folder / "failed"
        if failed.exists():
            if test := failed.read_text():
                self.results.add(mutant, "killed", test)
            elif f"{mutant.module}:{mutant.block}" not in self.imported:
                self.results.add(mutant, "lived", "")
        elif was_stopped(status):
            self.results.add(mutant, "endless", "")
        elif os.waitstatus_to_exitcode(status) != NOT_PLANTED:
            self.results.add(mutant, "killed", "the process ended")
        shutil.rmtree(folder, ignore_errors=True)


class Copy:
    """A copy of the tree in which faults are planted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if folder.exists():
            shutil.rmtree(folder)
        names = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for name in names:
            if not name.startswith("results/") and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        self.numba, self.warm = folder / ".numba", folder / ".numba-warm"

    def pytest(self, tests: list[str], plugin: Any, limit: float | None) -> dict[str, object] | None:
        """Run tests in a process of their own; what the plugin knows then, or None if that took too long."""
        listed, noted = self.folder / ".tests", self.folder / ".noted.json"
        listed.write_text("\n".join(tests))
        noted.unlink(missing_ok=True)
        child = os.fork()
        if not child:
            try:
                self._child(listed, noted, plugin, limit)
            except BaseException:
                traceback.print_exc()
            os._exit(0)
        # Processor time, since the machine may be busy; a mutant that waits for itself takes none.
        ends = time.monotonic() + 20 * (limit or 86400.0)
        while not (status := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > ends:
                os.killpg(child, signal.SIGKILL)
            time.sleep(0.05)
        if was_stopped(status[1]):
            return None
        return json.loads(noted.read_text()) if noted.exists() else {"failed": "the process ended"}

    def _child(self, listed: Path, noted: Path, plugin: Any, limit: float | None) -> None:
        import numba
        import pytest
        from hypothesis import HealthCheck
        from hypothesis import settings as hypotheses

        # The same examples every time, and no failure because the machine is busy.
        hypotheses.register_profile(
            "mutation", derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
        )
        hypotheses.load_profile("mutation")
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        if limit is not None:
            limit_time(limit)
        os.chdir(self.folder)
        numba.config.CACHE_DIR = str(self.numba)
        sys.dont_write_bytecode = isinstance(plugin, First)
        sys.path[:0] = [str(self.folder / "src"), str(self.folder / "tests")]
        os.environ |= {
            "PYTHONPATH": str(self.folder / "src"), "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(self.numba)
        }  # fmt: skip
        with (self.folder / ".log").open("w") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
            stop = ["-x"] if isinstance(plugin, First) else []
            stop += ["--capture=no"] if isinstance(plugin, InMemory) else []
            stop += ["-m", "not slow and not packages and not slurm"]
            quiet = ["-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
            pytest.main([*quiet, *stop, f"@{listed}"], plugins=[plugin])
        noted.write_text(json.dumps(plugin.noted, default=sorted))

    def lives(self, mutant: Mutant, source: bytes, tests: list[str], limit: float) -> tuple[str, str]:
        """`lived`, `killed` with the test that failed, or `endless`."""
        if self.warm.exists():
            shutil.rmtree(self.numba, ignore_errors=True)
            shutil.copytree(self.warm, self.numba)
            # numba sees that a file has changed, but not that a function has that it inlined from another one.
            for user in importers(mutant.module, modules()):
                for compiled in self.numba.glob(f"*/{Path(user).stem}.*"):
                    compiled.unlink()
        path = self.folder / mutant.module
        before = path.stat()
        path.write_bytes(planted(mutant, source))
        try:
            noted = self.pytest(tests, First(), limit)
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        if noted is None:
            return "endless", ""
        return ("killed", str(noted["failed"])) if noted["failed"] else ("lived", "")


def survey(
    copy: Copy, sources: dict[str, bytes], patterns: list[str]
) -> tuple[dict[str, dict[str, float]], frozenset[str]]:
    """For each block the tests that reach it, with their seconds, and the blocks that are reached at import.

    "module:0" has the tests that reach any block of the module.
    """
    path_of_known = KEPT / "reached.json"
    known = json.loads(path_of_known.read_text()) if path_of_known.exists() else {}
    shared = [path.read_bytes() for path in sorted(ROOT.glob("src/**/*.py"))]
    shared += [(ROOT / "tests" / name).read_bytes() for name in ("conftest.py", "oracles.py")]
    elsewhere = {path for name in ELSEWHERE for path in ROOT.glob(f"tests/*/test_{name}.py")}
    files = sorted({path for name in patterns for path in ROOT.glob(f"tests/*/test_{name}.py")} - elsewhere)
    digests = {path.relative_to(ROOT).as_posix(): digest(path.read_bytes(), *shared) for path in files}
    changed = [name for name in digests if known.get(name, {}).get("digest") != digests[name]]
    if changed:
        print(f"finding out what the tests of {len(changed)} files reach", flush=True)
        for module, source in sources.items():
            (copy.folder / module).write_bytes(instrumented(module, source))
        noted = copy.pytest(changed, Reached(), None)
        for module, source in sources.items():
            (copy.folder / module).write_bytes(source)
        if noted is None or not noted["tests"]:
            sys.exit(f"no test runs without any fault: see {copy.folder / '.log'}")
        # Those that need a browser, a process of its own or the reference tables, none of which the copy has.
        failing = set(noted["failed"])  # type: ignore[call-overload]
        print(f"{len(failing)} tests fail in the copy without any fault, and are left out", flush=True)
        for name in changed:
            of_file = set(noted["files"].get(name, ()))  # type: ignore[attr-defined]
            known[name] = {
                "digest": digests[name],
                "tests": {
                    test: [seconds, sorted(of_file | set(blocks))]
                    for test, (seconds, blocks) in noted["tests"].items()  # type: ignore[attr-defined]
                    if test.split("::")[0] == name and test not in failing
                },
                "imported": sorted(noted["imported"]),  # type: ignore[call-overload]
            }
        path_of_known.write_text(json.dumps(known))
    reach: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for name in digests:
        for test, (seconds, blocks) in known[name]["tests"].items():
            for block in blocks:
                reach[block][test] = seconds
                reach[f"{block.rpartition(':')[0]}:0"][test] = seconds
    # Compiled functions note nothing. A module of nothing else is reached by the tests that reach its importers.
    for module in sources.keys() - {block.rpartition(":")[0] for block in reach}:
        for user in importers(module, sources):
            reach[f"{module}:0"] |= reach[f"{user}:0"]
    return reach, frozenset().union(*(known[name]["imported"] for name in digests))


class Results:
    """Which tests a mutant takes, and what became of it, in a table that later runs continue."""

    path = KEPT / "results.tsv"

    def __init__(self, copy: Copy, reach: dict[str, dict[str, float]], seconds: float) -> None:
        self.reach, self.seconds = reach, seconds
        self.sizes = Counter(test.split("::")[0] for test in set().union(*reach.values()))
        self.files = {name: (copy.folder / name).read_bytes() for name in self.sizes}
        self.screen = os.dup(1)  # pytest's own output goes to a file
        self.read()

    def read(self) -> None:
        self.known: dict[tuple[str, ...], list[str]] = {}
        self.killers: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)  # by module and scope or ""
        if self.path.exists():
            with self.path.open(encoding="utf-8", newline="") as lines:
                self.known = {tuple(row[:4]): row[4:] for row in csv.reader(lines, delimiter="\t")}
        for (module, scope, *_), (outcome, test, *_) in self.known.items():
            self.count(module, scope, outcome, test)

    def count(self, module: str, scope: str, outcome: str, test: str) -> None:
        for place in {scope, ""}:
            self.killers[module, place][test] += outcome == "killed"

    def outcome(self, mutant: Mutant) -> str:
        """`killed`, `endless` or `lived`, or nothing if that is not known of this function and these tests."""
        outcome, _, around, tests = self.known.get(mutant.key, ("", "", "", ""))
        same = around == mutant.around and (outcome != "lived" or tests == self.tested(mutant))
        return outcome if same else ""

    def tested(self, mutant: Mutant) -> str:
        names = {test.split("::")[0] for test in self.reach.get(f"{mutant.module}:{mutant.block}", ())}
        return digest(str(self.seconds).encode(), *(self.files[name] for name in sorted(names)))

    def add(self, mutant: Mutant, outcome: str, test: str) -> None:
        row = [outcome, test, mutant.around, self.tested(mutant)]
        with self.path.open("a", encoding="utf-8", newline="") as lines:
            csv.writer(lines, delimiter="\t", lineterminator="\n").writerow([*mutant.key, *row])
        self.known[mutant.key] = row
        self.count(mutant.module, mutant.scope, outcome, test)
        text = f"{outcome}: {mutant.module} {mutant.scope}\n"
        if outcome == "lived":
            text += f"    {mutant.before}\n    {mutant.after}  {test}\n"
        os.write(self.screen, text.encode())

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests that reach the mutant's block: fast ones and those that have killed others first."""
        seconds = self.reach.get(f"{mutant.module}:{mutant.block}", {})
        near, far = self.killers[mutant.module, mutant.scope], self.killers[mutant.module, ""]
        ordered = sorted(seconds, key=lambda test: seconds[test] / (1 + far[test] + 100 * near[test]))
        taken = accumulate(seconds[test] for test in ordered)
        return [test for test, until in zip(ordered, taken, strict=True) if until <= self.seconds]

    def stages(self, mutant: Mutant) -> Iterator[list[str]]:
        """The tests of files that are most about the block, then all others."""
        tests = self.tests(mutant)
        reaching = Counter(test.split("::")[0] for test in tests)
        files = sorted(reaching, key=lambda name: (reaching[name] / self.sizes[name], reaching[name]), reverse=True)
        for some in (files[:FIRST_FILES], files[FIRST_FILES:]):
            if some:
                yield [test for test in tests if test.split("::")[0] in some]

    def ordered(self, mutant: Mutant) -> list[str]:
        """All of them: first those that have killed others of the function."""
        near = self.killers[mutant.module, mutant.scope]
        return sorted((test for stage in self.stages(mutant) for test in stage), key=lambda test: -near[test])

    def limit(self, mutant: Mutant, tests: list[str]) -> float:
        """Seconds of processor time after which the tests do not end."""
        seconds = self.reach[f"{mutant.module}:{mutant.block}"]
        return 3 * sum(seconds[test] for test in tests) + SLACK


def importers(module: str, sources: dict[str, bytes]) -> set[str]:
    """The modules that import a module."""
    name = import_name(module).encode()
    package, _, stem = name.rpartition(b".")
    pattern = re.compile(
        rb"^(from %b import|import %b\b|from %b import [^\n]*\b%b\b)" % (name, name, package, stem), re.MULTILINE
    )
    return {user for user, source in sources.items() if pattern.search(source)}


def by_module(mutants: list[Mutant]) -> Iterator[list[Mutant]]:
    for _, of_module in groupby(mutants, key=lambda mutant: mutant.module):
        yield list(of_module)


def sampled(mutants: list[Mutant], size: int, seed: int) -> list[Mutant]:
    return random.Random(seed).sample(mutants, min(size, len(mutants)))


def clopper_pearson(successes: int, trials: int) -> str:
    from scipy.stats import binomtest

    if not trials:
        return "-"
    interval = binomtest(successes, trials).proportion_ci(0.95, "exact")
    share, low, high = (f"{100 * value:.1f}" for value in (successes / trials, interval.low, interval.high))
    return f"{share} % ({low} to {high})"


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, metavar="N", help="a random sample of N mutants (default: all)")
    parser.add_argument("--per-module", type=int, metavar="N", help="a random sample of N mutants of each module")
    parser.add_argument("--seed", type=int, default=2012, help="of the sample")
    parser.add_argument("--module", default="", help="only modules whose path holds this")
    parser.add_argument(
        "--tests", nargs="+", default=["*"], metavar="NAME", help="only tests/*/test_NAME.py, with * (default: all)"
    )
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="stop after so many; goes on when run again"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=float("inf"),
        help="of processor time for the tests of a mutant, fast ones first",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mutants in memory at a time")
    parser.add_argument("--list", action="store_true", help="list the mutants and stop")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    started = time.monotonic()
    os.nice(19)
    KEPT.mkdir(exist_ok=True)
    sources = {module: source for module, source in modules().items() if options.module in module}
    mutants = [mutant for module, source in sources.items() for mutant in Reader(module, source).mutants]
    if options.per_module is not None:
        mutants = [
            mutant
            for of_module in by_module(mutants)
            for mutant in sampled(of_module, options.per_module, options.seed)
        ]
    if options.sample is not None:
        mutants = sampled(mutants, options.sample, options.seed)
    if options.list:
        for mutant in mutants:
            print(*mutant.key, sep="\t")
        return
    with (ROOT / "tests/mutation_equivalents.tsv").open(encoding="utf-8", newline="") as lines:
        equivalent = {(r["module"], r["scope"], r["before"], r["after"]) for r in csv.DictReader(lines, delimiter="\t")}
    known_mutants = {m.key for module, source in modules().items() for m in Reader(module, source).mutants}
    for key in equivalent - known_mutants:
        print("no such mutant any more, listed as equivalent:", *key, sep="\n  ")

    for name in PRELOADED:
        importlib.import_module(name)
    copy = Copy(KEPT / "copy")
    reach, imported = survey(copy, modules(), options.tests)
    results = Results(copy, reach, options.seconds)
    ends = started + 60 * options.minutes
    pending = [mutant for mutant in mutants if mutant.key not in equivalent and not results.outcome(mutant)]
    for mutant in pending:
        if not results.tests(mutant):
            results.add(mutant, "lived", "reached by no test")
    in_functions = [mutant for mutant in pending if mutant.block and not results.outcome(mutant)]
    if in_functions:
        files = sorted({test.split("::")[0] for mutant in in_functions for test in results.tests(mutant)})
        copy.pytest(files, InMemory(in_functions, results, imported, options.jobs, ends), None)
        results.read()
    pending = [mutant for mutant in pending if not results.outcome(mutant)]
    if any(b"compiled" in sources[mutant.module] for mutant in pending):
        copy.pytest(["tests/pairsig/test_comparisons.py", "tests/pairsig/test_random_streams.py"], First(), None)
        shutil.copytree(copy.numba, copy.warm, dirs_exist_ok=True)
    for mutant in pending:
        if time.monotonic() > ends:
            break
        outcome, test = "", ""
        for stage in results.stages(mutant):
            outcome, test = copy.lives(mutant, sources[mutant.module], stage, results.limit(mutant, stage))
            if outcome != "lived":
                break
        results.add(mutant, outcome, test)
    outcomes = {
        mutant: "equivalent" if mutant.key in equivalent else results.outcome(mutant)
        for mutant in mutants
        if mutant.key in equivalent or results.outcome(mutant)
    }
    report(outcomes, len(mutants))


def report(outcomes: dict[Mutant, str], asked: int) -> None:
    """Print one line per module, and the score of all."""
    print(f"\n{'module':44}{'killed':>8}{'tried':>8}{'equivalent':>12}{'endless':>9}")
    totals: Counter[str] = Counter()
    for module in sorted({mutant.module for mutant in outcomes}):
        counts = Counter(outcome for mutant, outcome in outcomes.items() if mutant.module == module)
        totals += counts
        killed = counts["killed"] + counts["endless"]
        tried = killed + counts["lived"]
        numbers = f"{killed:8}{tried:8}{counts['equivalent']:12}{counts['endless']:9}"
        print(f"{module:44}{numbers}   {clopper_pearson(killed, tried)}")
    killed = totals["killed"] + totals["endless"]
    tried = killed + totals["lived"]
    print(f"{'all':44}{killed:8}{tried:8}{totals['equivalent']:12}{totals['endless']:9}")
    print(f"\nscore {clopper_pearson(killed, tried)}, 95 % Clopper-Pearson, of {tried} mutants that are not equivalent")
    if len(outcomes) < asked:
        print(f"{asked - len(outcomes)} of {asked} have not been tried: run it again")
    for mutant, outcome in outcomes.items():
        if outcome == "lived":
            print(f"\nlives: {mutant.module} {mutant.scope}\n    {mutant.before}\n    {mutant.after}")


if __name__ == "__main__":
    main()
