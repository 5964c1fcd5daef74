# Shell function for the scripts beside this file: buildah without a daemon, a mount or a user namespace.
# shellcheck shell=sh
work=${IMAGE_WORK:-/tmp/darkroom-image}
base=docker.io/library/node:24-bookworm-slim
image=localhost/darkroom:test

mkdir -p "$work"
build_tool() {
  BUILDAH_ISOLATION=chroot buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run" "$@"
}
