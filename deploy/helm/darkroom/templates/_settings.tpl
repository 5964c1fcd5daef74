{{- /* A value of YAML as the text of a setting: 5368709120, which YAML reads as a floating number, stays without an exponent. */ -}}
{{- define "darkroom.text" -}}
{{- if and (kindIs "float64" .) (eq . (float64 (int64 .))) }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- end }}

{{- define "darkroom.publicUrl" -}}
{{- if .Values.config.PUBLIC_URL }}{{ .Values.config.PUBLIC_URL }}
{{- else if .Values.ingress.enabled -}}
{{ if .Values.ingress.tlsSecret }}https{{ else }}http{{ end }}://{{ required "ingress.host is required when the ingress is enabled" .Values.ingress.host }}
{{- else }}{{ fail "Set config.PUBLIC_URL, the base of all links, or enable the ingress." }}
{{- end -}}
{{- end }}

{{- /* What cannot work is refused before anything is installed. */ -}}
{{- define "darkroom.check" -}}
{{- $names := concat (keys .Values.secret.values) .Values.secret.names -}}
{{- if not .Values.secret.existingSecret -}}
{{- range list "DATABASE_URL" "SECRET_KEY" -}}
{{- if not (get $.Values.secret.values .) }}{{ fail (printf "Set secret.values.%s, or secret.existingSecret." .) }}{{ end -}}
{{- end -}}
{{- else if .Values.secret.values }}{{ fail "Set secret.existingSecret or secret.values, not both." -}}
{{- else if and (eq .Values.secret.as "files") (not .Values.secret.names) }}{{ fail "Name the keys of secret.existingSecret in secret.names." -}}
{{- end -}}
{{- $hasBucket := or .Values.config.STORAGE_URL (has "STORAGE_URL" $names) -}}
{{- if and (not $hasBucket) (not .Values.persistence.enabled) (not (and .Values.secret.existingSecret (eq .Values.secret.as "env"))) -}}
{{- fail "Set config.STORAGE_URL to a bucket, or persistence.enabled." -}}
{{- end -}}
{{- if and $hasBucket .Values.persistence.enabled }}{{ fail "persistence is only for installations without STORAGE_URL." }}{{ end -}}
{{- end }}

{{- /* The entries of the ConfigMap. */ -}}
{{- define "darkroom.config" -}}
{{- range $name, $value := .Values.config }}
{{- if and (not (kindIs "invalid" $value)) (ne $name "PUBLIC_URL") }}
{{ $name }}: {{ include "darkroom.text" $value | quote }}
{{- end }}
{{- end }}
PUBLIC_URL: {{ include "darkroom.publicUrl" . | quote }}
{{- with .Values.otlpEndpoint }}
OTEL_EXPORTER_OTLP_ENDPOINT: {{ . | quote }}
{{- end }}
{{- end }}

{{- define "darkroom.secretNames" -}}
{{ concat (keys .Values.secret.values) .Values.secret.names | uniq | sortAlpha | toJson }}
{{- end }}

{{- /* Variables of the secret when it is mounted as files. Takes a dict of root and secret, the Secret's name. */ -}}
{{- define "darkroom.secretFiles" -}}
{{- range include "darkroom.secretNames" .root | fromJsonArray }}
{{- if hasPrefix "AWS_" . }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $.secret }}, key: {{ . }} } }
{{- else }}
- { name: {{ . }}_FILE, value: /run/secrets/darkroom/{{ . }} }
{{- end }}
{{- end }}
{{- end }}
