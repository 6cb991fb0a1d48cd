/* SPDX-License-Identifier: MIT */
/*
 * What clients and servers write to each other, as the BPF programs read it: a name that is kept is
 * bounded and plain text, no state is left, and bytes in pieces mean what they mean in one.
 */
#include <stdint.h>

#include "tests/sim/host.h"

#include "http.bpf.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_request(const struct http_request *r)
{
	if (r->state > HTTP_NONE || r->name_len >= KIND_NAME_BYTES ||
	    r->name[KIND_NAME_BYTES - 1] ||
	    (r->state == HTTP_REQUEST && !http_is_method(r->method)))
		abort();
	if (r->state != HTTP_REQUEST)
		return;
	for (size_t i = 0; i < KIND_NAME_BYTES; i++) {
		if (r->name[i] ? r->name[i] < ' ' || r->name[i] >= 0x7f || i >= r->name_len
			       : i < r->name_len)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct http_request request;
	struct http_response response;

	http_request_begin(&request);
	for (size_t i = 0; i < n && request.state < HTTP_REQUEST; i++)
		http_request_byte(&request, bytes[i]);
	name_end(&request);
	check_request(&request);

	http_response_begin(&response);
	for (size_t i = 0; i < n && i < HTTP_HEAD_BYTES; i++) {
		if (http_response_byte(&response, &bytes[i]))
			break;
	}
	if (response.code > 1665 || response.length >= 10ULL << 48 ||
	    http_body(&response, request.method) > BODY_STREAM)
		abort();
	return 0;
}
