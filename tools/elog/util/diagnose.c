// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why the device cannot be used, and the command that helps.
 *
 * Only reads: the module's directories, owner and mode of the device, and the rights of
 * the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "util/tool.h"

#define MODULE_DIRECTORY	"/sys/module/eventlog"
#define DEVICE_NUMBER		"/sys/class/misc/eventlog/dev"

static const char *as_root(void)
{
	return geteuid() ? "sudo " : "";
}

/* Does modprobe know the module? */
static bool is_installed(const char *release)
{
	char path[PATH_MAX], *line = NULL;
	bool found = false;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && getline(&line, &size, file) > 0)
		found = !strncmp(line, "eventlog.ko", 11) ||
			strstr(line, "/eventlog.ko") != NULL;
	free(line);
	fclose(file);
	return found;
}

/*
 * Find the module in the tree that elog was built in: elog is in build/tools, the module
 * in build/RELEASE.
 */
static bool find_built(const char *release, char *path, size_t size)
{
	char own[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	unsigned int level;
	char *slash;

	if (length < 0)
		return false;
	own[length] = '\0';
	for (level = 0; level < 2; level++) {
		slash = strrchr(own, '/');
		if (!slash)
			return false;
		*slash = '\0';
	}
	return snprintf(path, size, "%s/%s/eventlog.ko", own, release) <
	       (int)size && !access(path, R_OK);
}

static void explain_absence(void)
{
	unsigned int major, minor;
	struct utsname kernel;
	char path[PATH_MAX];
	FILE *file;

	if (!access(MODULE_DIRECTORY, F_OK)) {
		elog_error("the kernel module eventlog is loaded, but there is no %s",
			   EVENTLOG_DEVICE);
		file = fopen(DEVICE_NUMBER, "re");
		if (file) {
			if (fscanf(file, "%u:%u", &major, &minor) == 2)
				elog_hint("run: %smknod -m 0600 %s c %u %u", as_root(),
					  EVENTLOG_DEVICE, major, minor);
			fclose(file);
		}
		return;
	}
	elog_error("the kernel module eventlog is not loaded");
	uname(&kernel);
	if (is_installed(kernel.release))
		elog_hint("run: %smodprobe eventlog", as_root());
	else if (find_built(kernel.release, path, sizeof(path)))
		elog_hint("run: %sinsmod %s", as_root(), path);
	else
		elog_hint("it is not installed for kernel %s: in the source tree run: "
			  "make && %sinsmod build/%s/eventlog.ko", kernel.release,
			  as_root(), kernel.release);
}

static void explain_mode(enum purpose purpose)
{
	struct passwd *user;
	struct group *group;
	struct stat status;

	if (stat(EVENTLOG_DEVICE, &status)) {
		elog_error("%s: permission denied", EVENTLOG_DEVICE);
		return;
	}
	user = getpwuid(status.st_uid);
	group = getgrgid(status.st_gid);
	elog_error("%s: permission denied: its owner is %s:%s, its mode %04o",
		   EVENTLOG_DEVICE, user ? user->pw_name : "?",
		   group ? group->gr_name : "?", status.st_mode & 07777);
	if (status.st_gid && (status.st_mode & 0060) == 0060 && group) {
		user = getpwuid(geteuid());
		elog_hint("join the group: sudo usermod -a -G %s %s, and log in again",
			  group->gr_name, user ? user->pw_name : "USER");
	} else {
		elog_hint("run elog as root, with sudo, or open the device to a group: "
			  "sudo chgrp GROUP %s && sudo chmod 0660 %s",
			  EVENTLOG_DEVICE, EVENTLOG_DEVICE);
	}
	if (purpose == PURPOSE_CONSUME)
		elog_hint("subscribing also needs the capability CAP_PERFMON");
	if (purpose == PURPOSE_ADMINISTER)
		elog_hint("persistent events also need the capability CAP_PERFMON");
}

static void explain_capability(enum purpose purpose)
{
	char own[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[length > 0 ? length : 0] = '\0';
	elog_error("%s the capability CAP_PERFMON (or CAP_SYS_ADMIN)",
		   purpose == PURPOSE_ADMINISTER ? "persistent events need" :
						 "subscribing needs");
	elog_hint("run elog as root, with sudo, or give it the capability: "
		  "sudo setcap cap_perfmon+ep %s", length > 0 ? own : "elog");
}

/* Module and elog have different ABI versions: which one is older? */
static void explain_abi(void)
{
	struct eventlog_version version = { .size = sizeof(version) };
	int fd = open(EVENTLOG_DEVICE, O_RDWR | O_CLOEXEC);
	int ret = fd < 0 ? -errno : elog_device_version(fd, &version);

	if (fd >= 0)
		close(fd);
	if (ret) {
		elog_error("%s: %s", EVENTLOG_DEVICE, strerror(-ret));
		return;
	}
	if (version.abi > EVENTLOG_ABI_VERSION) {
		elog_error("this elog %s (ABI %u) is older than the kernel module %s (ABI %u): "
			   "update elog", tool_version(), EVENTLOG_ABI_VERSION,
			   version.release, version.abi);
		return;
	}
	elog_error("the kernel module %s (ABI %u) is older than this elog %s (ABI %u): "
		   "update the module", version.release, version.abi, tool_version(),
		   EVENTLOG_ABI_VERSION);
	elog_hint("if a newer one is installed, load it: %smodprobe -r eventlog && "
		  "%smodprobe eventlog", as_root(), as_root());
}

void explain_device_error(int error, enum purpose purpose)
{
	switch (error) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		explain_absence();
		break;
	case -EACCES:
		explain_mode(purpose);
		break;
	case -EPERM:
		explain_capability(purpose);
		break;
	case -ENOTTY:
		elog_error("%s is not the device of eventlog", EVENTLOG_DEVICE);
		break;
	case -EMFILE:
		if (purpose == PURPOSE_CONSUME) {
			elog_error("there are too many subscribers");
			elog_hint("end one; elog info prints the limit");
			break;
		}
		goto other;
	case -ENOMEM:
		if (purpose == PURPOSE_CONSUME) {
			elog_error("not enough memory for the rings");
			elog_hint("use smaller rings: --per-cpu-bytes");
			break;
		}
		goto other;
	case -EPROTONOSUPPORT:
		explain_abi();
		break;
	case -EPROTO:
		elog_error("this elog does not know the version of the kernel module");
		elog_hint("use the elog that belongs to the module");
		break;
	default:
	other:
		elog_error("%s: %s", EVENTLOG_DEVICE, strerror(-error));
		break;
	}
}
