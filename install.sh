#!/bin/sh
# Installs or upgrades Belfry on a machine with systemd. It asks nothing, may be run again
# at any time, and touches neither settings nor data that are already there. Until the new
# program has shown that it runs here, the installed one goes on undisturbed.
set -eu
umask 022

usage() {
	cat <<'END'
Usage: install.sh [--dry-run] [--binary FILE] [--no-copy] [--root DIR]
       install.sh --uninstall [--dry-run] [--root DIR]

Installs Belfry or upgrades it, and starts it. The program is FILE, or `belfry` beside
this script, or it is built from the source beside this script.

  --binary FILE  install this program
  --no-copy      upgrade without first copying the data to /var/backups/belfry
  --root DIR     install into the tree DIR (an image) and start nothing
  --uninstall    remove program and unit; settings and data stay
  --dry-run      say each step and change nothing
  --help         say this

Exit codes: 0 done, 1 failed, 2 wrong usage.
END
}

say() { printf '%s\n' "$*"; }

fail() {
	printf 'install.sh: %s\n' "$*" >&2
	exit 1
}

wrong() {
	printf 'install.sh: %s\n\n' "$*" >&2
	usage >&2
	exit 2
}

# step SENTENCE COMMAND...: says what is done and does it; in a dry run only says it.
step() {
	if $dry; then
		say "would $1"
		return
	fi
	say "- $1"
	shift
	"$@"
}

# --- what is asked for

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
action=install
dry=false
copy=true
program=
root=

while [ $# -gt 0 ]; do
	case $1 in
	--dry-run) dry=true ;;
	--uninstall) action=uninstall ;;
	--no-copy) copy=false ;;
	--binary | --root)
		case ${2:-} in '' | --*) wrong "$1 needs a value" ;; esac
		if [ "$1" = --root ]; then root=$2; else program=$2; fi
		shift
		;;
	--help | -h)
		usage
		exit 0
		;;
	*) wrong "there is no '$1'" ;;
	esac
	shift
done

if [ $action = uninstall ] && { [ -n "$program" ] || ! $copy; }; then
	wrong "--uninstall goes with --dry-run and --root only"
fi
if [ -n "$root" ]; then
	[ -d "$root" ] || fail "there is no folder $root to install into"
	root=$(CDPATH='' cd -- "$root" && pwd)
	[ "$root" != / ] || wrong "leave --root away to install on this machine"
fi

bin=$root/usr/local/bin/belfry
previous=$bin.previous
# Not /etc/systemd/system: that is where the owner's own changes to the unit go.
unit_path=/usr/local/lib/systemd/system/belfry.service
unit=$root$unit_path
wants=$root/etc/systemd/system/multi-user.target.wants/belfry.service
settings=$root/etc/belfry/belfry.env
key_path=/etc/belfry/belfry.key
key=$root$key_path
data=$root/var/lib/belfry
# Belongs to root, unlike $data: root writes into no folder of a service that may have
# been broken into.
backups=$root/var/backups/belfry

# --- small questions

on_host() { [ -z "$root" ]; }

as_root() { [ "$(id -u)" = 0 ]; }

# number_of passwd|group: the id of the user or the group belfry there, or nothing.
number_of() {
	if on_host; then
		getent "$1" belfry | cut -d: -f3
	elif [ -r "$root/etc/$1" ]; then
		sed -n 's/^belfry:[^:]*:\([0-9]*\):.*/\1/p' "$root/etc/$1"
	fi
}

# setting NAME DEFAULT: its value as systemd will read it.
setting() {
	value=
	if [ -r "$settings" ]; then
		value=$(sed -n "s/^[[:space:]]*$1=//p" "$settings" | tail -n 1 |
			sed -e 's/[[:space:]]*$//' -e 's/^"\(.*\)"$/\1/' -e "s/^'\(.*\)'\$/\1/")
	fi
	say "${value:-$2}"
}

page() {
	listen=$(setting BELFRY_LISTEN 127.0.0.1:8080)
	case $listen in
	:* | 0.0.0.0:* | '[::]':*) say "http://$(uname -n):${listen##*:}" ;;
	*) say "http://$listen" ;;
	esac
}

# made_for FILE: the machine that an ELF file names, in the words of uname -m.
made_for() {
	case $(od -An -tu1 -j18 -N1 "$1" | tr -d ' ') in
	3) say i686 ;;
	40) say armv7l ;;
	62) say x86_64 ;;
	183) say aarch64 ;;
	243) say riscv64 ;;
	*) say "another machine" ;;
	esac
}

check_host() {
	on_host || return 0
	$dry || as_root || fail "this needs root: run it again with sudo (--dry-run does without)"
	[ -d /run/systemd/system ] || fail "systemd does not run here, and Belfry is installed as its service. \
Without systemd start 'belfry serve' in your own way; to fill the tree of another machine there is --root DIR"
}

# --- what may have to be put right when a step fails

work=
staged=
stopped=false

finish() {
	status=$?
	trap - EXIT
	trap '' HUP INT TERM PIPE # what was stopped is started, whoever has gone away
	if $stopped && $start; then
		again="Belfry was started again"
		systemctl start belfry.service || again="Belfry does not run. Why: journalctl -u belfry -n 50"
		say "install.sh: that failed; $again" >&2 || true
	fi
	if [ -n "$work" ]; then rm -rf "$work"; fi
	if [ -n "$staged" ]; then rm -f "$staged"; fi
	exit "$status"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 141' PIPE
trap 'exit 143' TERM

# --- the program

find_program() {
	if [ -z "$program" ] && [ -f "$here/belfry" ]; then program=$here/belfry; fi
	if [ -n "$program" ]; then
		[ -f "$program" ] || fail "there is no program $program"
		[ "$(od -An -tx1 -N4 "$program" | tr -d ' \n')" = 7f454c46 ] ||
			fail "$program is not a program for Linux: take the file for $(uname -m)"
		return
	fi
	go=$(command -v go || true)
	# sudo usually hides the place where Go's own package installs it.
	if [ -z "$go" ] && [ -x /usr/local/go/bin/go ]; then go=/usr/local/go/bin/go; fi
	if [ -z "$go" ] || [ ! -d "$here/cmd/belfry" ]; then
		fail "there is no program to install: put 'belfry' beside this script, or give --binary FILE, \
or run the script in the source tree with Go installed"
	fi
	step "build the program from the source in $here" build
}

build() {
	work=$(mktemp -d)
	# Under sudo the tree belongs to somebody else, and git would refuse to say its version.
	(cd "$here" && CGO_ENABLED=0 \
		GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0="$here" \
		"$go" build -trimpath -ldflags '-s -w' -o "$work/belfry" ./cmd/belfry)
	program=$work/belfry
}

# stage puts the program beside the place where it will stand, so that the exchange is one
# rename, and lets it say its version from there: what cannot do that is not installed.
stage() {
	mkdir -p "${bin%/*}"
	staged=$(mktemp "$bin.XXXXXX")
	cp "$program" "$staged"
	chmod 0755 "$staged"
	sync "$staged"
	on_host || return 0
	if ! version=$("$staged" version 2>&1); then
		if [ "$(made_for "$program")" != "$(uname -m)" ]; then
			fail "$program is made for $(made_for "$program") and this machine is $(uname -m): \
take the file for $(uname -m). Nothing was changed"
		fi
		fail "$program does not run here ($version). Nothing was changed"
	fi
}

exchange() {
	if $keep_previous; then ln -f "$bin" "$previous"; fi
	mv -f "$staged" "$bin"
	staged=
}

# --- user, folders, settings, unit

make_user() {
	set -- --system --home-dir /var/lib/belfry --no-create-home --comment Belfry
	set -- "$@" --shell "$(command -v nologin || say /bin/false)"
	if [ -n "$(number_of group)" ]; then set -- "$@" --gid belfry; else set -- "$@" --user-group; fi
	if ! on_host; then set -- --prefix "$root" "$@"; fi
	useradd "$@" belfry
}

need_user() {
	[ -z "$(number_of passwd)" ] || return 0
	if on_host || { [ -f "$root/etc/passwd" ] && as_root; }; then
		command -v useradd >/dev/null || fail "there is no useradd: create the system user and group belfry and run this again"
		step "create the system user belfry" make_user
	else
		say "The tree gets no user: on its machine run useradd --system --user-group --no-create-home belfry"
	fi
}

# own USER FILE: in a tree without the user, or without the right, systemd gives the data
# folder to it at the first start.
own() {
	uid=$(number_of passwd)
	gid=$(number_of group)
	if [ "$1" = root ]; then uid=0; fi
	if as_root && [ -n "$uid" ] && [ -n "$gid" ]; then chown "$uid:$gid" "$2"; fi
}

make_data_folder() {
	mkdir -p "${data%/*}"
	mkdir -m 0700 "$data"
	own belfry "$data"
}

# place FROM TO MODE: no reader sees half a file.
place() {
	mkdir -p "${2%/*}"
	cp "$1" "$2.new"
	chmod "$3" "$2.new"
	if [ "$2" = "$settings" ]; then own root "$2.new"; fi
	sync "$2.new"
	mv -f "$2.new" "$2"
}

# make_key: what seals the logins in the data. It lies beside the settings, where no copy of the
# data takes it along.
make_key() {
	(umask 077 && head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$key.new" && echo >>"$key.new")
	own belfry "$key.new"
	sync "$key.new"
	mv -f "$key.new" "$key"
}

# take_up: what was kept or brought from another machine may belong to numbers that are other users here.
take_up() {
	own belfry "$key"
	own root "$settings"
}

# --- upgrade

copy_data() {
	mkdir -p "${backups%/*}"
	[ -d "$backups" ] || mkdir -m 0700 "$backups"
	needed=$(du -k "$db" | cut -f1)
	free=$(df -Pk "$backups" | awk 'NR == 2 { print $4 }')
	if [ "$needed" -ge "$free" ]; then
		fail "a copy of the data needs $needed KB in $backups and $free KB are free: make room, or give --no-copy \
(once the new version has changed the file there is then no way back to the old one)"
	fi
	# Copied from a stopped service: what the old version sends, the copy knows.
	if on_host; then
		stopped=true
		systemctl stop belfry.service
	fi
	cp -p "$db" "$backups/belfry.db.part"
	sync "$backups/belfry.db.part"
	mv -f "$backups/belfry.db.part" "$backups/belfry.db.before-upgrade"
}

way_back() {
	if [ ! -e "$previous" ]; then return 0; fi
	say ""
	say "The way back to the version before:"
	say "  sudo $here/install.sh --binary $previous"
	if [ -e "$backups/belfry.db.before-upgrade" ]; then
		say "and if that one says that the file is too new for it, the data from before the upgrade as well:"
		say "  sudo systemctl stop belfry"
		say "  sudo mv $db $db.newer"
		say "  sudo BELFRY_DB=$db belfry restore $backups/belfry.db.before-upgrade"
		say "  sudo systemctl start belfry"
		say "It starts paused: what has been sent since the upgrade is due again in those data. Cancel that, then"
		say "  sudo BELFRY_DB=$db belfry jobs resume --all"
	fi
}

# --- the two actions

install_belfry() {
	for file in systemd/belfry.service systemd/belfry.env; do
		[ -f "$here/$file" ] || fail "$file is not beside this script: unpack the whole release"
	done
	check_host
	find_program

	upgrade=false
	changed=true
	start=true
	state=inactive
	keep_previous=false
	db=$root$(setting BELFRY_DB /var/lib/belfry/belfry.db)
	if [ -e "$bin" ]; then
		upgrade=true
		if [ -n "$program" ] && cmp -s "$program" "$bin"; then changed=false; fi
		if on_host; then
			state=$(systemctl is-active belfry.service || true)
			case $(systemctl is-enabled belfry.service 2>/dev/null || true) in
			# Somebody switched it off, perhaps because the data has moved to another machine,
			# and one Telegram session must never run twice.
			disabled | masked*) if [ "$state" != active ]; then start=false; fi ;;
			esac
		fi
		keep_previous=$changed
		# The last program that ran, and its data, are the way back, not one that fails.
		if [ "$state" = failed ] || [ "$state" = activating ]; then
			if [ -e "$previous" ]; then keep_previous=false; fi
		fi
		if [ ! -e "$db" ] || ! $keep_previous; then copy=false; fi
		# Going back: the copy from before the upgrade has to stay.
		if [ -n "$program" ] && cmp -s "$program" "$previous"; then copy=false; fi
	else
		copy=false
	fi

	if $changed; then step "check the program ${program:-that was built} and lay it beside $bin" stage; fi
	need_user
	if [ ! -d "$data" ]; then step "create $data (mode 0700) for the data" make_data_folder; fi
	if [ -e "$settings" ]; then
		say "Your settings in $settings stay as they are."
	else
		step "write $settings (mode 0640), with every setting switched off" place "$here/systemd/belfry.env" "$settings" 0640
	fi
	if [ ! -e "$key" ]; then
		step "make $key (mode 0600), which seals the logins in the data" make_key
	elif ! $upgrade; then
		step "give $key and $settings to their users" take_up
	fi
	if $copy; then step "stop Belfry and copy the data to $backups/belfry.db.before-upgrade" copy_data; fi
	step "write the unit $unit" place "$here/systemd/belfry.service" "$unit" 0644
	if $changed && $keep_previous; then
		step "put the program in place as $bin, the one before as $previous" exchange
	elif $changed; then
		step "put the program in place as $bin" exchange
	fi
	if on_host; then start_service; else step "enable the unit with $wants" enable_in_tree; fi
	if ! $dry; then report; fi
}

enable_in_tree() {
	mkdir -p "${wants%/*}"
	ln -sfn "$unit_path" "$wants"
}

start_service() {
	step "let systemd read its units again" systemctl daemon-reload
	if ! $upgrade; then step "enable belfry.service" systemctl enable --quiet belfry.service; fi
	if ! $start; then
		stopped=false
		say "belfry.service is switched off here and stays so; to start it: systemctl enable --now belfry"
		return
	fi
	step "start belfry.service and wait until it serves" restart
}

restart() {
	# A service that gave up after many failed starts would not be started again.
	systemctl reset-failed belfry.service 2>/dev/null || true
	stopped=false
	if ! systemctl restart belfry.service || ! systemctl is-active --quiet belfry.service; then
		say "Belfry is installed but does not run. Why: journalctl -u belfry -n 50" >&2
		way_back >&2
		exit 1
	fi
}

report() {
	say ""
	if ! on_host; then
		say "Belfry is in $root and starts with that machine."
		return
	fi
	address=$(page)
	port=${address##*:}
	say "$("$bin" version) is installed$(if $start; then say " and runs"; fi)."
	say ""
	say "  Page      $address"
	case $address in
	*//127.*) say "            from your own computer: ssh -L $port:127.0.0.1:$port $(uname -n), then the same address" ;;
	esac
	if ! $upgrade; then
		say "  Begin     journalctl -u belfry has a link that works once, for 15 minutes; each restart writes a new one"
	fi
	say "  Settings  $settings, then: systemctl restart belfry"
	say "  Data      $db"
	say "  Backup    sudo BELFRY_DB=$db belfry backup $data/backup.db, then take that file to another machine"
	say "  Key       $key: keep a copy elsewhere too, without it the logins of a backup are lost"
	say "  Remove    $here/install.sh --uninstall"
	if $upgrade; then way_back; fi
}

uninstall_belfry() {
	check_host
	if [ -e "$unit" ] || [ -e "$bin" ]; then
		if on_host && [ -e "$unit" ]; then
			step "stop belfry.service and disable it" systemctl disable --quiet --now belfry.service
		fi
		step "remove $bin, $previous and $unit" rm -f "$bin" "$previous" "$unit" "$wants"
		if on_host; then step "let systemd read its units again" systemctl daemon-reload; fi
	else
		say "Belfry is not installed."
	fi
	kept=
	for path in "${settings%/*}" "$data" "$backups" "$root/etc/systemd/system/belfry.service.d"; do
		if [ -e "$path" ]; then kept="$kept $path"; fi
	done
	if [ -n "$kept" ]; then
		say ""
		say "Kept:$kept"
		say "A later install takes them up again. To remove them for ever:"
		say "  sudo rm -r$kept"
	fi
	if [ -n "$(number_of passwd)" ]; then say "The user belfry, who owns the data, is kept too; then: sudo userdel belfry"; fi
}

if [ $action = uninstall ]; then uninstall_belfry; else install_belfry; fi
if $dry; then say "Nothing was changed."; fi
