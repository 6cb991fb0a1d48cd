#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Does the profile of my program hold? Copy this into your repository and run it in CI, as root, while your program is
# under load.
#
#   crosscheck.sh PID PROFILE_URL [SECONDS] [RUNS] [FOLDER]
#
# PROFILE_URL is net/http/pprof's: http://127.0.0.1:6060/debug/pprof/profile. Three runs of 30 s by default: fewer say
# nothing of whether they repeat. FOLDER (default crosscheck) gets the profiles, the records, report.txt and junit.xml.
#
# Ends with 0 (confirmed), 1 (refuted), 2 (unresolved: more samples are needed), 3 (a run was invalid, and says why).
#
# SKYOBSERVE        the program (default: skyobserve)
# CROSSCHECK_FLAGS  more options, such as --unresolved-ok
set -eu

pid=${1:?give the process id of your program} url=${2:?give the URL of its CPU profile}
seconds=${3:-30} runs=${4:-3} folder=${5:-crosscheck}
skyobserve=${SKYOBSERVE:-skyobserve}

mkdir -p "$folder"
set --
run=1
while [ "$run" -le "$runs" ]; do
	record=$folder/run-$run.sky
	# A run that is invalid (3) is recorded, too, and judged below.
	"$skyobserve" record --pid "$pid" --duration "${seconds}s" --profile "$url" -o "$record" || [ $? -eq 3 ]
	set -- "$@" --profile "$record.pb.gz" --record "$record"
	run=$((run + 1))
done

status=0
# shellcheck disable=SC2086 # options are words
"$skyobserve" crosscheck "$@" --junit "$folder/junit.xml" ${CROSSCHECK_FLAGS:-} >"$folder/report.txt" || status=$?
cat "$folder/report.txt"
exit "$status"
