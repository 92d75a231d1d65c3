"""The text of the earlier form as words, and the output that is written in their place."""

from dataclasses import dataclass, field

from serq.base.source import SourceFile, Span
from serq.syntax.automaton import token_pattern

BLANK = ("SPACE", "COMMENT")


@dataclass(frozen=True, slots=True)
class Word:
    """A piece of the text: its kind (as the scanner of the language calls it), its text, and where it stands."""

    kind: str
    text: str
    span: Span
    start: int

    @property
    def end(self) -> int:
        """The place behind its last character."""
        return self.start + len(self.text)


def words_of(source: SourceFile) -> list[Word]:
    """Every piece of the text, blanks and comments included: put together they are the text."""
    out = []
    line, begin = 1, 0
    for match in token_pattern().finditer(source.text):
        text, start = match.group(), match.start()
        lines = text.count("\n")
        end_line = line + lines
        end_begin = start + text.rindex("\n") + 1 if lines else begin
        span = Span(line, start - begin + 1, end_line, match.end() - end_begin + 1)
        out.append(Word(match.lastgroup or "", text, span, start))
        line, begin = end_line, end_begin
    return out


@dataclass
class Cursor:
    """A place among the words, blanks passed over; what is passed is copied to `out`, whose pieces may change later."""

    words: list[Word]
    at: int = 0
    out: list[str] = field(default_factory=list)
    last: str = ""
    """The word that was taken last."""

    def peek(self, ahead: int = 0) -> Word | None:
        """The word that comes next, or one behind it; None at the end."""
        found = -1
        for word in self.words[self.at :]:
            found += word.kind not in BLANK
            if found == ahead:
                return word
        return None

    def take(self) -> Word | None:
        """The next word, which is not copied; the blanks in front of it are."""
        while self.at < len(self.words):
            word = self.words[self.at]
            self.at += 1
            if word.kind not in BLANK:
                self.last = word.text
                return word
            self.out.append(word.text)
        return None

    def until(self, *stops: str) -> list[Word]:
        """The words up to one of these outside of brackets, or up to a brace. They are not copied."""
        out: list[Word] = []
        depth = 0
        while (word := self.peek()) is not None:
            if (depth == 0 and word.text in stops) or word.text in "{}":
                return out
            depth += (word.text in "([") - (word.text in ")]")
            self.at = self.words.index(word, self.at) + 1
            out.append(word)
        return out

    def put(self, text: str) -> int:
        """Write a piece; its number, by which it can be written anew."""
        self.out.append(text)
        return len(self.out) - 1


def joined(words: list[Word]) -> str:
    """The words as text, with the blanks between them that keep them apart."""
    out = ""
    for before, word in zip([None, *words], words, strict=False):
        out += " " if before is not None and before.end < word.start else ""
        out += word.text
    return out


def stripped(words: list[Word]) -> list[Word]:
    """The words without a pair of parentheses that holds all of them."""
    if len(words) < 2 or words[0].text != "(" or words[-1].text != ")":
        return words
    depth = 0
    for word in words[:-1]:
        depth += (word.text == "(") - (word.text == ")")
        if depth == 0:
            return words
    return stripped(words[1:-1])
