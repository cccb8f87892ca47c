// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registering an event that the command line describes: see register.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/register.h"

/* Remove the backslash before each escaped character, as in globs. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		text += *text == '\\' && text[1];
		*to++ = *text;
	}
	*to = '\0';
}

bool split_name(const char *text, char **provider, const char **event)
{
	const char *slash = find_slash(text);

	*provider = NULL;
	*event = text;
	if (!*slash)
		return true;
	*event = slash + 1;
	*provider = strndup(text, (size_t)(slash - text));
	if (!*provider) {
		elog_error("out of memory");
		return false;
	}
	unescape(*provider);
	return true;
}

int name_event(const struct options *options, const char *title,
	       char **provider, struct registration *registration)
{
	if (!split_name(title, provider, &registration->name))
		return -ENOMEM;
	if (*provider && options->provider) {
		elog_error("'%s' names a provider, and so does --provider", title);
		return -EINVAL;
	}
	registration->title = title;
	registration->provider = *provider ? *provider : options->provider;
	return 0;
}

/* The kernel's names of the types "string" and "bytes". */
static void put_fields(struct elog_text *text, const char *fields)
{
	static const struct {
		const char *type;
		const char *known;
	} types[] = {
		{ "string", "__data_loc char[]" }, { "bytes", "__data_loc unsigned char[]" },
	};
	size_t blanks, size, i;

	while (*fields) {
		blanks = strspn(fields, " \t\n");
		elog_text_put(text, fields, blanks);
		fields += blanks;
		size = strcspn(fields, " \t\n;");
		for (i = 0; i < ARRAY_SIZE(types); i++)
			if (strlen(types[i].type) == size &&
			    !strncmp(types[i].type, fields, size))
				break;
		if (i < ARRAY_SIZE(types)) {
			elog_text_string(text, types[i].known);
			fields += size;
		}
		size = strcspn(fields, ";");
		size += fields[size] == ';';
		elog_text_put(text, fields, size);
		fields += size;
	}
}

static int try_register(struct elog_producer *producer,
			const struct registration *registration,
			const char *fields, unsigned int flags,
			struct elog_event **event)
{
	struct elog_text command = { 0 };
	int ret;

	elog_text_printf(&command, "%s ", registration->name);
	put_fields(&command, fields);
	ret = command.error;
	if (!ret)
		ret = elog_event_register(producer, registration->provider,
					  command.data, registration->level,
					  registration->keywords, flags, event);
	elog_text_free(&command);
	/* The library would try again later. */
	if (!ret && elog_event_error(*event)) {
		ret = elog_event_error(*event);
		elog_event_unregister(*event);
	}
	return ret;
}

/* Does the kernel accept an event with these fields? Register it for a moment. */
static bool is_acceptable(struct elog_producer *producer,
			  const struct registration *registration,
			  const char *fields)
{
	struct elog_event *event;
	int ret = try_register(producer, registration, fields, 0, &event);

	if (!ret)
		elog_event_unregister(event);
	return ret != -EINVAL;
}

static void explain_invalid(struct elog_producer *producer,
			    const struct registration *registration)
{
	char *fields, *field, *position;

	if (!is_acceptable(producer, registration, "")) {
		elog_error("'%s': invalid name of an event or provider",
			   registration->title);
		elog_hint("names have 1 to 255 printable ASCII characters");
		return;
	}
	fields = strdup(registration->fields);
	position = fields;
	while (position && (field = strsep(&position, ";"))) {
		field += strspn(field, " \t\n");
		if (is_acceptable(producer, registration, field))
			continue;
		elog_error("the kernel does not understand the field '%s'", field);
		elog_hint("a field is TYPE NAME; types: u8 u16 u32 u64 s8 s16 s32 s64, string, bytes, "
			  "char[N], unsigned char[N], struct NAME FIELD SIZE");
		free(fields);
		return;
	}
	free(fields);
	elog_error("the kernel does not understand the fields '%s'",
		   registration->fields);
	elog_hint("fields are separated by semicolons and have different names");
}

/* Without the right to keep an event, or because the name is the kernel's. */
static void explain_denied(struct elog_producer *producer,
			   const struct registration *registration)
{
	struct elog_event *event;
	int ret = try_register(producer, registration, registration->fields, 0, &event);

	if (!ret)
		elog_event_unregister(event);
	if (ret == -EPERM)
		elog_error("'%s': the name of this provider belongs to the kernel",
			   registration->title);
	else
		explain_device_error(-EPERM, PURPOSE_ADMINISTER);
}

int register_event(struct elog_producer *producer,
		   const struct registration *registration,
		   struct elog_event **event)
{
	return try_register(producer, registration, registration->fields, registration->flags,
			    event);
}

void explain_registration(struct elog_producer *producer,
			  const struct registration *registration, int error)
{
	if (error == -EINVAL)
		explain_invalid(producer, registration);
	else if (error == -E2BIG)
		elog_error("the fields are too many or too large");
	else if (error == -ENOSPC)
		elog_error("the kernel has reached its limit of events");
	else if (error == -EDQUOT)
		elog_error("this user has reached a limit of the kernel module: see elog info");
	else if (error == -EPERM)
		explain_denied(producer, registration);
	else
		elog_error("the kernel rejected the event: %s", strerror(-error));
}
