"""Compilation of restricted Python: one typed text that LLVM, CPython and C run to the same bits.

The language is defined in `docs/reference/restricted-python.md`. In short: annotated functions over `i64`, `u64`,
`f64` and `bool`, records (classes with annotated fields) and arrays that the caller owns; the arithmetic of CPython,
with `u64` wrapping only where the text masks. `compile_module(text)` checks the text and gives a `Compiled` with
`call(name, *args)` and `record(name, **fields)`; machine code is cached on disk.
"""
