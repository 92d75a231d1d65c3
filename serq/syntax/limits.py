"""How much a program may ask of its reader. Beyond each limit stands a clear error, never a hang or a crash."""

MAX_TEXT = 1_000_000
"""The largest program in bytes. It is read in seconds; what a person writes has a few thousand."""

MAX_DEPTH = 200
"""How deep brackets may nest, and how high the tree of an item may be: a chain of operators counts as nesting."""

MAX_LITERAL = 400
"""Characters in a number, and its largest exponent of ten: more would leave what a double can hold."""

MAX_FAULTS = 20
"""After so many faults the rest of a text is not looked at."""
