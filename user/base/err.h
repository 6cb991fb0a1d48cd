/* SPDX-License-Identifier: MIT */
/* Errors that name the object, the reason and the remedy, built up on the way out. */
#ifndef SKYOBSERVE_BASE_ERR_H
#define SKYOBSERVE_BASE_ERR_H

/* One line of text, never with a newline. A zeroed struct is an empty error. */
struct err {
	char text[512];
};

/*
 * Say what went wrong where it was found. Returns @code, so that `return err_set(err, -EINVAL,
 * ...)` works. @err may be NULL. Control bytes of the arguments are shown as '?'.
 */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Put the object's name in front of what is already said. Returns @code. */
int err_prefix(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* SKYOBSERVE_BASE_ERR_H */
