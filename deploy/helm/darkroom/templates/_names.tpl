{{- define "darkroom.name" -}}
{{ default .Chart.Name .Values.nameOverride | trunc 48 | trimSuffix "-" }}
{{- end }}

{{- define "darkroom.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 48 | trimSuffix "-" }}
{{- else -}}
{{- $name := include "darkroom.name" . -}}
{{- if contains $name .Release.Name -}}{{ .Release.Name | trunc 48 | trimSuffix "-" }}
{{- else -}}{{ printf "%s-%s" .Release.Name $name | trunc 48 | trimSuffix "-" }}{{- end -}}
{{- end -}}
{{- end }}

{{- define "darkroom.selector" -}}
app.kubernetes.io/name: {{ include "darkroom.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "darkroom.labels" -}}
{{ include "darkroom.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- /* Of a pod that runs once: no Service, monitor or network policy of the service may select it. */ -}}
{{- define "darkroom.jobLabels" -}}
app.kubernetes.io/name: {{ include "darkroom.name" . }}-job
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "darkroom.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "darkroom.serviceAccount" -}}
{{ if .Values.serviceAccount.create }}{{ default (include "darkroom.fullname" .) .Values.serviceAccount.name }}{{ else }}{{ default "default" .Values.serviceAccount.name }}{{ end }}
{{- end }}

{{- define "darkroom.secretName" -}}
{{ default (include "darkroom.fullname" .) .Values.secret.existingSecret }}
{{- end }}

{{- /* The port that serves health and metrics. */ -}}
{{- define "darkroom.opsPort" -}}
{{ if .Values.config.OPS_PORT }}ops{{ else }}http{{ end }}
{{- end }}
