#!/bin/sh
# Makes a virtual environment for each peer, with exactly the packages of its list:
#
#   sh benchmarks/peers/environments.sh ../peers
#
# Their requirements contradict each other and ours. PYTHON names the interpreter (python3).
set -eu

folder=${1:?"usage: environments.sh FOLDER"}
lists=$(dirname "$0")

for peer in token gliner spanmarker; do
    "${PYTHON:-python3}" -m venv "$folder/$peer"
    "$folder/$peer/bin/pip" install --quiet --no-deps -r "$lists/$peer.txt"
    "$folder/$peer/bin/pip" check
done
