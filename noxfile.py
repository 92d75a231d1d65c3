"""Sessions for developers: `nox -s tests`, `nox -s lint`."""

import nox


@nox.session
def tests(session: nox.Session) -> None:
    """The whole suite."""
    session.install("-e", ".[dev]")
    session.run("pytest", "-q", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Style, types and the direction of imports."""
    session.install("-e", ".[dev]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("lint-imports")
