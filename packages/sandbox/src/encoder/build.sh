#!/bin/sh
# Compiles the film encoder into film-encoder.gen.ts. Only a change of the encoder needs this: the result is committed.
#
#     src/sandbox/encoder/build.sh <clone of github.com/lieff/minih264>
#
# Needs clang and wasm-ld of LLVM 19. CLANG names another clang; another version makes different code, but the same
# films. With PLAIN=1 the encoder is minih264's plain C. That build is for the hash in film-encoder.spec.ts and must not
# be committed.
set -eu
COMMIT=b0baea7a80ef9d12da97301dd1099b8791b5ba43
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git -C "${1:?Name the clone of minih264.}" show "$COMMIT:minih264e.h" > "$work/minih264e.h"
"${CLANG:-clang-19}" ${PLAIN:+-DPLAIN} --target=wasm32 -O3 -msimd128 -mbulk-memory -nostdlib -I"$here/include" -I"$work" -Wno-everything \
  -Wl,--no-entry -Wl,--strip-all -Wl,-z,stack-size=262144 "$here/film-encoder.c" -o "$work/film-encoder.wasm"
{
  echo '/** Written by build.sh from film-encoder.c. In base64, so that it is found in src, in dist and in tests alike. */'
  echo "export const FILM_ENCODER = '$(base64 -w 0 "$work/film-encoder.wasm")';"
} > "$here/film-encoder.gen.ts"
