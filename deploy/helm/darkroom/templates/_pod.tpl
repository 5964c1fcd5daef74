{{- define "darkroom.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "darkroom.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* The pod of the API and of the workers: they differ in role, grace and scaling. Takes a dict of root, role and of, its values. */ -}}
{{- define "darkroom.pod" -}}
{{- $files := eq .root.Values.secret.as "files" -}}
metadata:
  labels:
    {{- include "darkroom.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
  annotations:
    # A change of these starts new pods.
    checksum/config: {{ include "darkroom.config" .root | sha256sum }}
    checksum/providers: {{ toJson .root.Values.providers | sha256sum }}
    checksum/secret: {{ toJson .root.Values.secret | sha256sum }}
    {{- with .of.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "darkroom.serviceAccount" .root }}
  automountServiceAccountToken: false
  {{- with .root.Values.image.pullSecrets }}
  imagePullSecrets: {{ toYaml . | nindent 4 }}
  {{- end }}
  securityContext: {{ include "darkroom.podSecurity" . | nindent 4 }}
  # The time to go on serving, to end what runs, to release the rest and to close connections.
  terminationGracePeriodSeconds: {{ add .of.shutdownDelaySeconds .of.shutdownGraceSeconds 30 }}
  containers:
    - name: darkroom
      image: {{ include "darkroom.image" .root }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      securityContext: {{ include "darkroom.containerSecurity" . | nindent 8 }}
      ports:
        - { name: http, containerPort: 3000 }
        {{- with .root.Values.config.OPS_PORT }}
        - { name: ops, containerPort: {{ int . }} }
        {{- end }}
      envFrom:
        - configMapRef: { name: {{ include "darkroom.fullname" .root }} }
        {{- if not $files }}
        - secretRef: { name: {{ include "darkroom.secretName" .root }} }
        {{- end }}
      env:
        - { name: ROLE, value: {{ .role }} }
        - { name: PORT, value: '3000' }
        - { name: HOST, value: 0.0.0.0 }
        - { name: DATA_DIR, value: /data }
        - { name: MIGRATE, value: {{ ternary "off" "auto" .root.Values.migrate.enabled | quote }} }
        - { name: SHUTDOWN_DELAY_S, value: {{ .of.shutdownDelaySeconds | quote }} }
        - { name: SHUTDOWN_GRACE_S, value: {{ .of.shutdownGraceSeconds | quote }} }
        {{- if .root.Values.providers }}
        - { name: PROVIDERS, value: /etc/darkroom/providers.yaml }
        {{- end }}
        {{- if $files }}
        {{- include "darkroom.secretFiles" (dict "root" .root "secret" (include "darkroom.secretName" .root)) | nindent 8 }}
        {{- end }}
        {{- with .of.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      startupProbe:
        httpGet: { path: /healthz, port: {{ include "darkroom.opsPort" .root }} }
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 150 # 5 minutes: a start may migrate
      livenessProbe:
        httpGet: { path: /healthz, port: {{ include "darkroom.opsPort" .root }} }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: '/readyz?of=process', port: {{ include "darkroom.opsPort" .root }} }
        periodSeconds: 3
        timeoutSeconds: 3
        failureThreshold: 2
      {{- with .of.resources }}
      resources: {{ toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts: {{ include "darkroom.mounts" . | nindent 8 }}
  volumes: {{ include "darkroom.volumes" . | nindent 4 }}
  {{- with .of.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .of.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .of.affinity }}
  affinity: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .of.topologySpread }}
  topologySpreadConstraints:
    {{- range . }}
    - {{- toYaml . | nindent 6 }}
      labelSelector:
        matchLabels:
          {{- include "darkroom.selector" $.root | nindent 10 }}
          app.kubernetes.io/component: {{ $.role }}
    {{- end }}
  {{- end }}
{{- end }}

{{- define "darkroom.mounts" -}}
- { name: tmp, mountPath: /tmp }
{{- if .root.Values.persistence.enabled }}
- { name: data, mountPath: /data }
{{- end }}
{{- if .root.Values.providers }}
- { name: providers, mountPath: /etc/darkroom, readOnly: true }
{{- end }}
{{- if eq .root.Values.secret.as "files" }}
- { name: secret, mountPath: /run/secrets/darkroom, readOnly: true }
{{- end }}
{{- with .of.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "darkroom.volumes" -}}
- name: tmp
  emptyDir: { sizeLimit: {{ .root.Values.scratch.sizeLimit }} }
{{- if .root.Values.persistence.enabled }}
- name: data
  persistentVolumeClaim:
    claimName: {{ default (include "darkroom.fullname" .root) .root.Values.persistence.existingClaim }}
{{- end }}
{{- if .root.Values.providers }}
- name: providers
  configMap: { name: {{ include "darkroom.fullname" .root }}-providers }
{{- end }}
{{- if eq .root.Values.secret.as "files" }}
- name: secret
  secret: { secretName: {{ include "darkroom.secretName" .root }}, defaultMode: 0440 }
{{- end }}
{{- with .of.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
