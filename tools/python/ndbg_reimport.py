"""Which modules a candidate has to import anew, and whether that gives a true picture.

PYTEST_DONT_REWRITE: this is no test code.
"""

import os
import sys
import types
from itertools import islice

from ndbg_swap import Cold


def modules_to_forget(config, roots, files):
    """Names to drop from sys.modules before the patched files are imported. Raises Cold."""
    patched = {os.path.realpath(path) for path in files}
    project, hit = {}, False
    plugins = [one for one in config.pluginmanager.get_plugins() if one is not None]
    plugin_ids = {id(one) for one in plugins if isinstance(one, types.ModuleType)}
    plugin_modules = []
    for name, module in list(sys.modules.items()):
        file = _file_of(module)
        if file is None or roots.locate(file) is None:
            continue
        touched = os.path.realpath(file) in patched
        if id(module) in plugin_ids or os.path.basename(file) == "conftest.py":
            if touched:
                raise Cold("a conftest or plugin module, imported already")
            plugin_modules.append(module)
            continue
        project[name] = module
        hit = hit or touched
    if not hit:
        return []
    # Old and new modules side by side would be neither the old program nor the new one.
    forgotten = {id(module) for module in project.values()}
    for holder in plugin_modules:
        for value in list(vars(holder).values()):
            if _comes_from(value, forgotten, project):
                raise Cold(f"{holder.__name__} holds what it imported when pytest was configured")
    for plugin in plugins:
        if not isinstance(plugin, types.ModuleType) and type(plugin).__module__ in project:
            raise Cold("a registered plugin object belongs to the project")
    return list(project)


def _file_of(module):
    try:
        file = object.__getattribute__(module, "__dict__").get("__file__")
    except Exception:
        return None
    return file if type(file) is str else None


def _comes_from(value, module_ids, names, depth=0):
    if id(value) in module_ids:
        return True
    cls = type(value)
    if issubclass(cls, (type, types.FunctionType)):
        return value.__module__ in names
    if getattr(cls, "__module__", None) in names:
        return True
    if depth < 2 and cls in (list, tuple, set, frozenset):
        return any(_comes_from(x, module_ids, names, depth + 1) for x in islice(value, 200))
    if depth < 2 and cls is dict:
        held = islice(value.values(), 200)
        return any(_comes_from(one, module_ids, names, depth + 1) for one in held)
    return False
