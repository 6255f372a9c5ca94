#!/usr/bin/env bash
# Runs a test program, as Cargo's runner, unless .ci/run runs it beside the others. So it is Cargo
# that knows which tests there are.
case ${1##*/} in
  simulation-*) echo "$1: beside the others" ;;
  *) exec "$@" ;;
esac
