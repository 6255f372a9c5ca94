"""The pytest plugin: the mark `fencepost`, the fixture `world` and two options."""

import inspect

import pytest

from .clock import served
from .sweep import Failed, Settings, run


def pytest_addoption(parser):
    group = parser.getgroup("fencepost")
    group.addoption("--fencepost", metavar="PATH", default="fencepost", help="fencepost program")
    group.addoption(
        "--fencepost-seeds", metavar="N|A..B", help="seeds, instead of those of each mark"
    )


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "fencepost(faults, seeds, expect, ...): run the test in several processes of a simulated "
        "world, under injected faults",
    )


@pytest.fixture
def world():
    """The simulated world. It exists only in the processes that fencepost starts."""
    return None


@pytest.fixture
def redis_clock(request):
    """A fake Redis whose clock stands still until the test moves it."""
    try:
        with served(request.config.getoption("--fencepost")) as clock:
            yield clock
    except OSError as error:
        pytest.fail(f"fencepost serve: {error}", pytrace=False)
    except RuntimeError as error:
        pytest.fail(str(error), pytrace=False)


def pytest_collection_modifyitems(items):
    for item in items:
        mark = item.get_closest_marker("fencepost")
        is_marked = mark is not None
        if is_marked:
            item.fencepost_settings = settings(item, mark)
        elif "world" in getattr(item, "fixturenames", ()) and uses_our_world(item):
            raise pytest.UsageError(f"{item.nodeid}: 'world' needs the mark pytest.mark.fencepost")


def uses_our_world(item):
    """Returns whether this test's fixture `world` is the plugin's, and not one of the user."""
    definitions = item._fixtureinfo.name2fixturedefs.get("world", ())
    return bool(definitions) and definitions[-1].func.__module__ == __name__


def settings(item, mark):
    """Returns the settings of a mark. They are checked before any test runs."""
    try:
        checked = Settings.from_mark(mark.args, mark.kwargs)
    except ValueError as error:
        raise pytest.UsageError(f"{item.nodeid}: {error}") from None
    accepted = {"self", "world", *parameters(item)}
    for name in inspect.signature(item.function).parameters:
        if name not in accepted:
            raise pytest.UsageError(
                f"{item.nodeid}: fixture '{name}': a test with the mark fencepost takes only "
                "'world' and the names of pytest.mark.parametrize"
            )
    return checked


def parameters(item):
    callspec = getattr(item, "callspec", None)
    return {} if callspec is None else callspec.params


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    checked = getattr(pyfuncitem, "fencepost_settings", None)
    if checked is None:
        return None
    option = pyfuncitem.config.getoption
    seeds = option("--fencepost-seeds")
    if seeds is not None:
        checked = checked.with_seeds(seeds)
    function = pyfuncitem.function.__qualname__
    try:
        run(
            option("--fencepost"),
            checked,
            test=(str(pyfuncitem.path), function, parameters(pyfuncitem)),
            directory=pyfuncitem.config.invocation_params.dir,
            reports=reports_folder(pyfuncitem),
        )
    except Failed as failed:
        raise pytest.fail.Exception(str(failed), pytrace=False) from None
    return True


def reports_folder(item):
    """Returns a folder for the reports of this test, below pytest's cache."""
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in item.nodeid)
    return item.config.cache.mkdir("fencepost") / name
