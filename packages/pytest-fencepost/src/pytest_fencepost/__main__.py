"""One process under test: `python -m pytest_fencepost FILE FUNCTION PARAMETERS`.

FUNCTION may be a method, as `Class.method`. PARAMETERS is a JSON object.
"""

import importlib.util
import json
import os
import sys
from functools import reduce

from .world import NotAcquired, World


def load(path, name):
    """The test function called `name` in the file at `path`; a method is bound to a new object."""
    sys.path.insert(0, os.path.dirname(path))
    module_name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(module_name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    *classes, function = name.split(".")
    owner = reduce(getattr, classes, module)
    return getattr(owner() if classes else owner, function)


def main():
    path, name, parameters = sys.argv[1:]
    test = load(path, name)
    world = World()
    for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
        try:
            test(world=world, **json.loads(parameters))
        except NotAcquired:
            pass


main()
