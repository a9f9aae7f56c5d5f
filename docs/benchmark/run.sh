#!/usr/bin/env bash
# Measures Belfry's schedule and its peer side by side on this machine, and writes the table to
# RESULTS.md. It needs root on a Debian machine with Go: it installs the peer (APScheduler with
# SQLAlchemy, psycopg2 and PostgreSQL) from Debian's packages and runs it as Debian sets it up, with
# fsync and synchronous_commit on. All files are made on one disk and removed at the end.
#
#     docs/benchmark/run.sh [DIRECTORY]
#
# DIRECTORY is where the files are made; the default is /var/tmp.
set -Eeuo pipefail
cd "$(dirname "$0")/../.."
jobs=10000
port=54329

fail() {
	echo "run.sh: $*" >&2
	exit 1
}
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
		runuser -u postgres -- "$bin/pg_ctl" -D "$work/pg" -m fast -w stop >/dev/null || true
	fi
	rm -rf "$work"
}
trap finish EXIT
chmod 755 "$work"
mkdir "$work/pg" "$work/belfry"
chown postgres: "$work/pg"

go build -o "$work/benchmark" ./docs/benchmark
go build -o "$work/serve" ./docs/benchmark/serve
go build -o "$work/belfry.program" ./cmd/belfry

cd "$work"
runuser -u postgres -- "$bin/initdb" -D "$work/pg" -A trust >"$work/initdb.log"
runuser -u postgres -- "$bin/pg_ctl" -D "$work/pg" -w -l "$work/pg/log" \
	-o "-p $port -k $work/pg -c listen_addresses=127.0.0.1" start >/dev/null
echo "== APScheduler and PostgreSQL: $jobs jobs" >&2
for _ in 1 2 3; do
	sync
	/usr/bin/python3 "$OLDPWD/docs/benchmark/peer.py" "postgresql+psycopg2://postgres@127.0.0.1:$port/postgres" $jobs | tee -a "$work/peer.json" >&2
done
runuser -u postgres -- "$bin/pg_ctl" -D "$work/pg" -m fast -w stop >/dev/null

echo "== Belfry" >&2
"$work/benchmark" -dir "$work/belfry" -jobs $jobs | tee "$work/belfry.json" >&2
mkdir "$work/home"
"$work/serve" -dir "$work/home" -belfry "$work/belfry.program" 2>"$work/serve.log" | tee -a "$work/belfry.json" >&2
cd "$OLDPWD"

"$work/benchmark" -table -peer "$work/peer.json" -ours "$work/belfry.json" >docs/benchmark/RESULTS.md
cat docs/benchmark/RESULTS.md
