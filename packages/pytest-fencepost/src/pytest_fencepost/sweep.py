"""Runs `fencepost sweep` for one test and turns its result into a verdict."""

import ctypes
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field, fields, replace

EXPECTATIONS = ("safe", "violated")

# Options of `fencepost sweep` that the mark sets itself, with the arguments that decide them.
DECIDED_BY = {
    "--seeds": "seeds",
    "--fault": "faults",
    "--expect": "expect",
    "--findings": "expect",
    "--baseline": "expect",
    "--processes": "processes",
    "--cycles": "cycles",
    "--ttl": "ttl",
    "--deployment": "deployment",
}
# Further options that replace the test, its output or its seeds.
UNUSABLE = (
    "--program", "--lock", "--client", "--coordinator", "--server", "--cwd", "--config",
    "--profile", "--no-config", "--format", "--out", "--shard", "--resume", "--checkpoint",
    "--quiet", "--no-shrink",
)


class Failed(Exception):
    """The test failed. pytest prints the message."""


@dataclass(frozen=True)
class Settings:
    """The arguments of the mark."""

    faults: str = "pause"
    seeds: str = "0..20"
    expect: str = "safe"
    allow: list = field(default_factory=list)
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
        if isinstance(chosen.allow, str):
            chosen = replace(chosen, allow=[kind.strip() for kind in chosen.allow.split(",")])
        check_options(chosen.options)
        return chosen.with_seeds(chosen.seeds)

    def with_seeds(self, seeds):
        """`seeds` is a number of seeds or a range A..B without B."""
        text = f"0..{seeds}" if re.fullmatch(r"\d+", str(seeds)) else str(seeds)
        if not re.fullmatch(r"\d+\.\.\d+", text):
            raise ValueError(f"seeds '{seeds}': expected a number such as 20, or a range 0..20")
        first, end = map(int, text.split(".."))
        if first >= end:
            raise ValueError(f"seeds '{seeds}': expected at least one seed")
        return replace(self, seeds=text)


def check_options(options):
    """Raises ValueError for an option that would have no effect, or would replace the test."""
    if isinstance(options, str):
        raise ValueError(f"options '{options}': expected a list, such as ['--hold', '10ms..1s']")
    for option in options:
        name = str(option).split("=", 1)[0]
        if name in DECIDED_BY:
            raise ValueError(
                f"options '{name}': expected the argument '{DECIDED_BY[name]}' of the mark instead"
            )
        if name in UNUSABLE:
            raise ValueError(
                f"options '{name}': the mark sets it: expected another option of 'fencepost sweep', "
                "such as --hold or --set"
            )


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
    found = {kind for cell in cells for kind in cell["violations_by_kind"]}
    unexpected = sorted(found.difference(settings.allow))
    is_violated = bool(unexpected)
    if settings.expect == "violated":
        if not is_violated:
            raise Failed(f"expected a violation, but found none: {counts}")
    elif is_violated:
        kinds = f" ({', '.join(unexpected)})" if settings.allow else ""
        first = first_violation(fencepost, reports, unexpected)
        raise Failed(f"the lock is not safe{kinds}: {counts}\n\n{first}")
    elif not any(cell["valid"] or cell["violated"] for cell in cells):
        raise Failed(f"no run exercised the lock: {counts}\n{reasons(cells)}")


def describe(cell):
    return "{fault}: {violated} violated, {valid} valid, {unknown} unknown".format(**cell)


def reasons(cells):
    """Says why the first unknown run of each cell did not exercise the lock."""
    lines = []
    for cell in cells:
        if "failed" in cell:
            lines.append("seed {first_seed}: {reason}".format(**cell["failed"]))
        elif cell.get("first_unknown"):
            lines.append("seed {seed}: {reason}".format(**cell["first_unknown"]))
    return "\n".join(lines)


def first_violation(fencepost, reports, kinds):
    """Returns the first screen of the first report with one of these kinds, and its page's path."""
    report = min(path for path in reports.glob("*.json") if shows(path, kinds))
    text = call([fencepost, "replay", str(report)]).stdout
    page = report.with_suffix(".html")
    html = call([fencepost, "replay", str(report), "--format", "html"]).stdout
    page.write_text(html, encoding="utf-8")
    return f"{text}\npage    {page}\nreport  {report}"


def shows(path, kinds):
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
    return any(one["kind"] in kinds for run in runs for one in run["violations"])


def call(command):
    """Runs a command that ends with this process, even if the process is killed."""
    start = end_with_parent if sys.platform == "linux" else None
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", check=False, preexec_fn=start
    )


PR_SET_PDEATHSIG = 1  # from linux/prctl.h
PRCTL = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


def end_with_parent():
    PRCTL(PR_SET_PDEATHSIG, signal.SIGTERM)
