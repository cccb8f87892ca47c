/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where and how an export to OpenTelemetry sends: the URL of --otlp, and the variables of
 * the environment that all exporters of OpenTelemetry have.
 */
#ifndef OTLP_SETTINGS_H
#define OTLP_SETTINGS_H

#include "export/http.h"

/** enum otlp_signal - what OpenTelemetry calls a signal; each has a path of its own */
enum otlp_signal {
	OTLP_LOGS,
	OTLP_SPANS,
	OTLP_SIGNALS,
};

/** struct otlp_pair - a name and a value */
struct otlp_pair {
	char *name;
	char *value;
};

/**
 * struct otlp_settings - the settings
 * @urls: of each signal
 * @gzip: compress the requests
 * @http: of the connection. Its headers and files may be secret: print none of them
 * @attributes: of all resources, from the environment
 * @attribute_count: of @attributes
 * @secrets: the values of the headers of the environment
 * @secret_count: of @secrets
 */
struct otlp_settings {
	char *urls[OTLP_SIGNALS];
	bool gzip;
	struct http_options http;
	struct otlp_pair *attributes;
	size_t attribute_count;
	struct otlp_pair *secrets;
	size_t secret_count;
};

/**
 * otlp_settings_read() - read the settings
 * @settings: filled in; call otlp_settings_free() in any case
 * @url: of --otlp
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int otlp_settings_read(struct otlp_settings *settings, const char *url);

/** otlp_settings_free() - free what they have */
void otlp_settings_free(struct otlp_settings *settings);

/** otlp_settings_has() - does the environment set this attribute of resources? */
bool otlp_settings_has(const struct otlp_settings *settings, const char *name);

#endif /* OTLP_SETTINGS_H */
