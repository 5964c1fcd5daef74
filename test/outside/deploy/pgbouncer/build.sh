#!/bin/sh
# Builds PgBouncer 1.24 from the sources of Debian 13 into /opt/pgbouncer, on an older Debian. Must be root.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p lists/partial
echo 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main' > trixie.list
from_trixie() {
  apt-get -o Dir::Etc::sourcelist="$work/trixie.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$work/lists" \
    -o APT::Sandbox::User=root "$@"
}
from_trixie update
from_trixie source --download-only pgbouncer
apt-get install -y --no-install-recommends gcc make pkg-config libevent-dev libssl-dev
mkdir source
tar xf pgbouncer_*.orig.tar.gz -C source --strip-components=1
cd source
./configure --prefix=/opt/pgbouncer --without-cares
make
make install
