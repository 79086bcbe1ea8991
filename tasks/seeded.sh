#!/bin/sh
# Reproduces the seeded benchmark of docs/benchmarks.md.
#
#     tasks/seeded.sh FOLDER [PROGRAM]
#
# FOLDER gets everything: a virtual environment, the packages' source distributions, the seeded
# bugs and the results. PROGRAM is the ndbg-agent to use, by default the one on PATH. What is there
# already is not made again, so a run that was stopped goes on.
set -eu

folder=${1:?usage: seeded.sh FOLDER [PROGRAM]}
program=${2:-ndbg-agent}
count=${COUNT:-10}
seed=${SEED:-1}
limit=${LIMIT:-60}

# Pure Python, with their tests in the source distribution.
packages="
cachetools==8.0.2
humanize==4.17.0
inflection==0.5.1
isodate==0.7.2
tabulate==0.10.0
toolz==1.2.0
xmltodict==1.0.4
boltons==26.2.0
"

mkdir -p "$folder/sdist" "$folder/src" "$folder/results"
cd "$folder"
if [ ! -x venv/bin/pytest ]; then
    python3 -m venv venv
    # pytest, and what the tests of these packages import. The packages themselves are not
    # installed: their tests run on the checkout.
    venv/bin/pip install -q pytest==9.2.0 freezegun==1.5.5
fi

for package in $packages; do
    name=${package%%==*}
    version=${package##*==}
    if [ ! -d "src/$name" ]; then
        [ -f "sdist/$name-$version.tar.gz" ] ||
            venv/bin/pip download -q --no-deps --no-binary :all: -d sdist "$package"
        tar -xzf "sdist/$name-$version.tar.gz" -C src
        mv "src/$name-$version" "src/$name"
    fi
    if [ ! -f "out/$name/seed.toml" ]; then
        rm -rf "out/$name"
        nice "$program" bench seed --repo "src/$name" --count "$count" --seed "$seed" \
            --out "out/$name" --python venv
    fi
done

for package in $packages; do
    name=${package%%==*}
    nice "$program" bench tasks --tasks "out/$name" --max-time "$limit" --python venv \
        --runs "runs/$name" --json "results/$name.jsonl"
done
