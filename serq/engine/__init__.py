"""The compiled simulator: it is the reference interpreter, only quicker.

`lower` turns a linked program into a text of restricted Python (`serq.codegen`), of which the parts that are the same
for all programs are modules here (`state`, `heap`, `arithmetic`, `laws`, `observing`, `serving`, ...),
and `run` drives the compiled text. What it gives equals the reference's events, sums and samples bit for bit.
"""
