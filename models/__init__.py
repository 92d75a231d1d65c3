"""The programs that ship with serQ: data, found by name."""

if __name__ != "serq.models":
    raise ImportError("this package is imported as serq.models: import serq.models")
