/* SPDX-License-Identifier: MIT */
/* The version of this program. */
#ifndef SKYOBSERVE_CMD_VERSION_H
#define SKYOBSERVE_CMD_VERSION_H

#define SKYOBSERVE_VERSION "0.1.0"

#endif /* SKYOBSERVE_CMD_VERSION_H */
