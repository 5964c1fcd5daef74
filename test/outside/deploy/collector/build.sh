#!/bin/sh
# Builds an OpenTelemetry collector with only what the test needs, as `otelcol-darkroom` in the given folder. Needs Go. It takes several
# minutes. Version 0.163 and 0.164 do not build: a module of theirs is missing.
set -eu
version=v0.160.0
target=${1:?usage: build.sh <folder on the PATH>}
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cat > "$work/builder.yaml" <<YAML
dist: { name: otelcol-darkroom, output_path: $work/dist }
receivers: [{ gomod: go.opentelemetry.io/collector/receiver/otlpreceiver $version }]
exporters: [{ gomod: go.opentelemetry.io/collector/exporter/debugexporter $version }]
YAML
GOBIN="$work" go install "go.opentelemetry.io/collector/cmd/builder@$version"
"$work/builder" --config "$work/builder.yaml"
mv "$work/dist/otelcol-darkroom" "$target/"
