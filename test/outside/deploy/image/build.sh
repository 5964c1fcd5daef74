#!/bin/sh
# Builds the image with the Dockerfile, on a stand-in for its base image where no registry of images can be reached.
set -eu
cd "$(dirname "$0")"
. ./buildah.sh
./base.sh
build_tool bud --quiet --format docker --layers=false --tag "$image" --file ../../../../Dockerfile ../../../..
build_tool images "$image"
