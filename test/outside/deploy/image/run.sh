#!/bin/sh
# Runs a command in a folder with the file system of an image, as Kubernetes does with the chart: as user 1000 without any
# capability, on a read-only root, with a writable /tmp. It has the network of this machine. Must be root.
#   run.sh <folder> <working directory> <command> …
set -eu
[ "${IN_NAMESPACE:-}" ] || IN_NAMESPACE=1 exec unshare --mount --propagation private "$0" "$@"
root=$1 directory=$2
shift 2
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
unset IN_NAMESPACE
exec chroot "$root" setpriv --reuid=1000 --regid=1000 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs \
  sh -c 'cd "$0" && exec "$@"' "$directory" "$@"
