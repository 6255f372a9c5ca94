#!/bin/sh
# Shows the violation. Exit status: 1 shown, 0 not shown, 2 could not run.
cd "$(dirname "$0")" || exit 2
if ! command -v python3 >/dev/null; then
    echo "cannot run: python3 is not installed" >&2
    exit 2
fi
exec python3 show.py "$@"
