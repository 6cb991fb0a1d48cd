#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `make run`: starts the bundled sample with a gentle load, observes it live, and leaves nothing behind.
#
#   packaging/run-sample.sh [SECONDS]     as root; without SECONDS until Ctrl-C
#
# BUILDER    the user who runs the sample (empty: root itself)
# RUN_FLAGS  more options for the observer
set -eu

cd "$(dirname "$0")/.."
seconds=${1:-}
case $seconds in
*[!0-9]*)
	echo "run: '$seconds' is no number of seconds" >&2
	exit 64
	;;
esac

app= load= observer= timer=
folder=$(mktemp -d "${TMPDIR:-/tmp}/skyobserve-run-XXXXXX")

stop() { # PID: TERM, and KILL if that does not help within 3 s
	[ -n "$1" ] || return 0
	kill -TERM "$1" 2>/dev/null || return 0
	tries=30
	while [ "$tries" -gt 0 ] && kill -0 "$1" 2>/dev/null && ! is_zombie "$1"; do
		sleep 0.1
		tries=$((tries - 1))
	done
	kill -KILL "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}

is_zombie() {
	read -r line <"/proc/$1/stat" 2>/dev/null || return 0
	case ${line##*) } in
	Z*) return 0 ;;
	esac
	return 1
}

clean_up() {
	trap '' INT TERM HUP
	# The timer is a group: a shell and its sleep.
	[ -z "$timer" ] || kill -TERM -- "-$timer" 2>/dev/null || true
	stop "$observer"
	stop "$load"
	stop "$app"
	rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Runs a program as the builder, in a session of its own: Ctrl-C is for the observer, which says its last
# words while the sample still runs. It dies with this script, however that ends.
as_builder() {
	if [ -n "${BUILDER:-}" ]; then
		exec setsid setpriv --reuid="$BUILDER" --regid="$(id -g "$BUILDER")" --init-groups --pdeathsig KILL \
			env HOME="$folder" "$@"
	fi
	exec setsid setpriv --pdeathsig KILL "$@"
}

mkdir "$folder/data"
[ -z "${BUILDER:-}" ] || chown -R "$BUILDER:" "$folder"

as_builder build/tests/workloads/sampleapp -listen 127.0.0.1:0 -port-file "$folder/port" -data "$folder/data" \
	>"$folder/app.log" 2>&1 &
app=$!
tries=100
while [ ! -s "$folder/port" ]; do
	tries=$((tries - 1))
	if [ "$tries" = 0 ] || ! kill -0 "$app" 2>/dev/null || is_zombie "$app"; then
		echo "run: the sample did not start:" >&2
		cat "$folder/app.log" >&2
		exit 1
	fi
	sleep 0.1
done
address=127.0.0.1:$(sed 's/.*://' "$folder/port")
as_builder build/tests/workloads/sampleload -url "http://$address" -gentle >"$folder/load.log" 2>&1 &
load=$!
echo "the sample serves http://$address (pid $app), with a gentle load; Ctrl-C ends everything"

# In the background, so that TERM is heard; a shell starts such programs with SIGINT ignored.
# shellcheck disable=SC2086 # a list of words
setpriv --pdeathsig TERM env --default-signal=INT,QUIT build/skyobserve --pid "$app" --live ${RUN_FLAGS:-} <&0 &
observer=$!
# The terminal sends SIGINT to the observer too. TERM is for us only, so it is passed on.
trap ':' INT
trap 'kill -TERM "$observer" 2>/dev/null || true' TERM HUP
if [ -n "$seconds" ]; then
	# They count from when the observer is ready, which takes a while on a busy machine.
	ready=true
	[ -n "${RUN_FLAGS:-}" ] || ready='for try in {1..150}; do
		{ exec 3<>/dev/tcp/127.0.0.1/19435 && printf "GET /-/ready HTTP/1.1\r\nHost: localhost\r\n\r\n" >&3 &&
			read -r line <&3; } 2>/dev/null
		[[ ${line:-} != *" 200 "* ]] || break
		sleep 0.2
	done'
	setsid bash -c "$ready; sleep $seconds; kill -TERM $observer" &
	timer=$!
fi

status=0
while :; do
	wait "$observer" && status=0 || status=$?
	# A trapped signal ends the wait, not the observer.
	kill -0 "$observer" 2>/dev/null || break
done
observer=
if kill -0 "$app" 2>/dev/null && is_zombie "$app"; then
	echo "run: the sample ended by itself:" >&2
	tail -n 20 "$folder/app.log" >&2
fi
exit "$status"
