#!/bin/sh
# Writes the bytes of the image, all layers together.
set -eu
cd "$(dirname "$0")"
. ./buildah.sh
build_tool images --json "$image" | sed -n 's/.*"size": "\([0-9.]*\) \([MG]\)B".*/\1 \2/p' |
  awk '{ printf "%d\n", $1 * ($2 == "G" ? 1e9 : 1e6) }' | grep .
