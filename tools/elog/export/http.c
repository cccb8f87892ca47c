// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends data to a web server: see http.h.
 */
#include "export/http.h"

#ifdef ELOG_CURL
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* With a macro of curl.h, these names would take arguments. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

/* The functions of libcurl that are needed. */
#define FUNCTIONS(take)								\
	take(curl_global_init) take(curl_easy_init) take(curl_easy_cleanup)	\
	take(curl_easy_setopt) take(curl_easy_getinfo) take(curl_easy_perform)	\
	take(curl_easy_strerror) take(curl_slist_append) take(curl_slist_free_all)

#define MEMBER(name)	typeof(&name) name;

/*
 * struct http - a connection
 * @curl: its functions
 * @easy: its state
 * @headers: of each request
 * @answer: to the present request
 * @cancelled: by http_cancel()
 */
struct http {
	struct { FUNCTIONS(MEMBER) } curl;
	CURL *easy;
	struct curl_slist *headers;
	struct http_answer *answer;
	atomic_bool cancelled;
	char error[CURL_ERROR_SIZE];
};

bool http_available(void)
{
	return true;
}

/* The library stays in the process. */
static int load_curl(struct http *http)
{
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };
	void *library = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		elog_error("cannot load libcurl: %s", dlerror());
		return -ENOENT;
	}
#define FIND(name)								\
	http->curl.name = (typeof(&name))dlsym(library, #name);			\
	if (!http->curl.name) {							\
		elog_error("libcurl is too old: it has no " #name "()");	\
		return -ENOSYS;							\
	}
	FUNCTIONS(FIND)
#undef FIND
	return 0;
}

/* Return: 0: the answer is too long, which ends the request. */
static size_t take_answer(char *data, size_t size, size_t count, void *context)
{
	struct http *http = context;
	struct elog_text *body = &http->answer->body;

	if (body->size + size * count > HTTP_ANSWER_MAX)
		return 0;
	elog_text_put(body, data, size * count);
	return body->error ? 0 : size * count;
}

/* libcurl calls this at least once a second. */
static int check_cancelled(void *context, curl_off_t download_size, curl_off_t downloaded,
			   curl_off_t upload_size, curl_off_t uploaded)
{
	struct http *http = context;

	(void)download_size;
	(void)downloaded;
	(void)upload_size;
	(void)uploaded;
	return atomic_load(&http->cancelled);
}

static int add_header(struct http *http, const char *header)
{
	struct curl_slist *list = http->curl.curl_slist_append(http->headers, header);

	if (!list)
		return -ENOMEM;
	http->headers = list;
	return 0;
}

static int add_headers(struct http *http, const struct http_options *options)
{
	char agent[128];
	size_t i;
	int ret;

	snprintf(agent, sizeof(agent), "User-Agent: elog/%s", tool_version());
	/* Do not wait for a permission to send the data. */
	ret = add_header(http, "Expect:") ? : add_header(http, agent);
	for (i = 0; !ret && i < options->header_count; i++)
		ret = add_header(http, options->headers[i]);
	return ret;
}

#define SET(option, value) http->curl.curl_easy_setopt(http->easy, option, value)

static int configure(struct http *http, const struct http_options *options)
{
	CURLcode ret;

	ret = SET(CURLOPT_POST, 1L);
	ret = ret ? : SET(CURLOPT_HTTPHEADER, http->headers);
	ret = ret ? : SET(CURLOPT_NOSIGNAL, 1L);
	ret = ret ? : SET(CURLOPT_TIMEOUT_MS, (long)options->timeout);
	ret = ret ? : SET(CURLOPT_CONNECTTIMEOUT_MS, (long)options->timeout);
	ret = ret ? : SET(CURLOPT_FOLLOWLOCATION, 0L);
	ret = ret ? : SET(CURLOPT_WRITEFUNCTION, take_answer);
	ret = ret ? : SET(CURLOPT_WRITEDATA, http);
	ret = ret ? : SET(CURLOPT_NOPROGRESS, 0L);
	ret = ret ? : SET(CURLOPT_XFERINFOFUNCTION, check_cancelled);
	ret = ret ? : SET(CURLOPT_XFERINFODATA, http);
	ret = ret ? : SET(CURLOPT_ERRORBUFFER, http->error);
	/* What is NULL here keeps its default. Without TLS, libcurl knows none of these. */
	if (options->ca)
		ret = ret ? : SET(CURLOPT_CAINFO, options->ca);
	if (options->certificate)
		ret = ret ? : SET(CURLOPT_SSLCERT, options->certificate);
	if (options->key)
		ret = ret ? : SET(CURLOPT_SSLKEY, options->key);
	if (!ret)
		return 0;
	elog_error("libcurl: %s", http->curl.curl_easy_strerror(ret));
	return -EINVAL;
}

int http_open(struct http **result, const struct http_options *options)
{
	struct http *http = calloc(1, sizeof(*http));
	int ret = -ENOMEM;

	if (!http)
		goto out;
	ret = load_curl(http);
	if (ret)
		goto out;
	ret = -ENOMEM;
	if (http->curl.curl_global_init(CURL_GLOBAL_ALL))
		goto out;
	http->easy = http->curl.curl_easy_init();
	if (!http->easy || add_headers(http, options))
		goto out;
	ret = configure(http, options);
	if (ret)
		goto out;
	*result = http;
	return 0;
out:
	if (ret == -ENOMEM)
		elog_error("out of memory");
	http_close(http);
	return ret;
}

void http_close(struct http *http)
{
	if (!http)
		return;
	if (http->easy)
		http->curl.curl_easy_cleanup(http->easy);
	if (http->headers)
		http->curl.curl_slist_free_all(http->headers);
	free(http);
}

static enum http_result judge(struct http *http, CURLcode code)
{
	struct http_answer *answer = http->answer;

	switch (code) {
	case CURLE_OK:
		return HTTP_ANSWERED;
	case CURLE_ABORTED_BY_CALLBACK:
		return HTTP_CANCELLED;
	case CURLE_WRITE_ERROR:
		snprintf(answer->reason, sizeof(answer->reason),
			 "the answer has more than %u bytes", HTTP_ANSWER_MAX);
		return HTTP_BAD_ANSWER;
	default:
		break;
	}
	snprintf(answer->reason, sizeof(answer->reason), "%s",
		 *http->error ? http->error : http->curl.curl_easy_strerror(code));
	switch (code) {
	case CURLE_OUT_OF_MEMORY:
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_URL_MALFORMAT:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_ENGINE_NOTFOUND:
		return HTTP_IMPOSSIBLE;
	default:
		return HTTP_NO_ANSWER;
	}
}

enum http_result http_post(struct http *http, const char *url, const void *data, size_t size,
			   struct http_answer *answer)
{
	curl_off_t retry_after = 0;
	CURLcode code;

	http->answer = answer;
	*http->error = '\0';
	*answer->reason = '\0';
	answer->status = 0;
	answer->retry_after = 0;
	answer->body.size = 0;
	if (atomic_load(&http->cancelled))
		return HTTP_CANCELLED;
	code = SET(CURLOPT_URL, url);
	code = code ? : SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
	code = code ? : SET(CURLOPT_POSTFIELDS, data);
	code = code ? : http->curl.curl_easy_perform(http->easy);
	if (!code) {
		http->curl.curl_easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &answer->status);
		http->curl.curl_easy_getinfo(http->easy, CURLINFO_RETRY_AFTER, &retry_after);
	}
	if (retry_after > 0)
		answer->retry_after = (uint64_t)retry_after;
	return judge(http, code);
}

void http_cancel(struct http *http)
{
	atomic_store(&http->cancelled, true);
}
#else
#include <errno.h>

bool http_available(void)
{
	return false;
}

int http_open(struct http **http, const struct http_options *options)
{
	(void)options;
	*http = NULL;
	elog_error("this elog was built without libcurl");
	return -ENOSYS;
}

void http_close(struct http *http)
{
	(void)http;
}

enum http_result http_post(struct http *http, const char *url, const void *data, size_t size,
			   struct http_answer *answer)
{
	(void)http;
	(void)url;
	(void)data;
	(void)size;
	(void)answer;
	return HTTP_IMPOSSIBLE;
}

void http_cancel(struct http *http)
{
	(void)http;
}
#endif
