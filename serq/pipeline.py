"""The whole road in one silent file: text to tree to AST to program to back ends. It returns, never prints."""
