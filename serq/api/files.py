"""Where a program is found: by its path, or by the name under which it ships."""

import os
from pathlib import Path

from serq.api.errors import NoSuchModel
from serq.base.errors import InputError


def find_file(file: str) -> Path:
    """The path of FILE: itself when it exists or looks like a path, else the shipped model of that name.

    InputError for a name that is neither.
    """
    path = Path(file)
    if path.exists() or path.suffix:
        return path
    from serq.models import find, shipped

    model = find(file)
    if model is not None:
        return model.path
    if os.sep in file:
        return path
    raise InputError.of(NoSuchModel.like(file, [m.name for m in shipped()]))
