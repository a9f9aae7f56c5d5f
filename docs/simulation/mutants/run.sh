#!/usr/bin/env bash
# Applies each patch beside this script, or those that are named, to a copy of the tracked files, and shows
# whether the simulation finds it within five minutes, building included. Run anywhere:
#
#     docs/simulation/mutants/run.sh [NAME...]      # such as 06-hold-not-honoured, or 06
#
# Prints a line for each: name, found or NOT FOUND, seed and days, seconds, and the judge's complaint.
# Exit code: 0 if all were found, 1 if some were not, 2 if a patch does not apply or build.
set -euo pipefail

limit=300 # seconds for each patch
here=$(cd "$(dirname "$0")" && pwd)
root=$(git -C "$here" rev-parse --show-toplevel)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export CGO_ENABLED=0

# simulate PATCH looks with one seed after the other, in short histories first. It prints the patch's line.
simulate() {
    local name started seed=0 days left code why
    name=$(basename "$1" .patch)
    started=$SECONDS
    rm -rf "$dir/src" && mkdir "$dir/src"
    git -C "$root" ls-files -z | tar -C "$root" --null -T - -cf - | tar -C "$dir/src" -xf -
    cd "$dir/src"
    if ! git apply "$1" || ! go test -p 1 -trimpath -c -o "$dir/simulation.test" ./worker/simulation; then
        echo "$name: ERROR: it does not apply or build"
        return 2
    fi
    while left=$((limit - SECONDS + started)) && ((left > 0)); do
        seed=$((seed + 1)) days=15
        if ((seed > 4)); then days=60; fi
        code=0
        timeout "$left" "$dir/simulation.test" -test.run TestYear -test.timeout "${limit}s" \
            "-seed=$seed" "-days=$days" -shrink=0 >"$dir/log" 2>&1 || code=$?
        case $code in
        0) ;;
        124) break ;;
        *)
            if ! why=$(complaint); then
                echo "$name: ERROR: the test ends with $code and without a complaint"
                tail -n 20 "$dir/log"
                return 2
            fi
            echo "$name: found: seed $seed, $days days: $((SECONDS - started)) s: $why"
            return 0
            ;;
        esac
    done
    echo "$name: NOT FOUND: $((seed - 1)) seeds whole: $((SECONDS - started)) s"
    return 1
}

# complaint is what the first judge has said, or how the program ended; it fails if there is neither.
complaint() {
    (grep -m 1 -o 'seed [0-9]*: day .*' "$dir/log" || grep -m 1 -E '^(panic|fatal error):' "$dir/log") |
        sed 's/^seed [0-9]*: //' | cut -c 1-200
}

worst=0
if (($# == 0)); then set -- "$here"/*.patch; fi
for arg in "$@"; do
    found=0
    for patch in "$here/$(basename "$arg" .patch)"*.patch; do
        code=0
        simulate "$patch" || code=$?
        if ((code > worst)); then worst=$code; fi
        found=1
    done
    if ((found == 0)); then
        echo "$arg: ERROR: there is no such patch"
        worst=2
    fi
done
exit "$worst"
