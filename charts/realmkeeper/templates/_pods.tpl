{{/* What all Pods have in common: the restricted profile of Pod Security, no token that nobody asked for, where they run. */}}

{{/* (dict "context" $ "component" … "account" … "uid" … "values" .Values.server) */}}
{{- define "realmkeeper.pod" -}}
serviceAccountName: {{ .account }}
# A token is projected where one is needed, for the one who reads it.
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- $security := dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault") "fsGroupChangePolicy" "OnRootMismatch" }}
  {{- if not (include "realmkeeper.openshift" .context) }}
  {{- $security = merge $security (dict "runAsUser" .uid "runAsGroup" .uid "fsGroup" .uid) }}
  {{- end }}
  {{- toYaml (mergeOverwrite $security (default (dict) .values.podSecurityContext)) | nindent 2 }}
{{- $secrets := concat .context.Values.image.pullSecrets (default (list) .context.Values.global.imagePullSecrets) | uniq }}
{{- with $secrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .values.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- with .values.dnsPolicy }}
dnsPolicy: {{ . }}
{{- end }}
{{- with .values.dnsConfig }}
dnsConfig: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.hostAliases }}
hostAliases: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Over nodes and zones as well as may be; matchLabelKeys counts the Pods of one revision alone, or a rollout would skew. */}}
{{- define "realmkeeper.spread" -}}
topologySpreadConstraints:
{{- if .values.topologySpreadConstraints }}
  {{- toYaml .values.topologySpreadConstraints | nindent 2 }}
{{- else }}
  {{- $arguments := . }}
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - topologyKey: {{ . }}
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    matchLabelKeys: [pod-template-hash]
    labelSelector:
      matchLabels: {{- include "realmkeeper.selector" $arguments | nindent 8 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* OpenShift assigns users and groups of its own to each namespace, and refuses Pods that ask for others. */}}
{{- define "realmkeeper.openshift" -}}
{{- if or (eq .Values.openshift "enabled") (and (eq .Values.openshift "auto") (.Capabilities.APIVersions.Has "security.openshift.io/v1")) }}true{{ end -}}
{{- end }}

{{/* The values of whose container it is: what they say goes over the restricted profile. */}}
{{- define "realmkeeper.container.security" -}}
{{- $security := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "runAsNonRoot" true "capabilities" (dict "drop" (list "ALL")) "seccompProfile" (dict "type" "RuntimeDefault") }}
{{- toYaml (mergeOverwrite $security (default (dict) .securityContext)) }}
{{- end }}

{{/* (dict "values" .Values.server "probe" "livenessProbe" "default" (dict …)) */}}
{{- define "realmkeeper.probe" -}}
{{- toYaml (mergeOverwrite .default (default (dict) (get .values .probe))) }}
{{- end }}

{{/* A map of names and values, in order of the names. */}}
{{- define "realmkeeper.env" -}}
{{- range $name, $value := . }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end }}
