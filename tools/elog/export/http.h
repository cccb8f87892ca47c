/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sends data to a web server, with libcurl, which is loaded when it is needed first. A
 * connection is for one thread at a time; only http_cancel() may be called meanwhile.
 */
#ifndef HTTP_H
#define HTTP_H

#include <stdatomic.h>

#include "util/tool.h"

#define HTTP_ANSWER_MAX	65536	/* bytes of an answer */

struct http;

/**
 * struct http_options - of a connection
 * @headers: of each request, "NAME: VALUE"
 * @header_count: of @headers
 * @timeout: of a request, milliseconds
 * @ca: file with the certificates of the authorities to trust, or NULL
 * @certificate: file with the certificate of this client, or NULL
 * @key: file with its key, or NULL
 */
struct http_options {
	char **headers;
	size_t header_count;
	uint32_t timeout;
	const char *ca;
	const char *certificate;
	const char *key;
};

/** enum http_result - what became of a request */
enum http_result {
	HTTP_ANSWERED,
	HTTP_BAD_ANSWER,
	HTTP_NO_ANSWER,		/* it may help to try again */
	HTTP_IMPOSSIBLE,	/* for example, the certificate is not valid */
	HTTP_CANCELLED,
};

/**
 * struct http_answer - of a server
 * @reason: why there is none, or why it is bad
 * @status: 200 and the like
 * @retry_after: seconds; 0: not given
 * @body: at most HTTP_ANSWER_MAX bytes; free it with elog_text_free()
 */
struct http_answer {
	char reason[256];
	long status;
	uint64_t retry_after;
	struct elog_text body;
};

/** http_available() - was elog built with libcurl? */
bool http_available(void);

/**
 * http_open() - load libcurl
 * @http: set to the new connection; nothing is sent yet
 * @options: outlive it
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int http_open(struct http **http, const struct http_options *options);

/** http_close() - disconnect; NULL is allowed */
void http_close(struct http *http);

/**
 * http_post() - send data, and wait for the answer
 * @http: the connection
 * @url: where to; redirections are not followed
 * @data: the data
 * @size: bytes of it
 * @answer: filled in; its body is reused
 */
enum http_result http_post(struct http *http, const char *url, const void *data, size_t size,
			   struct http_answer *answer);

/** http_cancel() - end the present request and all later ones within a second or two */
void http_cancel(struct http *http);

#endif /* HTTP_H */
