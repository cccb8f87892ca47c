#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kernel_test - scripts/kernel imports a kernel with sanitizers into its cache. Prints TAP.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
export EVENTLOG_CACHE=$work/cache
PATH=$PATH:/usr/sbin:/sbin

kernel()
{
	"$top/scripts/kernel" "$@"
}

fails()
{
	! "$@"
}

mkdir -p "$work/tree/include/config"
echo 6.12.1-test > "$work/tree/include/config/kernel.release"
printf 'CONFIG_%s=y\n' VIRTIO_PCI VIRTIO_CONSOLE 9P_FS OVERLAY_FS \
	> "$work/tree/include/config/auto.conf"
tar -C "$work/tree" -czf "$work/no_driver.tar.gz" .
echo CONFIG_NET_9P_VIRTIO=y >> "$work/tree/include/config/auto.conf"
tar -C "$work/tree" -czf "$work/tree.tar.gz" .
tar -czf "$work/empty.tar.gz" -T /dev/null
echo image > "$work/image"

refuses_stock() { fails kernel import 6.12 "$work/image" "$work/tree.tar.gz"; }
refuses_tree() { fails kernel import 6.12-kasan "$work/image" "$work/empty.tar.gz"; }
refuses_image() { fails kernel import 6.12-kasan "$work/none" "$work/tree.tar.gz"; }
refuses_no_driver() { fails kernel import 6.12-kasan "$work/image" "$work/no_driver.tar.gz"; }
leaves_nothing() { fails kernel cached 6.12-kasan && [ -z "$(ls "$work"/cache/*/)" ]; }
imports()
{
	kernel import 6.12-kasan "$work/image" "$work/tree.tar.gz" &&
		kernel cached 6.12-kasan && fails kernel cached 6.12-kcsan
}
imports_user_events()
{
	kernel import 6.12-user_events "$work/image" "$work/tree.tar.gz" &&
		[ "$(kernel release 6.12-user_events)" = 6.12.1-test ]
}
# One that is not in the cache would be built.
finds_files()
{
	kernel cached 6.12-kasan && [ "$(kernel release 6.12-kasan)" = 6.12.1-test ] &&
		cmp "$(kernel image 6.12-kasan)" "$work/image" &&
		[ -f "$(kernel headers 6.12-kasan)/include/config/kernel.release" ]
}
boots_without_modules()
{
	kernel cached 6.12-kasan &&
		modprobe -d "$(kernel dir 6.12-kasan)" -S 6.12.1-test --show-depends overlay |
			grep -qx 'builtin overlay'
}

check "a stock kernel is not imported" refuses_stock
check "an archive without a tree is refused" refuses_tree
check "a missing image is refused" refuses_image
check "a kernel without a driver that guests need is refused" refuses_no_driver
check "what was refused leaves nothing in the cache" leaves_nothing
check "a kernel is imported" imports
check "its release, image and tree are found" finds_files
check "so is one with user_events" imports_user_events
check "it needs no module to boot" boots_without_modules
end_checks
