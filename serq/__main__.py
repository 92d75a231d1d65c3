"""The console script, and `python -m serq`."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C is answered from the first moment, while the rest is still being imported."""
    try:
        from serq.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("serq: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
