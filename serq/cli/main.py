"""The console script."""

import click


@click.group()
def main() -> None:
    """SerQ."""
