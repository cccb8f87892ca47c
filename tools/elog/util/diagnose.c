// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why the device cannot be used, and the command that helps.
 *
 * Only reads: the module's directories, owner and mode of the device, and the rights of
 * the process.
 */
#include <dirent.h>
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

#include "libelog/util/abi.h"
#include "libelog/util/port.h"
#include "util/tool.h"

#define MODULE_DIRECTORY	"/sys/module/eventlog"
#define DEVICE_NUMBER		"/sys/class/misc/eventlog/dev"

const char *as_root(void)
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

/* The path of elog; empty if it is not known. */
static void read_own_path(char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

	path[length > 0 ? length : 0] = '\0';
}

/* Was elog built in a source tree, as TREE/build/tools/elog? Cut @path to TREE. */
static bool find_tree(char path[PATH_MAX])
{
	static const char tail[] = "/build/tools/elog";
	const size_t tail_length = strlen(tail);
	size_t length;

	read_own_path(path);
	length = strlen(path);
	if (length <= tail_length || strcmp(path + length - tail_length, tail))
		return false;
	path[length - tail_length] = '\0';
	return true;
}

/* Are there sources of the module for DKMS, in /usr/src/eventlog-VERSION? */
static bool has_dkms_sources(void)
{
	struct dirent *entry;
	bool found = false;
	DIR *directory;

	directory = opendir("/usr/src");
	while (directory && !found && (entry = readdir(directory)))
		found = !strncmp(entry->d_name, "eventlog-", strlen("eventlog-"));
	if (directory)
		closedir(directory);
	return found;
}

/* The module is not loaded, and modprobe does not find it: it depends on who installed elog. */
static void explain_missing(const char *release)
{
	char path[PATH_MAX], module[PATH_MAX];
	const char *root = as_root();

	if (find_tree(path)) {
		if (snprintf(module, sizeof(module), "%s/build/%s/eventlog.ko", path, release) <
		    (int)sizeof(module) && !access(module, R_OK))
			elog_hint("run: %sinsmod %s", root, module);
		else
			elog_hint("it is not built for kernel %s: make -C %s module && "
				  "%sinsmod %s/build/%s/eventlog.ko", release, path, root, path,
				  release);
		return;
	}
	if (has_dkms_sources()) {
		elog_hint("DKMS has not built it for kernel %s: %sapt install "
			  "linux-headers-%s && %sdkms autoinstall && %smodprobe eventlog",
			  release, root, release, root, root);
		return;
	}
	read_own_path(path);
	if (!strncmp(path, "/usr/bin/", strlen("/usr/bin/")))
		elog_hint("it is in another package: %sapt install eventlog-dkms linux-headers-%s",
			  root, release);
	else
		elog_hint("it is not installed for kernel %s: in the source tree run: make module "
			  "&& %smake install-module && %smodprobe eventlog", release, root, root);
}

/* What works without the module; only if the user does not want a certain device. */
static void hint_engine(void)
{
#ifdef ELOG_ENGINE
	if (!elog_device_chosen(NULL))
		elog_hint("events of programs can be captured without it: elog capture -- COMMAND");
#endif
}

static void explain_absence(void)
{
	static const char instances[] = EVENTLOG_DEVICE "-";
	const char *device = elog_device_path(NULL);
	unsigned int major, minor;
	struct utsname kernel;
	struct stat node;
	FILE *file;

	if (!stat(device, &node) && S_ISSOCK(node.st_mode)) {
		elog_error("%s: its engine has ended", device);
		return;
	}
	if (!access(MODULE_DIRECTORY, F_OK) && !access(device, F_OK)) {
		elog_error("%s: its instance was deleted", device);
		return;
	}
	if (!access(MODULE_DIRECTORY, F_OK)) {
		elog_error("the kernel module eventlog is loaded, but there is no %s", device);
		if (!strncmp(device, instances, strlen(instances)))
			elog_hint("elog create --instance %s makes it",
				  device + strlen(instances));
		/* The device node of an instance has another number. */
		file = strcmp(device, EVENTLOG_DEVICE) ? NULL : fopen(DEVICE_NUMBER, "re");
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
	else
		explain_missing(kernel.release);
	hint_engine();
}

/* What needs a capability: the subject and the verb of a sentence. */
static const struct privileged {
	const char *what;
	const char *verb;
} privileged[] = {
	[PURPOSE_QUERY] = { NULL, NULL },
	[PURPOSE_PRODUCE] = { NULL, NULL },
	[PURPOSE_CONSUME] = { "subscribing", "needs" },
	[PURPOSE_ADMINISTER] = { "persistent events", "need" },
	[PURPOSE_MARKERS] = { "markers", "need" },
	[PURPOSE_INSTANCES] = { "listing instances", "needs" },
};

static void explain_mode(enum purpose purpose)
{
	struct passwd *user;
	struct group *group;
	struct stat status;

	if (stat(elog_device_path(NULL), &status)) {
		elog_error("%s: permission denied", elog_device_path(NULL));
		return;
	}
	user = getpwuid(status.st_uid);
	group = getgrgid(status.st_gid);
	elog_error("%s: permission denied: its owner is %s:%s, its mode %04o",
		   elog_device_path(NULL), user ? user->pw_name : "?",
		   group ? group->gr_name : "?", status.st_mode & 07777);
	if (status.st_gid && (status.st_mode & 0060) == 0060 && group) {
		user = getpwuid(geteuid());
		elog_hint("join the group: sudo usermod -a -G %s %s, and log in again",
			  group->gr_name, user ? user->pw_name : "USER");
	} else {
		elog_hint("run elog as root, with sudo, or open the device to a group: "
			  "sudo chgrp GROUP %s && sudo chmod 0660 %s",
			  elog_device_path(NULL), elog_device_path(NULL));
	}
	if (privileged[purpose].what)
		elog_hint("%s also %s the capability CAP_PERFMON", privileged[purpose].what,
			  privileged[purpose].verb);
}

static void explain_capability(enum purpose purpose)
{
	const struct privileged *action = &privileged[purpose];
	char own[PATH_MAX];

	read_own_path(own);
	elog_error("%s %s the capability CAP_PERFMON (or CAP_SYS_ADMIN)",
		   action->what ? action->what : "this", action->what ? action->verb : "needs");
	elog_hint("run elog as root, with sudo, or give it the capability: "
		  "sudo setcap cap_perfmon+ep %s", *own ? own : "elog");
}

/*
 * The kernel creates no thread in a process that has another time namespace than its
 * children will have.
 */
static bool is_between_time_namespaces(void)
{
	struct stat own, children;

	return !stat("/proc/self/ns/time", &own) &&
	       !stat("/proc/self/ns/time_for_children", &children) &&
	       own.st_ino != children.st_ino;
}

/* Module and elog have different ABI versions: which one is older? */
static void explain_abi(void)
{
	struct eventlog_info info = { .size = sizeof(info) };
	int fd = open(elog_device_path(NULL), O_RDWR | O_CLOEXEC);
	int ret = fd < 0 ? -errno : elog_device_info(fd, &info);

	if (fd >= 0)
		close(fd);
	if (ret) {
		elog_error("%s: %s", elog_device_path(NULL), strerror(-ret));
		return;
	}
	if (info.abi > EVENTLOG_ABI_VERSION) {
		elog_error("this elog %s (ABI %u) is older than the kernel module %s (ABI %u): "
			   "update elog", tool_version(), EVENTLOG_ABI_VERSION,
			   info.release, info.abi);
		return;
	}
	elog_error("the kernel module %s (ABI %u) is older than this elog %s (ABI %u): "
		   "update the module", info.release, info.abi, tool_version(),
		   EVENTLOG_ABI_VERSION);
	elog_hint("if a newer one is installed, load it: %smodprobe -r eventlog_user_events eventlog "
		  "&& %smodprobe eventlog", as_root(), as_root());
}

/* Otherwise this process has too many open files, or had until it has closed some. */
static bool has_all_subscribers(void)
{
	struct eventlog_info info = { .size = sizeof(info) };
	const int fd = elog_device_open(NULL);
	const bool full = fd >= 0 && !elog_device_info(fd, &info) &&
			  info.subscribers >= info.subscribers_max;

	if (fd >= 0)
		elog_port_close(fd);
	return full;
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
		elog_error("%s is not the device of eventlog", elog_device_path(NULL));
		break;
	case -EMFILE:
		if (purpose == PURPOSE_CONSUME && has_all_subscribers()) {
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
	case -EINVAL:
		if (!is_between_time_namespaces())
			goto other;
		elog_error("cannot create a thread between two time namespaces");
		elog_hint("start elog in a child of unshare: unshare -T -f elog ...");
		break;
	case -EPROTONOSUPPORT:
		explain_abi();
		break;
	case -ESHUTDOWN:
		elog_error("the kernel module is being replaced: try again in a moment");
		break;
	case -EPROTO:
		elog_error("this elog does not know the version of the kernel module");
		elog_hint("use the elog that belongs to the module");
		break;
	default:
	other:
		elog_error("%s: %s", elog_device_path(NULL), strerror(-error));
		break;
	}
}

void explain_restriction(int fd)
{
	struct eventlog_info info = { .size = sizeof(info) };

	if (!elog_device_info(fd, &info) && info.restricted)
		elog_error("events of other users are not shown: this needs the capability "
			   "CAP_PERFMON (or CAP_SYS_ADMIN)");
}
