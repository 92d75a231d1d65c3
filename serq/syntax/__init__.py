"""Text to parse tree to AST, and back to text. The only place that knows lark."""
