"""`python -m serq`."""

from serq.cli.main import main

if __name__ == "__main__":
    main()
