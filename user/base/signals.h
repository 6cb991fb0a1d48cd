/* SPDX-License-Identifier: MIT */
/* Processes of ours whose end is that of a pipe or socket. */
#ifndef SKYOBSERVE_BASE_SIGNALS_H
#define SKYOBSERVE_BASE_SIGNALS_H

/*
 * Ignore the signals that are for the whole group or session (Ctrl-C, hang-up, systemd's stop):
 * they are for the one whom this process serves, who ends it in time. Nothing stays blocked.
 */
void signals_leave_to_parent(void);

#endif /* SKYOBSERVE_BASE_SIGNALS_H */
