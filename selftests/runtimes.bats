#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Runtimes of containers with the device of an instance: crun, as the kubelet uses a runtime,
# and podman, with the commands of tools/doc/containers.md. Needs root and the module.

load elog.bash

setup()
{
	begin
	DIST=$TREE/tools/dist/containers
	# The programs of this machine; what belongs to the container is empty.
	mkdir -p "$work/root"/{usr,elog,proc,dev,tmp,sys,etc,run}
	for name in bin lib lib64 sbin; do
		ln -s "usr/$name" "$work/root/$name"
	done
}

teardown()
{
	end_background
	delete_instances
}

# bundle host|userns COMMAND...: writes a bundle for an OCI runtime: the device of the instance
# web as /dev/eventlog, as a device plugin asks for it. With $devices, others are forbidden.
bundle()
{
	crun spec --bundle "$work"
	python3 - "$work/config.json" "$EVENTLOG_TOOLS" "$devices" "$@" <<-'CODE'
		import json, os, sys
		name, tools, devices, user, *command = sys.argv[1:]
		with open(name) as file:
		    config = json.load(file)
		device = os.stat("/dev/eventlog-web")
		number = {"type": "c", "major": os.major(device.st_rdev),
		          "minor": os.minor(device.st_rdev)}
		config["root"] = {"path": "root", "readonly": True}
		process, linux = config["process"], config["linux"]
		process.update(terminal=False, args=command)
		process["env"].append("LD_LIBRARY_PATH=/elog")
		process["capabilities"] = {}
		for source, target in ("/usr", "/usr"), (tools, "/elog"):
		    config["mounts"].append({"destination": target, "type": "bind", "source": source,
		                             "options": ["bind", "ro"]})
		linux["devices"] = [dict(number, path="/dev/eventlog", fileMode=0o666, uid=0, gid=0)]
		linux["resources"] = {"devices": [{"allow": False, "access": "rwm"},
		                                  dict(number, allow=True, access="rw")]}
		if not int(devices):
		    del linux["resources"]
		if user == "userns":
		    linux["namespaces"].append({"type": "user"})
		    linux["uidMappings"] = linux["gidMappings"] = [
		        {"containerID": 0, "hostID": 100000, "size": 65536}]
		with open(name, "w") as file:
		    json.dump(config, file)
	CODE
}

# What each container does: it captures, and emits.
command=(/elog/elog capture -- /elog/elog emit a/one 'u32 number' number=7)

# User Mode Linux has no BPF, which the cgroups of devices need.
has_device_cgroups()
{
	grep -q ' cgroup_bpf_prog_attach$' /proc/kallsyms
}

# run_crun host|userns COMMAND...
run_crun()
{
	local options=() devices=1

	has_device_cgroups || options=(--cgroup-manager=disabled) devices=0
	bundle "$@"
	run crun "${options[@]}" --root "$work/state" run --bundle "$work" "web-$BATS_TEST_NUMBER"
	[ "$status" = 0 ]
	contains "$output" 'a - one number=7' 'elog: 1 event in' 'lost 0'
}

@test "runtimes: crun, without a user namespace and without a capability" {
	command -v crun > /dev/null || skip "there is no crun"
	"$ELOG" create --instance web --mode 666
	start_capture
	run_crun host "${command[@]}"
	# The host has seen nothing.
	stop_elog INT
	[ "$status" = 0 ]
	[ ! -s "$work/out" ]
}

@test "runtimes: crun with a user namespace, whose root owns the instance" {
	command -v crun > /dev/null || skip "there is no crun"
	"$ELOG" create --instance web --owner 100000
	run_crun userns "${command[@]}"
}

@test "runtimes: a container without the device has an engine" {
	command -v crun > /dev/null || skip "there is no crun"
	"$ELOG" create --instance web
	[ "$(stat -c %u /dev/eventlog-web)" = 0 ]
	devices=0 bundle host "${command[@]}"
	python3 - "$work/config.json" <<-'CODE'
		import json, sys
		config = json.load(open(sys.argv[1]))
		config["linux"]["devices"] = []
		config["linux"].pop("resources", None)
		json.dump(config, open(sys.argv[1], "w"))
	CODE
	run crun --cgroup-manager=disabled --root "$work/state" run --bundle "$work" none
	[ "$status" = 0 ]
	contains "$output" 'a - one number=7' 'elog: 1 event in' 'lost 0'
	contains "$output" "No such file or directory: engine " " records the events of your programs"
}

# The image of the page is not there: these are the same arguments, with a directory instead.
@test "runtimes: podman with --device" {
	command -v podman > /dev/null || skip "there is no podman"
	local arguments cgroups=()

	"$ELOG" create --instance web --mode 666
	arguments=$(sed -n 's/^host# docker run --rm \(--device [^ ]*\) elog:0.2.0 .*/\1/p' \
		"$TREE/tools/doc/containers.md")
	[ -n "$arguments" ]
	has_device_cgroups || cgroups=(--cgroups=disabled)
	printf '[storage]\ndriver = "vfs"\ngraphroot = "%s"\nrunroot = "%s"\n' \
		"$work/storage" "$work/run" > "$work/storage.conf"
	# shellcheck disable=SC2086 # two words
	run env CONTAINERS_STORAGE_CONF="$work/storage.conf" podman --runtime crun \
		--cgroup-manager cgroupfs --events-backend none run --rm "${cgroups[@]}" \
		--network none -v /usr:/usr:ro -v "$EVENTLOG_TOOLS:/elog:ro" \
		-e LD_LIBRARY_PATH=/elog $arguments --rootfs "$work/root" "${command[@]}"
	[ "$status" = 0 ]
	contains "$output" 'a - one number=7' 'elog: 1 event in' 'lost 0'
}

@test "runtimes: the unit for pods creates what the device plugin offers" {
	python3 -c 'import yaml' || skip "there is no python3-yaml"
	local commands

	# shellcheck disable=SC2016 # eval expands it
	commands=$(sed -n 's|^ExecStart=/usr/bin/elog|"$ELOG"|p' "$DIST/eventlog-pods.service")
	eval "$commands"
	# Each file that matches is one device for one pod, mounted as /dev/eventlog.
	run python3 - "$DIST/device-plugin.yaml" <<-'CODE'
		import glob, sys, yaml
		plugin, pod = yaml.safe_load_all(open(sys.argv[1]))
		container = plugin["spec"]["template"]["spec"]["containers"][0]
		domain, option, text = container["args"]
		device = yaml.safe_load(text)
		[group] = device["groups"]
		[path] = group["paths"]
		assert option == "--device" and path["mountPath"] == "/dev/eventlog", device
		resource = domain.removeprefix("--domain=") + "/" + device["name"]
		assert pod["spec"]["containers"][0]["resources"]["limits"] == {resource: 1}
		print(*sorted(glob.glob(path["path"])))
	CODE
	[ "$status" = 0 ]
	[ "$output" = "/dev/eventlog-pod0 /dev/eventlog-pod1 /dev/eventlog-pod2 /dev/eventlog-pod3" ]
	# shellcheck disable=SC2016 # eval expands it
	commands=$(sed -n 's|^ExecStopPost=-/usr/bin/elog|"$ELOG"|p' "$DIST/eventlog-pods.service")
	eval "$commands"
	[ -z "$("$ELOG" list --instances -q)" ]
}
