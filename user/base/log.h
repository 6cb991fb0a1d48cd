/* SPDX-License-Identifier: MIT */
/*
 * One line on stderr, with the program's name. Only user/cmd/ logs. Control bytes of the arguments
 * are shown as '?', since names of processes come from strangers.
 */
#ifndef SKYOBSERVE_BASE_LOG_H
#define SKYOBSERVE_BASE_LOG_H

void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same text is said once in a row. */
void log_warn_once(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* SKYOBSERVE_BASE_LOG_H */
