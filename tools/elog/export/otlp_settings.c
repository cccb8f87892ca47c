// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where and how an export to OpenTelemetry sends: see otlp_settings.h.
 *
 * No message contains a value of the environment: it may be a password.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/otlp_settings.h"
#include "util/array.h"

#define TIMEOUT_MS	10000

static const char headers_name[] = "OTEL_EXPORTER_OTLP_HEADERS";
static const char attributes_name[] = "OTEL_RESOURCE_ATTRIBUTES";

/* Return: the variable; NULL also if it is empty, as OpenTelemetry says. */
static const char *environment(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* ------------------------------------------------------------------------
 * The URL
 */

/* Return: what is wrong with it, or NULL. */
static const char *check_url(const char *url)
{
	const char *host, *c;

	if (!strncasecmp(url, "http://", strlen("http://")))
		host = url + strlen("http://");
	else if (!strncasecmp(url, "https://", strlen("https://")))
		host = url + strlen("https://");
	else
		return "must be http://HOST[:PORT][/PATH] or https://...";
	for (c = url; *c; c++)
		if (!isgraph((unsigned char)*c))
			return "must not contain blanks or control characters";
	if (memchr(host, '@', strcspn(host, "/")))
		return "must not contain a password: set OTEL_EXPORTER_OTLP_HEADERS instead";
	if (!strcspn(host, "/"))
		return "has no host";
	return strpbrk(host, "?#") ? "must not contain '?' or '#'" : NULL;
}

static int set_urls(struct otlp_settings *settings, const char *url)
{
	static const char *const paths[OTLP_SIGNALS] = { "/v1/logs", "/v1/traces" };
	const char *error = check_url(url);
	size_t size = strlen(url), i;

	if (error) {
		elog_error("--otlp: the URL %s", error);
		return -EINVAL;
	}
	while (url[size - 1] == '/')
		size--;
	for (i = 0; i < OTLP_SIGNALS; i++) {
		if (asprintf(&settings->urls[i], "%.*s%s", (int)size, url, paths[i]) < 0) {
			settings->urls[i] = NULL;
			return -ENOMEM;
		}
	}
	return 0;
}

/* ------------------------------------------------------------------------
 * Lists: NAME=VALUE,NAME=VALUE, with %XX for other characters
 */

static int digit_value(char digit)
{
	return isdigit((unsigned char)digit) ? digit - '0' :
	       isxdigit((unsigned char)digit) ? tolower((unsigned char)digit) - 'a' + 10 : -1;
}

/* Copy without blanks around it, and replace %XX. Return: NULL: no memory. */
static char *decode(const char *from, size_t size)
{
	char *text, *to;

	while (size && isblank((unsigned char)*from)) {
		from++;
		size--;
	}
	while (size && isblank((unsigned char)from[size - 1]))
		size--;
	text = malloc(size + 1);
	if (!text)
		return NULL;
	for (to = text; size; size--, from++) {
		if (*from == '%' && size > 2 && digit_value(from[1]) >= 0 &&
		    digit_value(from[2]) >= 0) {
			*to++ = (char)(digit_value(from[1]) << 4 | digit_value(from[2]));
			from += 2;
			size -= 2;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
	return text;
}

static int add_pair(struct otlp_pair **pairs, size_t *count, const char *name,
		    size_t name_size, const char *value, size_t value_size)
{
	struct otlp_pair *larger = array_grow(*pairs, *count, sizeof(*larger));
	struct otlp_pair *pair;

	if (!larger)
		return -ENOMEM;
	*pairs = larger;
	pair = &larger[*count];
	pair->name = decode(name, name_size);
	pair->value = decode(value, value_size);
	if (pair->name && pair->value) {
		(*count)++;
		return 0;
	}
	free(pair->name);
	free(pair->value);
	return -ENOMEM;
}

static int invalid(const char *variable, const char *must)
{
	elog_error("%s: %s", variable, must);
	return -EINVAL;
}

static int read_pairs(const char *variable, struct otlp_pair **pairs, size_t *count)
{
	const char *at = environment(variable), *end, *equals;
	int ret = 0;

	for (; !ret && at && *at; at = *end ? end + 1 : end) {
		end = strchrnul(at, ',');
		if (at + strspn(at, " \t") >= end)
			continue;
		equals = memchr(at, '=', (size_t)(end - at));
		if (!equals || equals == at)
			return invalid(variable, "must be NAME=VALUE,...");
		ret = add_pair(pairs, count, at, (size_t)(equals - at), equals + 1,
			       (size_t)(end - equals - 1));
	}
	return ret;
}

static void free_pairs(struct otlp_pair *pairs, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		free(pairs[i].name);
		free(pairs[i].value);
	}
	free(pairs);
}

/* ------------------------------------------------------------------------
 * The environment
 */

/* A line break would begin another header. */
static bool is_header(const struct otlp_pair *pair)
{
	const char *c;

	for (c = pair->name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("!#$%&'*+-.^_`|~", *c))
			return false;
	for (c = pair->value; *c; c++)
		if (iscntrl((unsigned char)*c) && *c != '\t')
			return false;
	return *pair->name;
}

static int add_header(struct otlp_settings *settings, const char *name, const char *value)
{
	struct http_options *http = &settings->http;
	char **larger = array_grow(http->headers, http->header_count, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	http->headers = larger;
	/* This is how libcurl wants a header without a value. */
	if (asprintf(&larger[http->header_count], "%s%s%s", name, *value ? ": " : ";",
		     value) < 0)
		return -ENOMEM;
	http->header_count++;
	return 0;
}

static int read_headers(struct otlp_settings *settings)
{
	int ret;
	size_t i;

	ret = add_header(settings, "Content-Type", "application/x-protobuf");
	if (!ret && settings->gzip)
		ret = add_header(settings, "Content-Encoding", "gzip");
	if (!ret)
		ret = read_pairs(headers_name, &settings->secrets, &settings->secret_count);
	for (i = 0; !ret && i < settings->secret_count; i++) {
		if (!is_header(&settings->secrets[i]))
			return invalid(headers_name, "has a name or a value that is no header");
		ret = add_header(settings, settings->secrets[i].name, settings->secrets[i].value);
	}
	return ret;
}

static int read_attributes(struct otlp_settings *settings)
{
	const char *service = environment("OTEL_SERVICE_NAME");
	int ret = 0;

	if (service)
		ret = add_pair(&settings->attributes, &settings->attribute_count, "service.name",
			       strlen("service.name"), service, strlen(service));
	return ret ? : read_pairs(attributes_name, &settings->attributes,
				  &settings->attribute_count);
}

static int read_timeout(struct otlp_settings *settings)
{
	static const char name[] = "OTEL_EXPORTER_OTLP_TIMEOUT";
	const char *text = environment(name);
	uint64_t value = TIMEOUT_MS;

	if (text && (!parse_unsigned(text, INT32_MAX, &value) || !value))
		return invalid(name, "must be a number of milliseconds, from 1");
	settings->http.timeout = (uint32_t)value;
	return 0;
}

static int read_compression(struct otlp_settings *settings)
{
	static const char name[] = "OTEL_EXPORTER_OTLP_COMPRESSION";
	const char *text = environment(name);

	if (text && strcmp(text, "gzip") && strcmp(text, "none"))
		return invalid(name, "must be gzip or none");
	settings->gzip = !text || !strcmp(text, "gzip");
	return 0;
}

int otlp_settings_read(struct otlp_settings *settings, const char *url)
{
	int ret;

	memset(settings, 0, sizeof(*settings));
	if (!http_available()) {
		elog_error("--otlp: this elog was built without libcurl");
		return -ENOSYS;
	}
	settings->http.ca = environment("OTEL_EXPORTER_OTLP_CERTIFICATE");
	settings->http.certificate = environment("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE");
	settings->http.key = environment("OTEL_EXPORTER_OTLP_CLIENT_KEY");
	ret = set_urls(settings, url);
	ret = ret ? : read_timeout(settings);
	ret = ret ? : read_compression(settings);
	ret = ret ? : read_headers(settings);
	ret = ret ? : read_attributes(settings);
	if (ret == -ENOMEM)
		elog_error("out of memory");
	return ret;
}

void otlp_settings_free(struct otlp_settings *settings)
{
	size_t i;

	for (i = 0; i < OTLP_SIGNALS; i++)
		free(settings->urls[i]);
	for (i = 0; i < settings->http.header_count; i++)
		free(settings->http.headers[i]);
	free(settings->http.headers);
	free_pairs(settings->attributes, settings->attribute_count);
	free_pairs(settings->secrets, settings->secret_count);
	memset(settings, 0, sizeof(*settings));
}

bool otlp_settings_has(const struct otlp_settings *settings, const char *name)
{
	size_t i;

	for (i = 0; i < settings->attribute_count; i++)
		if (!strcmp(settings->attributes[i].name, name))
			return true;
	return false;
}
