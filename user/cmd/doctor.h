/* SPDX-License-Identifier: MIT */
/* `skyobserve doctor`: what this machine has of what is needed, and the remedy for the rest. */
#ifndef SKYOBSERVE_CMD_DOCTOR_H
#define SKYOBSERVE_CMD_DOCTOR_H

#include "user/cmd/options.h"

/*
 * Print a table of every requirement. Returns EXIT_GOOD if processes can be observed (single probe
 * groups may be down, which is said), EXIT_MISSING if not, EXIT_USAGE. --groups and
 * --raw-tracepoints are tried as given.
 */
int cmd_doctor(const struct options *options);

#endif /* SKYOBSERVE_CMD_DOCTOR_H */
