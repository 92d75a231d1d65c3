"""Known formulas, each with its preconditions and its source, and what they fit."""

if __name__ != "serq.closedforms":
    raise ImportError("this package is imported as serq.closedforms: import serq.closedforms")
