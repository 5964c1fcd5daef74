# Shell function for the scripts beside this file: buildah without a daemon, a mount or a user namespace. For the Dockerfile's
# `COPY --exclude` it must be 1.38 or newer; Debian 12 has an older one.
# shellcheck shell=sh
work=${IMAGE_WORK:-/tmp/darkroom-image}
base=docker.io/library/node:24-bookworm-slim
image=localhost/darkroom:test

mkdir -p "$work"
# Buildah raises these limits to its own defaults, which root may not do in a container without CAP_SYS_RESOURCE.
limit() { prlimit --raw --noheadings --output HARD "--$1" | sed 's/unlimited/-1/'; }
export CONTAINERS_CONF_OVERRIDE="$work/containers.conf"
printf '[containers]\ndefault_ulimits = ["nofile=%s", "nproc=%s"]\n' "$(limit nofile)" "$(limit nproc)" >"$CONTAINERS_CONF_OVERRIDE"
build_tool() {
  BUILDAH_ISOLATION=chroot buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run" "$@"
}
