#!/usr/bin/env bash
# Validates the manifests in recipes/kubernetes, and runs the commands of their containers on this
# machine: each slice of a small sweep, one of them twice, and the merge. The sum must have the same
# bytes as a sweep without slices. No cluster and no image are involved.
#   ci/kubernetes.sh FENCEPOST   a fencepost program
# Needs Python 3.9 with venv, and jq.
set -euo pipefail
cd "$(dirname "$0")/../recipes/kubernetes"
program=$(realpath "${1:?a fencepost program}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/python"
PATH=$scratch/python/bin:$PATH
pip install --quiet --disable-pip-version-check kubernetes-validate setuptools
kubernetes-validate --strict job.yaml merge.yaml

mkdir "$scratch/bin" "$scratch/sweep"
ln -s "$program" "$scratch/bin/fencepost"
PATH=$scratch/bin:$PATH
# Prints a container's command, with a folder of this machine as its volume and a small sweep.
command_of() {
  python3 -c 'import sys, yaml
print(yaml.safe_load(open(sys.argv[1]))["spec"]["template"]["spec"]["containers"][0]["args"][0])' "$1" |
    sed -e "s|/sweep/|$scratch/sweep/|g" -e 's|0\.\.1000000|0..80|' \
      -e 's|--client [^ ]*|--client single-node|' -e 's|--fault [^ ]*|--fault pause|'
}
sweep=$(command_of job.yaml)
[[ $sweep == *"0..80 --client single-node --fault pause"* ]]
for index in 0 1 2 3 4 5 6 7 3; do
  JOB_COMPLETIONS=8 JOB_COMPLETION_INDEX=$index sh -c "$sweep" 2>/dev/null
done
sh -c "$(command_of merge.yaml)"

fencepost sweep --seeds 0..80 --client single-node --fault pause --quiet --format json \
  >"$scratch/alone.json" || [ $? -eq 1 ]
# The measurements and the slices of the two files differ, so they are not compared.
same='del(.. | .measured?) | del(.shard, .checksum)'
cmp <(jq --sort-keys "$same" "$scratch/sweep/sum.json") <(jq --sort-keys "$same" "$scratch/alone.json")
echo "the slices of Kubernetes are one machine's sweep"
