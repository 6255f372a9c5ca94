#!/usr/bin/env bash
# The runner that cargo uses for tests in .ci/run. It skips the simulations, which run in parallel
# to the other tests.
case ${1##*/} in
  simulation-*) echo "$1: in parallel" ;;
  *) exec "$@" ;;
esac
