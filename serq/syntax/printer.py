"""AST to text: one layout for every program, with its comments.

One statement stands on a line, two spaces deeper in each block. What is short and holds no comment keeps to one line:
the options of a pool, the run, a branch with single statements. Blank lines of the source are kept, one at a time.

Comments: one that ends a line stays at the end of what it follows, or of the header whose `{` it follows; one on its
own line stays in front of what follows; one inside of a construct that is printed on one line moves in front of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from serq.base.source import Span
from serq.syntax import ast, wording

WIDTH = 100
"""What is put on one line although it could stand on several ends before this column."""

RAGGED = 24
"""Comments at the ends of lines are aligned when the lines differ by at most so many columns."""

Entry = ast.Item | ast.Statement | wording.Option


def format_module(module: ast.Module) -> str:
    """The canonical text of a program: `parse` gives an equal module back, and its text is the same again."""
    printer = _Printer(list(module.comments))
    printer.entries(module.items)
    printer.comments_before(None)
    return "".join(f"{line}\n" for line in printer.finished())


@dataclass
class _Printer:
    comments: list[ast.Comment]
    lines: list[str] = field(default_factory=list)
    tails: dict[int, str] = field(default_factory=dict)
    """Comments at the end of a line, by its index."""
    depth: int = 0
    taken: int = 0
    """The comments that are printed already."""
    last_line: int = 0
    """The line of the source on which ended what was printed last; 0 at the start of a block: no blank line there."""
    tail_free: bool = False
    """Whether a comment may be added to the last line."""

    # -- lines and comments

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)
        self.tail_free = True

    def tail(self, comment: ast.Comment) -> None:
        self.tails[len(self.lines) - 1] = comment.text

    def finished(self) -> list[str]:
        """The lines with the comments at their ends; those of neighbouring lines begin in one column."""
        out, run = list(self.lines), list[int]()
        for i in [*self.tails, -1]:
            if run and (i != run[-1] + 1 or not _alike(self.lines[i], self.lines[run[0]])):
                lengths = [len(self.lines[k]) for k in run]
                aligned = max(lengths) if max(lengths) - min(lengths) <= RAGGED else 0
                for k in run:
                    out[k] = f"{out[k].ljust(aligned)}  {self.tails[k]}"
                run = []
            run.append(i)
        return out

    def gap(self, line: int) -> None:
        """A blank line where the source has one before `line`."""
        if 0 < self.last_line < line - 1:
            self.lines.append("")

    def pending(self, before: tuple[int, int] | None) -> list[ast.Comment]:
        """The comments not printed yet that stand before a position."""
        end = self.taken
        while end < len(self.comments) and (before is None or self.comments[end].span[:2] < before):
            end += 1
        return self.comments[self.taken : end]

    def comments_before(self, position: tuple[int, int] | None) -> None:
        """Print the comments before a position, or all."""
        for comment in self.pending(position):
            if not comment.alone and self.tail_free and comment.span.line == self.last_line:
                self.tail(comment)
            else:
                self.gap(comment.span.line)
                self.line(comment.text)
            self.tail_free = False
            self.last_line = comment.span.line
            self.taken += 1

    def hoist(self, before: tuple[int, int]) -> None:
        """Print the comments before a position as lines of their own."""
        for comment in self.pending(before):
            self.line(comment.text)
            self.taken += 1

    # -- entries

    def entries(self, entries: Sequence[Entry]) -> None:
        """Items, statements or options, each on its line or lines."""
        for entry in entries:
            self.comments_before(entry.span[:2])
            self.gap(entry.span.line)
            self.entry(entry)
            self.last_line = entry.span.end_line

    def entry(self, entry: Entry) -> None:
        match entry:
            case ast.Branch():
                self.branch(entry)
            case ast.Hold():
                self.hold(entry)
            case ast.Loop() | ast.Session() | ast.WorkloadBlock():
                self.hoist(entry.body.span[:2])
                self.single_block(entry)
            case ast.Workload(items):
                self.options(entry, items)
            case ast.Pool(_, _, options) | ast.RunBlock(options) | ast.Stage(kind="step", options=options):
                self.options(entry, options)
            case _:
                self.hoist(_end(entry.span))
                self.line(_text(entry))

    def single_block(self, entry: ast.Loop | ast.Session | ast.WorkloadBlock) -> None:
        header = _text(entry)
        short = _short(entry.body) if isinstance(entry, ast.WorkloadBlock) else None
        if short and self.fits(entry, f"{header} {short}"):
            self.line(f"{header} {short}")
        else:
            self.braces(header, entry.body.span, entry.body.statements)
            self.line("}")

    def branch(self, branch: ast.Branch) -> None:
        self.hoist(branch.then.span[:2])
        header, blocks = wording.statement(branch), [branch.then, branch.otherwise]
        texts = [_short(block) for block in blocks if block]
        whole = " else ".join(text or "" for text in texts)
        if None not in texts and self.fits(branch, f"{header} {whole}"):
            self.line(f"{header} {whole}")
            return
        self.braces(header, branch.then.span, branch.then.statements)
        if branch.otherwise:
            self.braces("} else", branch.otherwise.span, branch.otherwise.statements)
        self.line("}")

    def hold(self, hold: ast.Hold) -> None:
        self.hoist(hold.body.span[:2])
        header = wording.statement(hold)
        if 2 * self.depth + len(header) >= WIDTH:
            *above, header = wording.hold_lines(hold, WIDTH - 2 * self.depth)
            for line in above:
                self.line(line)
        self.braces(header, hold.body.span, hold.body.statements)
        self.comments_inside(hold.span)
        self.line("}" if hold.cache is None else f"}} cache ({wording.expression(hold.cache)});")

    def options(self, owner: ast.Pool | ast.Stage | ast.Workload | ast.RunBlock, options: Sequence[Entry]) -> None:
        header = wording.item(owner)
        text = " ".join([header, "{", *(_text(option) for option in options), "}"])
        if self.fits(owner, text) and not any(isinstance(option, ast.WorkloadBlock) for option in options):
            self.line(text)
            return
        self.braces(header, owner.span, options)
        self.line("}")

    def fits(self, entry: Entry, text: str) -> bool:
        """Whether an entry may be printed as one line: it is short and no comment stands inside."""
        return 2 * self.depth + len(text) < WIDTH and not self.pending(_end(entry.span))

    def braces(self, header: str, span: Span, entries: Sequence[Entry]) -> None:
        """A header, its `{`, the comment behind that, and what stands in the braces; the `}` is left to the caller."""
        self.line(header + " {")
        first = entries[0].span[:2] if entries else _end(span)
        for comment in self.pending(first)[:1]:
            if not comment.alone and comment.span.line == span.line:
                self.tail(comment)
                self.taken += 1
        self.tail_free = False
        self.last_line = 0
        self.depth += 1
        self.entries(entries)
        self.depth -= 1
        self.comments_inside(span)

    def comments_inside(self, span: Span) -> None:
        """The comments between the last entry of a block and its end."""
        self.depth += 1
        self.comments_before(_end(span))
        self.depth -= 1


def _alike(line: str, other: str) -> bool:
    """Whether two lines stand side by side in one block, neither of them its beginning or end."""
    indented = len(line) - len(line.lstrip()) == len(other) - len(other.lstrip())
    return indented and not any(text.lstrip().startswith("}") or text.endswith("{") for text in (line, other))


def _end(span: Span) -> tuple[int, int]:
    return span.end_line, span.end_column


def _text(entry: Entry) -> str:
    if isinstance(entry, ast.Item):
        return wording.item(entry)
    return wording.statement(entry) if isinstance(entry, ast.Statement) else wording.option(entry)


def _short(block: ast.Block) -> str | None:
    """A block with at most one statement, itself without a block, as one line."""
    match block.statements:
        case ():
            return "{ }"
        case (ast.Branch() | ast.Loop() | ast.Hold(),):
            return None
        case (only,):
            return f"{{ {wording.statement(only)} }}"
        case _:
            return None
