"""The console script, and `python -m serq`."""

import gc
import sys

_NEW_OBJECTS = 200_000


def main() -> None:
    """Run the command line; Ctrl-C is answered from the first moment, while the rest is still being imported.

    Python looks for cycles each time 700 objects more are there, and among all of them at the end. What is imported
    stays: to look there takes a sixth of the time of a short command.
    """
    gc.set_threshold(_NEW_OBJECTS)
    try:
        from serq.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("serq: interrupted\n")
        sys.exit(130)
    finally:
        gc.freeze()


if __name__ == "__main__":
    main()
