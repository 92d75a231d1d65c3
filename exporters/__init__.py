"""The program (or its explored chain) written for other tools."""

if __name__ != "serq.exporters":
    raise ImportError("this package is imported as serq.exporters: import serq.exporters")
