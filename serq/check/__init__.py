"""AST to linked program: names, scopes, constants and every static check."""
