#!/usr/bin/env bash
# Draws a sample of the project's prose for a reader who marks each sentence that needs rewriting:
# 60 comments, 40 help texts and error messages, 10 documentation pages and 10 reports. The same
# seed and commit give the same sample.
#   ci/prose-sample.sh SEED [FENCEPOST]
# FENCEPOST is the program to run, by default target/release/fencepost.
set -euo pipefail
cd "$(dirname "$0")/.."
seed=${1:?usage: ci/prose-sample.sh SEED [FENCEPOST]}
program=${2:-target/release/fencepost}
[ -x "$program" ] || { echo "$program: not found: build it, or name another program" >&2; exit 2; }
exec python3 - "$seed" "$program" <<'EOF'
import random
import re
import subprocess
import sys

seed, program = sys.argv[1:]
LINES_OF_A_PAGE = 40


def output(*command):
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return ran.stdout


def files(*patterns):
    return output("git", "ls-files", *patterns).split()


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def comments():
    """Every block of comment lines in Rust, with its place."""
    found = []
    for path in files("*.rs"):
        block = []
        for number, line in enumerate(read(path).split("\n") + [""], 1):
            comment = re.match(r"\s*//[/!]?(?: (.*))?$", line)
            if comment:
                block.append(comment.group(1) or "")
            elif block:
                found.append((f"{path}:{number - len(block)}", "\n".join(block)))
                block = []
    return found


def commands():
    """The subcommands, from the overview of the program."""
    names = re.findall(r"^  ([a-z]+)  ", output(program, "--help"), re.M)
    return sorted(set(names))


def help_texts():
    """Each option, argument and command with its description."""
    found = []
    for command in [["--help-all"]] + [[name, "--help"] for name in commands()]:
        place = " ".join(["fencepost", *command])
        # An entry begins with a name that is indented by two to six columns, and ends before the
        # next entry.
        for entry in re.split(r"\n(?= {2,6}[-<[a-zA-Z])", output(program, *command)):
            if re.match(r" {2,6}(-|<|\[|[a-z]+  )", entry):
                found.append((place, entry.split("\n\n")[0].rstrip()))
    # An option that several commands share counts once.
    return list({text: (place, text) for place, text in found}.values())


def errors():
    """The messages of error types and of usage errors."""
    message = re.compile(
        r'(?:#\[error\(|Failure::\w+\((?:format!\()?|wrong\((?:format!\()?)\s*"((?:[^"\\]|\\.)*)"',
        re.S,
    )
    found = []
    for path in files("*/src/*.rs"):
        text = read(path).split("#[cfg(test)]\nmod ")[0]
        for match in message.finditer(text):
            said = re.sub(r"\\\n\s*", "", match.group(1))
            if len(re.sub(r"{[^}]*}", "", said).split()) >= 3:
                found.append((f"{path}:{text.count(chr(10), 0, match.start()) + 1}", said))
    return found


def page(draw, path):
    """Some consecutive lines of a page."""
    lines = read(path).split("\n")
    start = draw.randrange(max(1, len(lines) - LINES_OF_A_PAGE + 1))
    return f"{path}:{start + 1}", "\n".join(lines[start : start + LINES_OF_A_PAGE])


def names(what):
    listed = output(program, "list", what).splitlines()
    return [line.split()[0].rstrip(",") for line in listed if line]


def report(draw, clients, faults):
    """A run of a drawn lock, fault family and seed."""
    client, fault = draw.choice(clients), draw.choice(faults)
    command = ["--client", client, "--fault", fault, "--seed", str(draw.randrange(1000))]
    return " ".join(["fencepost", *command]), output(program, *command)


def show(title, items):
    print(f"# {title}\n")
    for number, (place, text) in enumerate(items, 1):
        print(f"## {number}. {place}\n\n{text}\n")


def drawn(what, every, count):
    """Each group has its own stream, so that one does not shift the others."""
    return random.Random(f"{seed} {what}").sample(every, min(count, len(every)))


show("Comments", drawn("comments", comments(), 60))
show("Help texts", drawn("help", help_texts(), 20))
show("Errors", drawn("errors", errors(), 20))
draw = random.Random(f"{seed} pages")
pages = files("*.md", ":!CHANGELOG.md")
show("Pages", [page(draw, path) for path in draw.sample(pages, 10)])
draw = random.Random(f"{seed} reports")
clients, faults = names("clients"), names("faults")
show("Reports", [report(draw, clients, faults) for _ in range(10)])
EOF
