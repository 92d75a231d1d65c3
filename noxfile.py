"""Sessions for developers: `nox -s tests`, `nox -s lint`, `nox -s docs`."""

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


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation site, in `build/docs`; a warning is an error."""
    session.install("-e", ".[docs]")
    session.run("sphinx-build", "-n", "-W", "-b", "html", "docs", "build/docs")
