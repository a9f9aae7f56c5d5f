#!/usr/bin/env bash
# Measures Belfry's schedule and its peers side by side on this machine, and writes the table to
# RESULTS.md. It needs root on a Debian machine with Go: it installs APScheduler with SQLAlchemy,
# psycopg2 and PostgreSQL from Debian's packages and runs PostgreSQL as Debian sets it up, with fsync
# and synchronous_commit on. All files are made on one disk and removed at the end.
#
#     docs/benchmark/run.sh [-n RUNS] [-b COMMIT] [-o NAMES] [-p SECONDS] [DIRECTORY]
#
# -n  how often all of it is measured; the table has the median and the range. One run takes some ten minutes.
# -b  also measure the schedule of that commit, with the measurements of now, which must compile with it.
# -o  measure only these, separated by commas, and print the table: apscheduler, river, serve, and of
#     Belfry burst, one lane, steady, twenty lanes, stall, busy, lanes, broadcast, put, crowd, and what
#     needs the file of crowd: crowded burst, start, idle.
# -p  how long the jobs of a burst lie in each of the systems before they are due; 3 when not given. A machine that gives
#     memory back that nobody uses, as many virtual ones do, slows all of them down after a pause.
# DIRECTORY is where the files are made; the default is /var/tmp.
set -Eeuo pipefail
cd "$(dirname "$0")/../.."
jobs=10000
port=54329
runs=1 before='' only='' pause=3

fail() {
	echo "run.sh: $*" >&2
	exit 1
}
while getopts n:b:o:p: option; do
	case $option in
	n) runs=$OPTARG ;;
	b) before=$OPTARG ;;
	o) only=$OPTARG ;;
	p) pause=$OPTARG ;;
	*) fail "the top of this file says what can be asked for" ;;
	esac
done
shift $((OPTIND - 1))
wanted() { [ -z "$only" ] || [[ ,$only, == *",$1,"* ]]; }
[ "$(id -u)" = 0 ] || fail "this needs root: it installs packages and starts PostgreSQL as its own user"

packages=(python3-apscheduler python3-sqlalchemy python3-psycopg2 postgresql)
if [ "$(dpkg-query -W -f '${Status}\n' "${packages[@]}" 2>/dev/null | grep -c '^install ok installed$')" != ${#packages[@]} ]; then
	export DEBIAN_FRONTEND=noninteractive
	apt-get -qq install --yes --no-install-recommends "${packages[@]}" >/dev/null || fail "the packages could not be installed"
fi
bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)

work=$(mktemp -d "${1:-/var/tmp}/belfry-benchmark.XXXXXX")
finish() {
	if [ -f "$work/pg/postmaster.pid" ]; then
		postgres stop || true
	fi
	rm -rf "$work"
}
trap finish EXIT
chmod 755 "$work"
mkdir "$work/pg" "$work/belfry" "$work/runs"
chown postgres: "$work/pg"

go build -o "$work/benchmark" ./docs/benchmark
go build -o "$work/serve" ./docs/benchmark/serve
go build -o "$work/belfry.program" ./cmd/belfry
go -C docs/benchmark/river build -o "$work/river" .
if [ -n "$before" ]; then
	mkdir "$work/source"
	git archive "$before" | tar -x -C "$work/source"
	rm "$work"/source/docs/benchmark/*.go
	cp docs/benchmark/*.go "$work/source/docs/benchmark"
	go -C "$work/source" build -o "$work/benchmark.before" ./docs/benchmark
fi

postgres() {
	runuser -u postgres -- "$bin/pg_ctl" -D "$work/pg" -m fast -w -l "$work/pg/log" \
		-o "-p $port -k $work/pg -c listen_addresses=127.0.0.1" "$1" >/dev/null
}
peer=$PWD/docs/benchmark/peer.py
table=$PWD/docs/benchmark/RESULTS.md
cd "$work"
runuser -u postgres -- "$bin/initdb" -D "$work/pg" -A trust >"$work/initdb.log"

peers() {
	postgres start
	for _ in 1 2 3; do
		if wanted apscheduler; then
			sync
			/usr/bin/python3 "$peer" "postgresql+psycopg2://postgres@127.0.0.1:$port/postgres" $jobs "$pause" | tee -a "$1/apscheduler.json"
		fi
		if wanted river; then
			sync
			./river "postgres://postgres@127.0.0.1:$port/postgres" $jobs "$pause" | tee -a "$1/river-postgresql.json"
			sync
			rm -f river.db*
			./river river.db $jobs "$pause" | tee -a "$1/river-sqlite.json"
		fi
	done
	postgres stop
}

for ((run = 1; run <= runs; run++)); do
	out=runs/$run
	mkdir "$out" home
	echo "== run $run of $runs: peers" >&2
	peers "$out" >&2
	if [ -n "$before" ]; then
		echo "== $before" >&2
		./benchmark.before -dir belfry -jobs $jobs -pause "${pause}s" -only "${only:-burst,one lane,steady,twenty lanes,stall,busy,lanes,put}" |
			tee "$out/before.json" >&2
	fi
	echo "== Belfry" >&2
	./benchmark -dir belfry -jobs $jobs -pause "${pause}s" -only "$only" | tee "$out/belfry.json" >&2
	if wanted serve; then
		./serve -dir home -belfry ./belfry.program 2>"$work/serve.log" | tee -a "$out/belfry.json" >&2
	fi
	rm -r home
done

[ -z "$only" ] || table=/dev/null
./benchmark -table runs -before "before ($before)" | tee "$table"
