/* SPDX-License-Identifier: MIT */
/* Content negotiation. */
#include "tests/lib/check.h"

#include "user/http/accept.h"

#define TEXT ACCEPT_TEXT_0_0_4
#define OM   ACCEPT_OPENMETRICS_1_0_0
#define OLD  ACCEPT_OPENMETRICS_0_0_1

#define OMT "application/openmetrics-text"

TEST(accept_format_chooses)
{
	static const struct {
		const char *accept;
		enum accept_format want;
	} cases[] = {
		{ NULL, TEXT },
		{ "", TEXT },
		{ "*/*", TEXT },
		{ "text/plain", TEXT },
		{ "text/plain;version=0.0.4", TEXT },
		{ "text/plain;version=1.0.0;escaping=allow-utf-8", TEXT },
		{ OMT, OM },
		{ OMT ";version=1.0.0", OM },
		{ OMT "; version=1.0.0; charset=utf-8", OM },
		{ OMT ";version=\"1.0.0\"", OM },
		{ OMT ";version=0.0.1", OLD },
		{ OMT ";version=2.0.0", TEXT },
		{ "APPLICATION/OpenMetrics-Text;Version=1.0.0", OM },
		{ "application/*", OM },
		/* Prometheus 2.42 */
		{ OMT ";version=1.0.0," OMT ";version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,"
		      "*/*;q=0.1",
		  OM },
		/* Prometheus 2.30 and before */
		{ OMT "; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", OLD },
		/* Prometheus 3 */
		{ "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
		  "encoding=delimited;q=0.6," OMT ";version=1.0.0;escaping=allow-utf-8;q=0.5," OMT
		  ";version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,"
		  "text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
		  OM },
		/* Browsers, curl */
		{ "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", TEXT },
		/* Qualities */
		{ "text/plain;q=0.5," OMT ";q=0.4", TEXT },
		{ "text/plain;q=0.4," OMT ";q=0.5", OM },
		{ "text/plain;q=0.4, " OMT ";version=0.0.1;q=0.5", OLD },
		{ "text/plain;q=0," OMT ";q=0.001", OM },
		{ OMT ";q=0, text/plain;q=0", TEXT },
		{ "text/plain;q=0, */*", OM },
		{ "*/*;q=1, " OMT ";q=0.5", TEXT },
		{ "*/*;q=0.5, " OMT ";q=0.5", OM },
		{ OMT ";q=0.9, text/*", TEXT },
		/* The same quality: the first that is named as closely. */
		{ "text/plain, " OMT, TEXT },
		{ OMT ", text/plain", OM },
		{ "text/plain;version=0.0.4," OMT ";version=1.0.0", TEXT },
		/* None of ours: never refused. */
		{ "application/json", TEXT },
		{ "image/*", TEXT },
		{ "*/*;q=0", TEXT },
		/* Malformed elements count as absent, the rest does not. */
		{ OMT ";q=x, text/plain;q=0.1", TEXT },
		{ OMT ";q=1.001, text/plain;q=0.1", TEXT },
		{ OMT ";q=0.5555, text/plain;q=0.1", TEXT },
		{ OMT ";q=, text/plain;q=0.1", TEXT },
		{ OMT ";q=-1, text/plain;q=0.1", TEXT },
		{ OMT ";q=1., text/plain;q=0.1", OM },
		{ OMT ";q=\"0.9\", text/plain;q=0.1", OM },
		{ ",,, ;;; ,=, " OMT, OM },
		{ OMT ";;;", OM },
		{ OMT ";foo=\"a,b;q=0\";q=0.9, text/plain;q=0.5", OM },
		{ OMT ";foo=\"\\\",text/plain\"", OM },
		{ OMT ";foo=\"never closed, text/plain", OM },
		{ "\t " OMT " \t;\tq=0.7\t,text/plain;q=0.5", OM },
		{ "text/plain text/html", TEXT },
		{ "*", TEXT },
		{ "/", TEXT },
		{ "application/*/*", TEXT },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum accept_format got = accept_format(cases[i].accept);

		if (got != cases[i].want)
			FAIL("%s: got %s", cases[i].accept, accept_content_type(got));
	}
}

TEST(accept_format_reads_a_bounded_list)
{
	static char header[1 << 16];
	size_t n = 0;

	for (int i = 0; i < 1000; i++)
		n += (size_t)snprintf(header + n, sizeof(header) - n, "a/b%d,", i);
	snprintf(header + n, sizeof(header) - n, OMT);
	CHECK_EQ_INT(accept_format(header), TEXT);
	memset(header, ';', sizeof(header) - 1);
	CHECK_EQ_INT(accept_format(header), TEXT);
	memset(header, '"', sizeof(header) - 1);
	CHECK_EQ_INT(accept_format(header), TEXT);
}

/* Prometheus 3 refuses a scrape whose Content-Type it does not know. */
TEST(accept_content_types_are_those_of_prometheus)
{
	CHECK_STR(accept_content_type(TEXT), "text/plain; version=0.0.4; charset=utf-8");
	CHECK_STR(accept_content_type(OM), OMT "; version=1.0.0; charset=utf-8");
	CHECK_STR(accept_content_type(OLD), OMT "; version=0.0.1; charset=utf-8");
}

/* A body that need not be packed is, if the client takes no other. */
TEST(accept_gzip_only_if_plain_is_refused)
{
	static const struct {
		const char *encoding;
		bool want;
	} cases[] = {
		{ NULL, false },
		{ "gzip", false },
		{ "*", false },
		{ "gzip, identity;q=0.1", false },
		{ "gzip, identity;q=0", true },
		{ "identity;q=0", false },
		{ "gzip, *;q=0", true },
		{ "gzip, *;q=0, identity", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (accept_gzip(cases[i].encoding, true) != cases[i].want)
			FAIL("%s: not %d", cases[i].encoding, cases[i].want);
	}
}

TEST(accept_gzip_only_if_allowed)
{
	static const struct {
		const char *encoding;
		bool want;
	} cases[] = {
		{ NULL, false },
		{ "", false },
		{ "gzip", true },
		{ "GZIP", true },
		{ "x-gzip", true },
		{ "gzip, deflate, br", true },
		{ "deflate", false },
		{ "identity", false },
		{ "*", true },
		{ "gzip;q=0", false },
		{ "gzip;q=0.0", false },
		{ "gzip;q=0, *", false },
		{ "*;q=0", false },
		{ "*;q=0, gzip", true },
		{ "identity;q=0, gzip;q=0.1", true },
		{ "identity, gzip;q=0.5", false },
		{ "identity;q=0.5, gzip;q=0.5", true },
		{ "gzip;q=x", false },
		{ "gzipx", false },
		{ " gzip\t; q=0.1", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (accept_gzip(cases[i].encoding, false) != cases[i].want)
			FAIL("%s: not %d", cases[i].encoding, cases[i].want);
	}
}
