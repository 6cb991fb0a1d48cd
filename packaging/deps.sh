#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Installs the Debian packages of the named groups (packaging/packages.txt) that are missing.
#
#   packaging/deps.sh GROUP...
#
# Says what it installs; does nothing when all are there. Only installing needs root. Services that
# come with a package (prometheus) are neither started nor enabled by this.
set -eu

list=$(dirname "$0")/packages.txt
more_tests=$(dirname "$0")/../tests/vm/packages.txt

if ! command -v dpkg-query >/dev/null; then
	echo "deps: this is no Debian system; what is needed is in $list" >&2
	exit 0
fi

is_installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Is the row's package there, or for a pattern any package that matches?
is_present() {
	case $1 in
	^*) dpkg-query -W -f '${db:Status-Status} ${Package}\n' | grep -qE "^installed ${1#^}" ;;
	*) is_installed "$1" || provided "$1" ;;
	esac
}

# By a package of another name: pkg-config by pkgconf.
provided() {
	dpkg-query -W -f '${db:Status-Status} ,${Provides},\n' | grep -qE "^installed .*[ ,]$1( \([^)]*\))?,"
}

rows=$(for group in "$@"; do
	awk -v group="$group" '$1 == group { print $2 }' "$list"
	if [ "$group" = test ] && [ -e "$more_tests" ]; then
		awk '$1 != "" && $1 !~ /^#/ { print $1 }' "$more_tests"
	fi
done | sort -u)

missing=
for row in $rows; do
	is_present "$row" || missing="$missing $row"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
	echo "deps: missing:$missing" >&2
	echo "deps: sudo apt-get install$missing" >&2
	exit 1
fi

export DEBIAN_FRONTEND=noninteractive
apt="apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o APT::Install-Recommends=false"
echo "deps: apt-get update"
$apt update >/dev/null

names=
for row in $missing; do
	case $row in
	^*)
		name=$(apt-cache search --names-only "$row" | awk '{ print $1 }' | sort -V | tail -n 1)
		if [ -z "$name" ]; then
			echo "deps: no package matches $row" >&2
			exit 1
		fi
		names="$names $name"
		;;
	*) names="$names $row" ;;
	esac
done
echo "deps: installing:$names"

# A policy of the administrator is left alone.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	trap 'rm -f "$policy"' EXIT
	trap 'exit 130' INT TERM
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
fi
log=$(mktemp)
# shellcheck disable=SC2086 # a list of words
if ! $apt install $names >"$log" 2>&1; then
	cat "$log" >&2
	rm -f "$log"
	exit 1
fi
rm -f "$log"
case " $names " in
*" prometheus "*)
	if command -v systemctl >/dev/null && systemctl disable prometheus >/dev/null 2>&1; then
		echo "deps: the prometheus service is installed but disabled (systemctl enable --now prometheus)"
	fi
	;;
esac
