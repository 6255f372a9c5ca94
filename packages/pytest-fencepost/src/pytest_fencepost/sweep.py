"""Runs `fencepost sweep` for one test and turns its result into a verdict."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field, fields, replace

EXPECTATIONS = ("safe", "violated")


class Failed(Exception):
    """The test failed. pytest prints the message."""


@dataclass(frozen=True)
class Settings:
    """The arguments of the mark."""

    faults: str = "pause"
    seeds: str = "0..20"
    expect: str = "safe"
    processes: int = 3
    cycles: int = 6
    ttl: str = "10s"
    deployment: str = "single"
    options: list = field(default_factory=list)

    @classmethod
    def from_mark(cls, args, kwargs):
        """Raises ValueError for an argument that the mark does not take."""
        known = [f.name for f in fields(cls)]
        if args:
            raise ValueError(f"fencepost takes named arguments only: {', '.join(known)}")
        for name in kwargs:
            if name not in known:
                raise ValueError(f"argument '{name}': expected one of {', '.join(known)}")
        chosen = cls(**kwargs)
        if chosen.expect not in EXPECTATIONS:
            raise ValueError(f"expect '{chosen.expect}': expected one of {', '.join(EXPECTATIONS)}")
        if not isinstance(chosen.faults, str):
            chosen = replace(chosen, faults=",".join(chosen.faults))
        return chosen.with_seeds(chosen.seeds)

    def with_seeds(self, seeds):
        """`seeds` is a number of seeds or a range A..B without B."""
        text = f"0..{seeds}" if re.fullmatch(r"\d+", str(seeds)) else str(seeds)
        if not re.fullmatch(r"\d+\.\.\d+", text):
            raise ValueError(f"seeds '{seeds}': expected a number such as 20, or a range 0..20")
        return replace(self, seeds=text)


def run(fencepost, settings, test, directory, reports):
    """Runs every seed under every fault family. Raises Failed if the result is not expected."""
    path, function, parameters = test
    if shutil.which(fencepost) is None:
        raise Failed(f"fencepost '{fencepost}': program not found: pip install fencepost")
    try:
        parameters = json.dumps(parameters)
    except TypeError as error:
        raise Failed(f"parameters: {error}: expected values that JSON can hold") from None
    program = [sys.executable, "-m", "pytest_fencepost", path, function, parameters]
    shutil.rmtree(reports, ignore_errors=True)
    done = call(
        [fencepost, "sweep", "--no-config", "--seeds", settings.seeds, "--fault", settings.faults]
        + ["--program", f"test={shlex.join(program)}", "--cwd", str(directory)]
        + ["--env", "PYTHONDONTWRITEBYTECODE=1", "--env", "PYTHONSAFEPATH=1"]
        + ["--processes", str(settings.processes)]
        + ["--cycles", str(settings.cycles), "--ttl", settings.ttl]
        + ["--deployment", settings.deployment, "--out", str(reports), "--format", "json"]
        + ["--no-shrink", "--quiet"]
        + [str(option) for option in settings.options]
    )
    if done.returncode not in (0, 1, 3):
        raise Failed(done.stderr.strip() or f"fencepost ended with status {done.returncode}")
    cells = json.loads(done.stdout)["cells"]
    verdict(fencepost, settings, cells, reports)


def verdict(fencepost, settings, cells, reports):
    """Compares the counts of a sweep with the results that the mark expects."""
    counts = "; ".join(describe(cell) for cell in cells)
    is_violated = any(cell["violated"] for cell in cells)
    if settings.expect == "violated":
        if not is_violated:
            raise Failed(f"expected a violation, but found none: {counts}")
    elif is_violated:
        raise Failed(f"the lock is not safe: {counts}\n\n{first_violation(fencepost, reports)}")
    elif not any(cell["valid"] for cell in cells):
        raise Failed(f"no run exercised the lock: {counts}\n{reasons(cells)}")


def describe(cell):
    return "{fault}: {violated} violated, {valid} valid, {unknown} unknown".format(**cell)


def reasons(cells):
    """Describes how the test function itself failed, in the first such run of each cell."""
    failures = [cell["failed"] for cell in cells if "failed" in cell]
    return "\n".join("seed {first_seed}: {reason}".format(**failed) for failed in failures)


def first_violation(fencepost, reports):
    """Returns the first screen of the first report, and the path of its page."""
    report = min(reports.glob("*.json"))
    text = call([fencepost, "replay", str(report)]).stdout
    page = report.with_suffix(".html")
    html = call([fencepost, "replay", str(report), "--format", "html"]).stdout
    page.write_text(html, encoding="utf-8")
    return f"{text}\npage    {page}\nreport  {report}"


def call(command):
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
