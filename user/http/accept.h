/* SPDX-License-Identifier: MIT */
/*
 * Content negotiation: which of our formats a client prefers. Pure, never refuses.
 *
 * Source: RFC 9110, sections 12.4.2, 12.5.1 and 12.5.3; the Prometheus documentation on content
 * negotiation. Lists longer than 32 elements are read up to there; a malformed element counts as
 * absent.
 */
#ifndef SKYOBSERVE_HTTP_ACCEPT_H
#define SKYOBSERVE_HTTP_ACCEPT_H

#include <stdbool.h>

enum accept_format {
	ACCEPT_TEXT_0_0_4,
	ACCEPT_OPENMETRICS_1_0_0,
	ACCEPT_OPENMETRICS_0_0_1, /* the same body as 1.0.0 under its older name */
	NR_ACCEPT_FORMATS
};

/*
 * The format for the value of an Accept header, or NULL for none.
 *
 * The highest quality wins, then the more specific range, then the earlier one. If the client
 * takes none of ours it gets text 0.0.4 all the same: a scrape with a readable body can be
 * understood by a person, a 406 cannot. OpenMetrics without a version is 1.0.0; text/plain of
 * version 1.0.0 (UTF-8 names) is served as 0.0.4, as all our names are legal there.
 */
enum accept_format accept_format(const char *accept);

/* The Content-Type of a format, spelled as Prometheus expects it. */
const char *accept_content_type(enum accept_format format);

/*
 * Whether the value of an Accept-Encoding header (or NULL) allows gzip and does not prefer the
 * body as it is. Without the header the body is sent as it is. With @plain_will_do gzip is only
 * used if the client refuses the body as it is.
 */
bool accept_gzip(const char *accept_encoding, bool plain_will_do);

#endif /* SKYOBSERVE_HTTP_ACCEPT_H */
