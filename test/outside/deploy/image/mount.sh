#!/bin/sh
# Writes the folder of a container of the image, then what buildah knows about the image, as JSON. `mount.sh --remove` removes the container.
set -eu
cd "$(dirname "$0")"
. ./buildah.sh
name=darkroom-test

build_tool rm "$name" >/dev/null 2>&1 || true
[ "${1:-}" != --remove ] || exit 0
build_tool from --quiet --pull-never --name "$name" "$image" >/dev/null
build_tool mount "$name"
build_tool inspect --type image "$image"
